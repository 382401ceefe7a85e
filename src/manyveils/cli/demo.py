"""`manyveils demo`: the whole trail on embedded tables, with every method that publishes most of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.attack import progress_of, show_matrix
from manyveils.cli.door import Progress, open_door, show_table
from manyveils.cli.options import AsJson, Seed, option
from manyveils.errors import PolicyError

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
    rows: Annotated[int, option("Rows of each generated table.", min=100)] = 1000,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Publish a hospital's patients and their visits in several ways, audit, attack and compare, and write a report."""
    with open_door(as_json=as_json) as door:
        from manyveils.datasets import write_hospital, write_visits
        from manyveils.release.folder import staged

        # Only an earlier demo is replaced.
        with staged(out, force=(out / "hospital.csv").is_file()) as folder:
            write_hospital(folder, n=rows)
            write_visits(folder / "visits", n=rows)
        patients = _tried(out, releases(out / "policy.toml"), seed, door.progress)
        visits = _tried(out / "visits", releases(out / "visits" / "visits.toml"), seed, door.progress)
        comparison = _compared(out / "policy.toml", patients)
        report = _reported(out, comparison, patients, seed, door.progress)
        document = {
            "folder": str(out),
            **patients.describe(),
            "visits": visits.describe(),
            "report": None if report is None else str(report),
        }
        reason = comparison.recommendation.reason
        door.show(document, lambda: _show(document, patients, visits, reason))


def _reported(
    out: Path, comparison: "Comparison", tried: "Tried", seed: int | None, progress: Progress
) -> Path | None:
    """Where the report on the recommended release is; nowhere without the extra that writes it."""
    from manyveils.comparing.comparison import can_draw
    from manyveils.release.folder import REPORT, write_file
    from manyveils.run import report

    if not can_draw():
        return None
    chosen = comparison.chosen().name
    page = report(
        out / chosen,
        None,
        tried.policies[chosen],
        seed=seed,
        plan=json.loads((out / f"{chosen}.private" / "plan.json").read_text(encoding="utf-8")),
        comparison=comparison.describe(),
        progress=progress,
    )
    write_file(out / REPORT, page.html, force=True)
    return out / REPORT


@dataclass(frozen=True, repr=False)
class Tried:
    """One table published in several ways: by name, the policy, what came of it, and what attacks get right.

    A method that cannot keep what is promised is refused, with the reason.
    """

    policies: "Mapping[str, Policy]"
    results: Sequence[Mapping[str, Any]]
    attacks_of: "Mapping[str, Attacks]"
    refused: Mapping[str, str]

    def describe(self) -> dict[str, Any]:
        """Everything as plain values for JSON."""
        attacks = {name: attacks.describe()["attacks"] for name, attacks in self.attacks_of.items()}
        return {"results": self.results, "attacks": attacks, "refused": dict(self.refused)}


def releases(policy_file: Path) -> "dict[str, Policy]":
    """What is published: for each release that a method has for the demo, its name and its policy."""
    from manyveils.methods import METHODS, load
    from manyveils.policy import Policy

    policy = Policy.load(policy_file)
    policies = {}
    for method in map(load, METHODS):
        whole = {"attributes": _in_whole_cells(policy)} if method.whole_cells else {}
        for name, keys in method.demo.items():
            policies[name] = policy.replaced(publish={"method": method.name, **keys}, **whole)
    return policies


def _in_whole_cells(policy: "Policy") -> dict[str, Any]:
    """The attributes with a cell of several values as one value, which no hierarchy has."""
    attributes = policy.model_dump(by_alias=True, exclude_unset=True)["attributes"]
    for described in attributes.values():
        if described.pop("multivalued", None):
            described.pop("hierarchy", None)
    return dict(attributes)


def _tried(folder: Path, policies: "Mapping[str, Policy]", seed: int | None, progress: Progress) -> Tried:
    from manyveils.examining import attack

    results, attacks_of, refused = [], {}, {}
    for name, policy in policies.items():
        try:
            results.append(_published(folder / name, policy, seed, progress))
        except PolicyError as error:
            refused[name] = "; ".join(f"{problem.where}: {problem.what}" for problem in error.problems)
            continue
        attacks_of[name] = attack(
            folder / name, None, policy, seed=seed, progress=progress_of(name, progress)
        )
    return Tried(policies, results, attacks_of, refused)


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


def _compared(policy_file: Path, table: Tried) -> "Comparison":
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
                result["name"], table.policies[result["name"]].publish.model_dump(exclude_unset=True), {}
            ),
            keeps_policy=result["kept"],
            utility=single_numbers(result["utility"]),
            attacks={name: table.attacks_of[result["name"]][name].describe() for name in USUAL_ATTACKS},
            secret=tuple(result["secret"]),
            **{key: result[key] for key in ("rows", "suppressed")},
        )
        for result in table.results
    )
    policy = Policy.load(policy_file)
    return Comparison(Question(policy, PREFERENCES["query-error"], USUAL_RISK, USUAL_ATTACKS), tried)


def _show(document: Mapping[str, Any], patients: Tried, visits: Tried, reason: str) -> None:
    out = Path(document["folder"])
    _show_results("The same table, published in different ways", patients.results)
    typer.echo(LEGEND)
    show_matrix(patients.attacks_of)
    _show_results(
        "A table of visits: a patient has several rows, and promises are made to patients", visits.results
    )
    show_matrix(visits.attacks_of)
    for name, reason_against in visits.refused.items():
        typer.echo(f"Method {name} refuses the visits: {reason_against}")
    folders = ", ".join(str(out / name) for name in patients.policies)
    typer.echo(f"Data and policy: {out / 'hospital.csv'}, {out / 'policy.toml'}. Releases: {folders}.")
    typer.echo(f"Visits, their policy and their releases: {out / 'visits'}.")
    typer.echo(f"Recommended: {reason}")
    if document["report"] is None:
        typer.echo("There is no report; it needs: pip install 'manyveils[report]'")
    else:
        typer.echo(f"The report on that release, to look at in a browser: {document['report']}")


def _show_results(title: str, results: Sequence[Mapping[str, Any]]) -> None:
    rows = [
        [result[key] for key in COLUMNS.values()] + [result["utility"].get(key) for key in MEASURES.values()]
        for result in results
    ]
    show_table(title, [*COLUMNS, *MEASURES], rows)
