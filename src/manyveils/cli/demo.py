"""`manyveils demo`: the whole trail on an embedded table, with every method that publishes most of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.attack import progress_of, show_matrix
from manyveils.cli.door import Progress, open_door, show_table
from manyveils.cli.options import AsJson, Seed, option

if TYPE_CHECKING:
    from manyveils.attacks import Attacks
    from manyveils.comparing import Comparison
    from manyveils.policy import Policy

COLUMNS = {
    "method": "name",
    "rows": "rows",
    "suppressed": "suppressed",
    "kept": "kept",
    "values left": "conditional",
}
MEASURES = {
    "loss": "loss",
    "mean group": "average_class_size",
    "singled out": "singled_out",
    "divergence": "kl",
    "query error": "query_error",
}
LEGEND = (
    "'values left': how few values stay open for someone who knows the person's other sensitive values; 1 is\n"
    "certainty, and policies that forbid it say conditional = true. 'singled out': the share of people whose\n"
    "presence the release proves. 'divergence', 'query error': how far the distribution that the release implies is\n"
    "from the original's, and how wrong counts over it are on average."
)


def command(
    out: Annotated[Path, option("Where the files go.")] = Path("demo"),
    rows: Annotated[int, option("Rows of the generated hospital table.", min=100)] = 1000,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Publish an embedded hospital table in several ways, audit, attack and compare, and write a report."""
    with open_door(as_json=as_json) as door:
        from manyveils.datasets import write_hospital
        from manyveils.examining import attack
        from manyveils.release.folder import REPORT, staged, write_file
        from manyveils.run import report

        # Only an earlier demo is replaced.
        with staged(out, force=(out / "hospital.csv").is_file()) as folder:
            write_hospital(folder, n=rows)
        policies = releases(out)
        results, attacks_of = [], {}
        for name, policy in policies.items():
            results.append(_published(out / name, policy, seed, door.progress))
            progress = progress_of(name, door.progress)
            attacks_of[name] = attack(out / name, None, policy, seed=seed, progress=progress)
        comparison = _compared(out, policies, results, attacks_of)
        chosen = comparison.chosen().name
        page = report(
            out / chosen,
            None,
            policies[chosen],
            seed=seed,
            plan=json.loads((out / f"{chosen}.private" / "plan.json").read_text(encoding="utf-8")),
            comparison=comparison.describe(),
            progress=door.progress,
        )
        write_file(out / REPORT, page.html, force=True)
        document = {
            "folder": str(out),
            "results": results,
            "attacks": {name: attacks.describe()["attacks"] for name, attacks in attacks_of.items()},
            "report": str(out / REPORT),
        }
        reason = comparison.recommendation.reason
        door.show(document, lambda: _show(document, attacks_of, reason))


def releases(out: Path) -> "dict[str, Policy]":
    """What is published: for each release that a method has for the demo, its name and its policy."""
    from manyveils.datasets import hospital_sections
    from manyveils.methods import METHODS, load
    from manyveils.policy import Policy

    policy = Policy.load(out / "policy.toml")
    policies = {}
    for method in map(load, METHODS):
        whole = (
            {"attributes": hospital_sections(whole_cells=True)["attributes"]} if method.whole_cells else {}
        )
        for name, keys in method.demo.items():
            policies[name] = policy.replaced(publish={"method": method.name, **keys}, **whole)
    return policies


def _published(folder: Path, policy: "Policy", seed: int | None, progress: Progress) -> dict[str, Any]:
    from manyveils.examining import measure
    from manyveils.publishing import publish_to

    published = publish_to(policy, folder, seed=seed, progress=progress)
    findings = [finding for finding in published.audit.findings if finding.reading == "conditional"]
    left = [finding.measured for finding in findings if "diversity" in finding.promise]
    return {
        "name": folder.name,
        "rows": published.release.rows,
        "suppressed": published.release.suppressed,
        "kept": published.audit.kept,
        "secret": list(published.release.manifest.secret),
        "conditional": min((number for number in left if number is not None), default=None),
        "utility": measure(folder, None, policy).describe(),
    }


def _compared(
    out: Path,
    policies: "Mapping[str, Policy]",
    results: Sequence[Mapping[str, Any]],
    attacks_of: "Mapping[str, Attacks]",
) -> "Comparison":
    """What was published, as a comparison of its own."""
    from manyveils.comparing.ask import USUAL_ATTACKS, USUAL_RISK
    from manyveils.comparing.comparison import Comparison, Question
    from manyveils.comparing.configurations import Configuration
    from manyveils.comparing.ranking import PREFERENCES
    from manyveils.comparing.trial import Result, single_numbers
    from manyveils.policy import Policy

    tried = tuple(
        Result(
            Configuration(
                result["name"], policies[result["name"]].publish.model_dump(exclude_unset=True), {}
            ),
            keeps_policy=result["kept"],
            utility=single_numbers(result["utility"]),
            attacks={name: attacks_of[result["name"]][name].describe() for name in USUAL_ATTACKS},
            secret=tuple(result["secret"]),
            **{key: result[key] for key in ("rows", "suppressed")},
        )
        for result in results
    )
    policy = Policy.load(out / "policy.toml")
    return Comparison(Question(policy, PREFERENCES["query-error"], USUAL_RISK, USUAL_ATTACKS), tried)


def _show(document: Mapping[str, Any], attacks_of: "Mapping[str, Attacks]", reason: str) -> None:
    out, results = Path(document["folder"]), document["results"]
    rows = [
        [result[key] for key in COLUMNS.values()] + [result["utility"].get(key) for key in MEASURES.values()]
        for result in results
    ]
    show_table("The same table, published in different ways", [*COLUMNS, *MEASURES], rows)
    typer.echo(LEGEND)
    show_matrix(attacks_of)
    folders = ", ".join(str(out / result["name"]) for result in results)
    typer.echo(f"Data and policy: {out / 'hospital.csv'}, {out / 'policy.toml'}. Releases: {folders}.")
    typer.echo(f"Recommended: {reason}")
    typer.echo(f"The report on that release, to look at in a browser: {document['report']}")
