"""`manyveils demo`: the whole trail on an embedded table, with every method that publishes most of it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.attack import WHOLE_CELLS, progress_of, show_matrix
from manyveils.cli.door import Json, open_door, progress_bar, show_json, show_table

if TYPE_CHECKING:
    from manyveils.attacks import Attacks
    from manyveils.comparing import Comparison
    from manyveils.comparing.recommend import Recommendation
    from manyveils.policy import Policy

EXAMPLE = "Example: manyveils demo --out demo"

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "generalize": {"method": "generalize", "suppression": 0.02},
    "generalize-mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize", "suppression": 0.02},
    "slice": {"method": "slice", "columns": 4},
    "codip": {"method": "codip", "beta": 0.5},
    "guardian": {"method": "guardian", "decompose": "gd"},
    "alpha-beta-k": {"method": "alpha-beta-k", "beta": 3},
    "grade": {"method": "grade", "then": "generalize"},
    "separate": {"method": "separate"},
}
MEASURES = {
    "loss": "loss",
    "average_class_size": "mean group",
    "singled_out": "singled out",
    "kl": "divergence",
    "query_error": "query error",
}


def command(
    out: Annotated[Path, typer.Option(help="Where the files go.")] = Path("demo"),
    rows: Annotated[int, typer.Option(min=100, help="Rows of the generated hospital table.")] = 1000,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: the same seed gives the same releases.")
    ] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Publish an embedded hospital table in nine ways, audit, attack and compare, and write a report."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        results = [
            _run(name, publish, folder, seed, progress) for name, publish, folder in _prepared(out, rows)
        ]
        attacks = {result["name"]: result.pop("attacks") for result in results}
        chosen, page = _report(out, results, attacks, seed, progress)
        if as_json:
            described = {name: found.describe()["attacks"] for name, found in attacks.items()}
            show_json({"folder": str(out), "results": results, "attacks": described, "report": str(page)})
            return
        show_table(
            "The same table, published in different ways",
            ["method", "rows", "suppressed", "kept", "values left", *MEASURES.values()],
            [
                [
                    r["name"],
                    r["rows"],
                    r["suppressed"],
                    r["kept"],
                    r["conditional"],
                    *(r["utility"].get(key) for key in MEASURES),
                ]
                for r in results
            ],
        )
        typer.echo(
            "'values left': how few values stay open for someone who knows the person's other sensitive values; 1 is\n"
            "certainty, and policies that forbid it say conditional = true. 'singled out': the share of people whose\n"
            "presence the release proves. 'divergence', 'query error': how far the distribution that the release implies is\n"
            "from the original's, and how wrong counts over it are on average."
        )
        show_matrix(attacks)
        typer.echo(
            f"Data and policy: {out / 'hospital.csv'}, {out / 'policy.toml'}. Releases: "
            + ", ".join(str(out / r["name"]) for r in results)
            + "."
        )
        typer.echo(f"Recommended: {chosen.reason}")
        typer.echo(f"The report on that release, to look at in a browser: {page}")


def _prepared(out: Path, rows: int) -> list[tuple[str, dict[str, Any], Path]]:
    from manyveils.datasets import write_hospital
    from manyveils.release.folder import staged

    # Only an earlier demo is replaced.
    with staged(out, force=(out / "hospital.csv").is_file()) as folder:
        write_hospital(folder, n=rows)
    return [(name, publish, out) for name, publish in CONFIGURATIONS.items()]


def _run(name: str, publish: dict[str, Any], folder: Path, seed: int | None, progress: Any) -> dict[str, Any]:
    from manyveils.publishing import publish_to
    from manyveils.run import attack, measure

    policy = _policy(folder, name, publish)
    published = publish_to(policy, folder / name, seed=seed, progress=progress)
    conditional = [
        finding.measured
        for finding in published.audit.findings
        if finding.reading == "conditional"
        and "diversity" in finding.promise
        and finding.measured is not None
    ]
    return {
        "name": name,
        "rows": published.release.rows,
        "suppressed": published.release.suppressed,
        "kept": published.audit.kept,
        "secret": list(published.release.manifest.secret),
        "conditional": min(conditional, default=None),
        "utility": measure(folder / name, None, policy).describe(),
        "attacks": attack(folder / name, None, policy, seed=seed, progress=progress_of(name, progress)),
    }


def _policy(folder: Path, name: str, publish: dict[str, Any]) -> "Policy":
    from manyveils.datasets import hospital_sections
    from manyveils.policy import Policy

    policy = Policy.load(folder / "policy.toml").replaced(publish=publish)
    if name in WHOLE_CELLS:
        return policy.replaced(attributes=hospital_sections(whole_cells=True)["attributes"])
    return policy


def _report(
    out: Path, results: list[dict[str, Any]], attacks: "dict[str, Attacks]", seed: int | None, progress: Any
) -> "tuple[Recommendation, Path]":
    """Lay out what came of the way that is recommended, beside all others."""
    from manyveils.release.folder import REPORT, write_file
    from manyveils.run import report

    found = _compared(out, results, attacks)
    name = found.recommendation.name
    assert name is not None
    plan = json.loads((out / f"{name}.private" / "plan.json").read_text(encoding="utf-8"))
    policy = _policy(out, name, CONFIGURATIONS[name])
    page = report(
        out / name, None, policy, seed=seed, plan=plan, comparison=found.describe(), progress=progress
    )
    write_file(out / REPORT, page.html, force=True)
    return found.recommendation, out / REPORT


def _compared(out: Path, results: list[dict[str, Any]], attacks: "dict[str, Attacks]") -> "Comparison":
    """What was published, as a comparison of its own."""
    from manyveils.comparing.ask import USUAL_ATTACKS, USUAL_RISK
    from manyveils.comparing.comparison import Asked, Comparison
    from manyveils.comparing.configurations import Configuration
    from manyveils.comparing.preferences import read_preference
    from manyveils.comparing.result import Result
    from manyveils.policy import Policy

    tried = tuple(
        Result(
            Configuration(each["name"], CONFIGURATIONS[each["name"]], {}),
            rows=each["rows"],
            suppressed=each["suppressed"],
            keeps_policy=each["kept"],
            utility={key: value for key, value in each["utility"].items() if not isinstance(value, dict)},
            attacks={name: attacks[each["name"]][name].describe() for name in USUAL_ATTACKS},
            secret=tuple(each["secret"]),
        )
        for each in results
    )
    untried = tuple(name for name in next(iter(attacks.values())) if name not in USUAL_ATTACKS)
    policy = Policy.load(out / "policy.toml")
    return Comparison(
        Asked(policy, read_preference("query-error"), USUAL_RISK, USUAL_ATTACKS, untried), tried
    )
