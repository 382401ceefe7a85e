"""`manyveils attack`: what adversaries could do with a release, or with the releases of several methods."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import Json, open_door, progress_bar, show_json, show_table
from manyveils.errors import InputError, ManyveilsError, Problem

if TYPE_CHECKING:
    from manyveils.attacks import Attacks, Outcome
    from manyveils.policy import Policy

Progress = Callable[[str, float], None]

EXAMPLE = "Example: manyveils attack release --policy policy.toml --data patients.csv --only linkage"

WAYS: dict[str, dict[str, Any]] = {
    "generalize": {"method": "generalize"},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize"},
    "slice": {"method": "slice"},
    "codip": {"method": "codip"},
    "guardian": {"method": "guardian"},
    "alpha-beta-k": {"method": "alpha-beta-k"},
    "grade": {"method": "grade"},
    "multi-sa": {"method": "multi-sa"},
    "separate": {"method": "separate"},
}
# Methods that give every value a code take a cell of several values as one value.
WHOLE_CELLS = {"grade"}
MARKS = {"broken": " !", "not promised": " ?", "within bounds": " ~", "nothing learnt": ""}
LEGEND = (
    "Shares of targets that an attack gets right. !: some people are known better than a promised bound; ?: some are known\n"
    "well (more than half of the doubt about them is gone), and no promise caps this; ~: more is learnt of people in the\n"
    "data than of others, within the bounds; no mark: nothing is; –: there is nothing to attack. An attack may know more\n"
    "than a promise speaks of: whether promises are kept is what the audit says."
)


def command(
    release: Annotated[Path | None, typer.Argument(help="The release folder.")] = None,
    policy: Annotated[Path, typer.Option(help="The policy file.")] = Path("policy.toml"),
    data: Annotated[
        Path | None, typer.Option(help="The original data, if not where the policy says.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="One attack; may be given again.")] = None,
    other: Annotated[
        list[Path] | None, typer.Option(help="Another release of the same people; may be given again.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option(help="People who are known not to be in the data, in the same columns.")
    ] = None,
    all_methods: Annotated[
        bool,
        typer.Option("--all-methods", help="Publish with every method, and compare; nothing is written."),
    ] = False,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: the same seed, the same numbers.")
    ] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Try every attack on a release: success beside guessing and beside people who are not in the data."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        _refuse_contradictions(release, other, all_methods=all_methods)
        options: dict[str, Any] = {"only": only, "seed": seed, "control": control, "progress": progress}
        if all_methods:
            _compare(policy, data, options, as_json=as_json)
            return
        assert release is not None
        from manyveils.run import attack

        found = attack(release, data, policy, others=tuple(other or ()), **options)
        if as_json:
            show_json(found.describe())
        else:
            show_attacks(found)


def _refuse_contradictions(release: Path | None, other: list[Path] | None, *, all_methods: bool) -> None:
    problems = []
    if release is None and not all_methods:
        problems.append(Problem("arguments", "name a release folder.", "Or give --all-methods."))
    if release is not None and all_methods:
        what = "--all-methods makes its own releases, and there is a release folder too."
        problems.append(Problem("arguments", what, "Leave one of them out."))
    if other and all_methods:
        what = "--other belongs to one release, and --all-methods makes several."
        problems.append(Problem("arguments", what, "Leave one of them out."))
    if problems:
        raise InputError(problems)


def show_attacks(found: "Attacks") -> None:
    """Print the outcomes as a table, and the verdicts in words."""
    applying = {name: outcome for name, outcome in found.items() if outcome.applies}
    show_table(
        "Attacks",
        [
            "attack",
            "success",
            "interval",
            "guessing",
            "control",
            "targets",
            "broken",
            "certain",
            "worst",
            "how",
        ],
        [
            [
                name,
                _percent(each.success),
                f"{_percent(each.low)} – {_percent(each.high)}",
                _percent(each.baseline),
                _percent(each.control),
                each.targets,
                each.broken,
                each.certain,
                each.worst,
                each.how,
            ]
            for name, each in applying.items()
        ],
    )
    _say_measures([found])
    for name, outcome in found.items():
        typer.echo(f"{name}: {outcome.verdict}")
    typer.echo(found.verdict)


def _say_measures(found: Sequence["Attacks"]) -> None:
    """Say of which attacks `success` is something else than targets guessed right."""
    from manyveils.attacks.outcome import GUESSED_RIGHT

    measures = {
        name: each.measure.name
        for attacks in found
        for name, each in attacks.items()
        if each.applies and each.measure.name != GUESSED_RIGHT.name
    }
    if measures:
        typer.echo(
            "Success means " + "; ".join(f"for {name}, {what}" for name, what in measures.items()) + "."
        )


def show_matrix(found: Mapping[str, "Attacks"]) -> None:
    """Print a table of attacks by methods."""
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    rows = [
        [name, _guess(name, found), *(_cell(each.get(name)) for each in found.values())] for name in names
    ]
    methods = [name.replace("-", "-\n") for name in found]
    show_table("What attacks get right, by method", ["attack", "guess", *methods], rows)
    typer.echo(LEGEND)
    _say_measures([*found.values()])


def _guess(name: str, found: Mapping[str, "Attacks"]) -> str:
    guesses = [each[name].baseline for each in found.values() if name in each and each[name].applies]
    return _short(guesses[0]) if guesses else "–"


def _cell(outcome: "Outcome | None") -> str:
    if outcome is None or not outcome.applies:
        return "–"
    return f"{_short(outcome.success)}{MARKS[outcome.standing]}"


def _short(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2g}%" if share < 0.0995 else f"{100 * share:.0f}%"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.3g} %"


def _compare(policy: Path, data: Path | None, options: dict[str, Any], *, as_json: bool) -> None:
    from manyveils.policy import Policy
    from manyveils.run import attack, publish
    from manyveils.table import hold

    asked = Policy.load(policy)
    # Wrong data are told once, and not as every method's refusal.
    hold(data, asked)
    found: dict[str, Attacks] = {}
    refused: dict[str, str] = {}
    for name, publish_by in _ways(asked).items():
        own = asked.replaced(publish=publish_by)
        if publish_by["method"] in WHOLE_CELLS:
            own = with_whole_cells(own)
        try:
            release = publish(data, own, seed=options["seed"])
            found[name] = attack(release, data, own, **_for(name, options))
        except ManyveilsError as error:
            refused[name] = str(error.problems[0]) if error.problems else "cannot be done."
    whole = [name for name in found if name in WHOLE_CELLS and with_whole_cells(asked) is not asked]
    if as_json:
        described = {name: each.describe() for name, each in found.items()}
        show_json({"methods": described, "refused": refused, "whole_cells": whole})
        return
    show_matrix(found)
    for name in whole:
        typer.echo(
            f"{name} takes a cell of several values as one value, because it gives every value a code."
        )
    for name, reason in refused.items():
        typer.echo(f"{name} publishes nothing: {reason}")


def _for(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    return {**options, "progress": progress_of(name, options["progress"])}


def progress_of(name: str, report: Progress) -> Progress:
    """The progress of the attacks on one method's release: one line for all of them."""

    def told(stage: str, share: float) -> None:
        if stage == "attacks":
            report(f"{name}: attacks", share)

    return told


def with_whole_cells(policy: "Policy") -> "Policy":
    """The policy with cells of several values taken as one value; kinship of single values then says nothing."""
    if not any(attribute.multivalued for attribute in policy.attributes.values()):
        return policy
    attributes: dict[str, Any] = policy.model_dump(by_alias=True, exclude_unset=True)["attributes"]
    for name, attribute in policy.attributes.items():
        if attribute.multivalued:
            attributes[name] = {
                key: value
                for key, value in attributes[name].items()
                if key not in ("multivalued", "hierarchy", "insensitive")
            }
    return policy.replaced(attributes=attributes)


def _ways(policy: "Policy") -> dict[str, dict[str, Any]]:
    """Every method with its own defaults; the policy's method as the policy has it."""
    from manyveils.policy.promises import promises_of

    suppression = {"suppression": policy.publish.suppression}
    ways = {name: {**way, **suppression} for name, way in WAYS.items()}
    if promises_of(policy):
        # Grading by itself keeps no promise.
        ways["grade"]["then"] = "generalize"
    own = policy.publish.method
    return ways | {own: {"method": own, **suppression, **policy.publish.options}}
