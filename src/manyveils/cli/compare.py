"""`manyveils compare`: methods and parameters on the same data, and which of them to take."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import Json, open_door, progress_bar, show_json, show_table

if TYPE_CHECKING:
    from manyveils.comparing import Comparison
    from manyveils.comparing.result import Result

EXAMPLE = "Example: manyveils compare policy.toml --methods generalize,slice --vary k=2,5,10 --out comparison"
SHOWN = {"query_error": "query error", "kl": "kl", "loss": "loss", "learning": "learning"}


def command(
    policy: Annotated[Path, typer.Argument(help="The policy file, TOML or JSON.")],
    out: Annotated[Path, typer.Option(help="The folder for the comparison; it must not exist.")],
    methods: Annotated[
        str | None,
        typer.Option(
            help="Methods with commas between them, such as generalize:mondrian,slice; all by default."
        ),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(help="A key and its values: k=2,5,10 or slice.columns=2,3; may be given again."),
    ] = None,
    prefer: Annotated[
        str, typer.Option(help="query-error, kl, loss, discernibility, suppressed or learning.")
    ] = "query-error",
    risk: Annotated[
        float,
        typer.Option(
            help="What an attack may get right beyond guessing and people outside the data, as a share of targets."
        ),
    ] = 0.1,
    attacks: Annotated[
        str, typer.Option(help="all, none, or names with commas between them.")
    ] = "linkage,homogeneity,background-join",
    learn: Annotated[
        str | None, typer.Option(help="An attribute that models learn; a fifth of the rows tests them.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="The data, if not where the policy says.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; as many as cores by default.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: the same seed, the same numbers.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing comparison.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Publish the data in several ways in memory, audit, measure and attack each, and recommend one."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        from manyveils.comparing import compare
        from manyveils.comparing.comparison import can_draw
        from manyveils.release.folder import refuse_existing

        refuse_existing(out, force=force)
        found = compare(
            data,
            policy,
            methods=None if methods is None else _names(methods),
            vary=vary or (),
            prefer=prefer,
            risk=risk,
            attacks=attacks,
            learn=learn,
            seed=seed,
            workers=workers,
            progress=progress,
        )
        found.refuse_nothing()
        found.save(out, force=force)
        if as_json:
            show_json({"folder": str(out), **found.describe()})
            return
        show_comparison(found)
        typer.echo(f"Ready to publish: {out / 'policy.toml'}. All numbers: {out / 'comparison.json'}.")
        if not can_draw():
            typer.echo("There is no picture; it needs: pip install 'manyveils[report]'")


def _names(methods: str) -> list[str]:
    return [part.strip() for part in methods.split(",") if part.strip()]


def show_comparison(found: "Comparison") -> None:
    """Print the table, the refusals and the recommendation."""
    published = [each for each in found.results if each.published]
    keys = [key for key in _columns(found) if any(key in each.utility for each in published)]
    show_table(
        f"The same data in {len(found.results)} ways, by {found.asked.preference.words}",
        ["", "configuration", "keeps", "risk", "by", *(SHOWN.get(key, key) for key in keys), "left out", "s"],
        [_row(each, found, keys) for each in published],
    )
    typer.echo(
        "risk: what the worst attack gets right beyond guessing, and beyond people outside the data, as a share of targets.\n"
        "keeps: all that the policy file promises. * not beaten in both risk and what is preferred. > recommended. s: seconds to publish."
    )
    for each in found.results:
        _show_remarks(each)
    _show_notes(published)
    typer.echo(f"Recommended: {found.recommendation.reason}")
    typer.echo(f"This looks at one release of each, and not at {'; '.join(found.recommendation.ignores)}.")


def _columns(found: "Comparison") -> list[str]:
    return list(dict.fromkeys([found.asked.preference.key, *SHOWN]))


def _row(each: "Result", found: "Comparison", keys: list[str]) -> list[Any]:
    mark = "*" if each.name in found.frontier else ""
    mark += ">" if each.name == found.recommendation.name else ""
    values = ["–" if each.secret else each.utility.get(key) for key in keys]
    return [
        mark,
        each.name,
        each.keeps_policy,
        each.risk,
        each.worst_attack if each.risk else "",
        *values,
        each.suppressed,
        round(each.seconds, 2),
    ]


def _show_remarks(each: "Result") -> None:
    if not each.published:
        typer.echo(f"{each.name} publishes nothing: {each.refusal}")
    if each.secret:
        names = ", ".join(each.secret)
        typer.echo(f"{each.name} shows {names} in secret, which no measure reads; it is not ranked.")


def _show_notes(published: "list[Result]") -> None:
    """Print every note once, with the names of those it is about unless it is about all."""
    for note in dict.fromkeys(note for each in published for note in each.notes):
        names = [each.name for each in published if note in each.notes]
        whose = "" if len(names) == len(published) else f"{', '.join(names)}: "
        typer.echo(f"{whose}{note}")
