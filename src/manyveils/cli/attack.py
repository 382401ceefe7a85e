"""`manyveils attack`: what adversaries could do with a release, or with the releases of several methods."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import Door, Progress, open_door, show_table
from manyveils.cli.options import After, AsJson, Data, Only, PolicyOption, Seed, option
from manyveils.errors import InputError, ManyveilsError, Problem

if TYPE_CHECKING:
    from manyveils.attacks import Attacks, Outcome
    from manyveils.policy import Policy

COUNTS = ["targets", "broken", "certain", "worst", "how"]
COLUMNS = ["attack", "success", "interval", "guessing", "control", *COUNTS]
EVERY = ["all rows", "interval", "broken", "certain", "worst"]
BOTH = (
    'Shares and counts are of people, by someone who knows one row of a target; "all rows" and what follows it, by\n'
    "someone who knows all of them."
)
MARKS = {"broken": " !", "not promised": " ?", "within bounds": " ~", "nothing learnt": ""}
LEGEND = (
    "Shares of targets that an attack gets right. !: some people are known better than a promised bound; ?: some are known\n"
    "well (more than half of the doubt about them is gone), and no promise caps this; ~: more is learnt of people in the\n"
    "data than of others, within the bounds; no mark: nothing is; –: there is nothing to attack. An attack may know more\n"
    "than a promise speaks of: whether promises are kept is what the audit says."
)


def command(
    release: Annotated[Path | None, typer.Argument(help="The release folder.")] = None,
    policy: PolicyOption = Path("policy.toml"),
    data: Data = None,
    only: Only = None,
    other: Annotated[list[Path] | None, option("Another release of the same people; repeatable.")] = None,
    after: After = None,
    control: Annotated[
        Path | None, option("People known not to be in the data, in the same columns.")
    ] = None,
    all_methods: Annotated[
        bool, option("Publish with every method and compare; writes nothing.", "--all-methods")
    ] = False,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Try every attack on a release: success beside guessing and beside people who are not in the data."""
    with open_door(as_json=as_json) as door:
        InputError.refuse(_contradictions(release, other, after, all_methods=all_methods))
        options: dict[str, Any] = {"only": only, "seed": seed, "control": control}
        if release is None:
            _attack_all(policy, data, options, door)
            return
        from manyveils.examining import attack

        attacks = attack(
            release, data, policy, others=other or (), after=after or (), progress=door.progress, **options
        )
        door.show(attacks.describe(), lambda: _show(attacks))


def _contradictions(
    release: Path | None, other: list[Path] | None, after: list[Path] | None, *, all_methods: bool
) -> Iterator[Problem]:
    if release is None and not all_methods:
        yield Problem("arguments", "name a release folder.", "Or give --all-methods.")
    if release is not None and all_methods:
        what = "--all-methods makes its own releases, but a release folder is given too."
        yield Problem("arguments", what, "Leave one of them out.")
    if other and all_methods:
        what = "--other belongs to one release, but --all-methods makes several."
        yield Problem("arguments", what, "Leave one of them out.")
    if after and all_methods:
        what = "--after belongs to one release, but --all-methods makes several."
        yield Problem("arguments", what, "Leave one of them out.")


def _show(attacks: "Attacks") -> None:
    """Print the outcomes as a table, and the verdicts in words."""
    rows = [_row(name, outcome) for name, outcome in attacks.items() if outcome.applies]
    has_both = any(outcome.all_rows for outcome in attacks.values())
    show_table("Attacks", [*COLUMNS, *(EVERY if has_both else [])], rows)
    if has_both:
        typer.echo(BOTH)
    _show_meanings([attacks])
    for name, outcome in attacks.items():
        typer.echo(f"{name}: {outcome.verdict}")
    typer.echo(attacks.verdict)


def _row(name: str, outcome: "Outcome") -> list[Any]:
    interval = f"{_percent(outcome.low)} – {_percent(outcome.high)}"
    shares = [_percent(outcome.success), interval, _percent(outcome.baseline), _percent(outcome.control)]
    return [name, *shares, *(getattr(outcome, field) for field in COUNTS), *_by_all_rows(outcome)]


def _by_all_rows(outcome: "Outcome") -> list[Any]:
    every = outcome.all_rows
    if every is None:
        return []
    low, high = map(_percent, every["interval"])
    return [_percent(every["success"]), f"{low} – {high}", *(every[field] for field in EVERY[2:])]


def _show_meanings(several: Sequence["Attacks"]) -> None:
    """Say of which attacks `success` is something else than targets guessed right."""
    from manyveils.attacks.outcome import GUESSED_RIGHT

    meanings = {
        name: f"for {name}, {outcome.measure.name}"
        for attacks in several
        for name, outcome in attacks.items()
        if outcome.applies and outcome.measure.name != GUESSED_RIGHT.name
    }
    if meanings:
        typer.echo(f"Success means {'; '.join(meanings.values())}.")


def show_matrix(attacks_of: Mapping[str, "Attacks"]) -> None:
    """Print a table of attacks by methods."""
    names = list(dict.fromkeys(name for attacks in attacks_of.values() for name in attacks))
    rows = []
    for name in names:
        outcomes = [attacks.get(name) for attacks in attacks_of.values()]
        guesses = [outcome.baseline for outcome in outcomes if outcome and outcome.applies]
        rows.append([name, _short(guesses[0]) if guesses else "–", *map(_marked, outcomes)])
    methods = [name.replace("-", "-\n") for name in attacks_of]
    show_table("What attacks get right, by method", ["attack", "guess", *methods], rows)
    typer.echo(LEGEND)
    if any(outcome.all_rows for attacks in attacks_of.values() for outcome in attacks.values()):
        typer.echo(
            "Of people with several rows, first by someone who knows one row, then by someone who knows all."
        )
    _show_meanings([*attacks_of.values()])


def _marked(outcome: "Outcome | None") -> str:
    if outcome is None or not outcome.applies:
        return "–"
    every = f"/{_short(outcome.all_rows['success'])}" if outcome.all_rows else ""
    return f"{_short(outcome.success)}{every}{MARKS[outcome.standing]}"


def _short(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.2g}%" if share < 0.0995 else f"{100 * share:.0f}%"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.3g} %"


def _attack_all(file: Path, data: Path | str | None, options: dict[str, Any], door: Door) -> None:
    from manyveils.arguments import read_policy
    from manyveils.comparing.trial import first_problem
    from manyveils.examining import attack
    from manyveils.methods import method_of
    from manyveils.run import publish
    from manyveils.table import hold

    policy = read_policy(file)
    # Wrong data are refused once, and not with every method.
    hold(data, policy)
    attacks_of: dict[str, Attacks] = {}
    refused: dict[str, str] = {}
    whole: list[str] = []
    for name, section in _sections(policy).items():
        own = policy.replaced(publish=section)
        suited = with_whole_cells(own) if method_of(own).whole_cells else own
        try:
            release = publish(data, suited, seed=options["seed"])
            progress = progress_of(name, door.progress)
            attacks_of[name] = attack(release, data, suited, progress=progress, **options)
            whole += [name] if suited is not own else []
        except ManyveilsError as error:
            refused[name] = first_problem(error)
    described = {name: attacks.describe() for name, attacks in attacks_of.items()}
    document = {"methods": described, "refused": refused, "whole_cells": whole}
    door.show(document, lambda: _show_all(attacks_of, whole, refused))


def _show_all(attacks_of: Mapping[str, "Attacks"], whole: list[str], refused: Mapping[str, str]) -> None:
    show_matrix(attacks_of)
    for name in whole:
        typer.echo(f"{name} takes a cell of several values as one value, for it gives every value a code.")
    for name, reason in refused.items():
        typer.echo(f"{name} publishes nothing: {reason}")


def progress_of(name: str, report: Progress) -> Progress:
    """The progress of the attacks on one method's release: one line for all of them."""
    return lambda stage, share: report(f"{name}: attacks", share) if stage == "attacks" else None


def with_whole_cells(policy: "Policy") -> "Policy":
    """The policy with cells of several values taken as one value; kinship of single values then says nothing."""
    several = [name for name, attribute in policy.attributes.items() if attribute.multivalued]
    attributes: dict[str, Any] = policy.model_dump(by_alias=True, exclude_unset=True)["attributes"]
    for name in several:
        for key in ("multivalued", "level", "hierarchy", "insensitive"):
            attributes[name].pop(key, None)
    return policy.replaced(attributes=attributes) if several else policy


def _sections(policy: "Policy") -> dict[str, dict[str, Any]]:
    """Every method with its own defaults, and its variants to try; the policy's method as the policy has it."""
    from manyveils.methods import load, method_names
    from manyveils.policy.promises import promises_of

    shared = {"suppression": policy.publish.suppression}
    promises = bool(promises_of(policy))
    sections: dict[str, dict[str, Any]] = {}
    for method in map(load, method_names()):
        ways = {method.name: method.promising if promises else {}}
        ways |= {variant: method.variants[variant] for variant in method.tried}
        sections |= {name: {"method": method.name, **shared, **keys} for name, keys in ways.items()}
    own = policy.publish.method
    return sections | {own: {"method": own, **shared, **policy.publish.options}}
