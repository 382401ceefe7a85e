"""`manyveils compare`: methods and parameters on the same data, and which of them to take."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import AsJson, Data, Force, PolicyFile, Seed, option

if TYPE_CHECKING:
    from manyveils.comparing import Comparison
    from manyveils.comparing.trial import Result

MEASURES = {"query_error": "query error", "kl": "kl", "loss": "loss", "learning": "learning"}
LEGEND = (
    "risk: what the worst attack gets right beyond guessing, and beyond people outside the data, as a share of targets.\n"
    "keeps: all that the policy file promises. * not beaten in both risk and what is preferred. > recommended. s: seconds to publish."
)


def command(
    policy: PolicyFile,
    out: Annotated[Path, option("The folder for the comparison; it must not exist.")],
    methods: Annotated[
        str | None, option("Methods with commas between, such as generalize:mondrian,slice; all by default.")
    ] = None,
    vary: Annotated[
        list[str] | None, option("A key and its values, such as k=2,5 or slice.columns=2,3; repeatable.")
    ] = None,
    prefer: Annotated[
        str, option("query-error, kl, loss, discernibility, suppressed, learning.")
    ] = "query-error",
    risk: Annotated[
        float,
        option("The share of targets an attack may get right beyond guessing and people outside the data."),
    ] = 0.1,
    attacks: Annotated[
        str, option("all, none, or names with commas between.")
    ] = "linkage,homogeneity,background-join",
    learn: Annotated[
        str | None, option("An attribute to learn; a fifth of the rows tests the models.")
    ] = None,
    data: Data = None,
    workers: Annotated[int | None, option("Processes; as many as cores by default.", min=1)] = None,
    seed: Seed = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Publish the data in several ways in memory, audit, measure and attack each, and recommend one."""
    with open_door(as_json=as_json) as door:
        from manyveils.comparing import compare
        from manyveils.release.folder import staged

        # The folder is prepared first, so that a place which is taken is refused before any work.
        with staged(out, force=force, mode=0o700) as folder:
            comparison = compare(
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
                progress=door.progress,
            )
            comparison.write(folder, out)
        door.show({"folder": str(out), **comparison.describe()}, lambda: _show(comparison, out))


def _names(methods: str) -> list[str]:
    return [name.strip() for name in methods.split(",") if name.strip()]


def _show(comparison: "Comparison", out: Path) -> None:
    """Print the table, the refusals and the recommendation."""
    from manyveils.comparing.comparison import can_draw

    preference, advice = comparison.question.preference, comparison.recommendation
    published = [result for result in comparison.results if result.published]
    keys = [
        key
        for key in dict.fromkeys([preference.key, *MEASURES])
        if any(key in result.utility for result in published)
    ]
    title = f"The same data in {len(comparison.results)} ways, by {preference.words}"
    measures = [MEASURES.get(key, key) for key in keys]
    header = ["", "configuration", "keeps", "risk", "by", *measures, "left out", "s"]
    show_table(title, header, [_row(result, comparison, keys) for result in published])
    typer.echo(LEGEND)
    for result in comparison.results:
        _show_remarks(result)
    _show_notes(published)
    typer.echo(f"Recommended: {advice.reason}")
    typer.echo(f"This looks at one release of each, and not at {'; '.join(advice.ignores)}.")
    typer.echo(f"Ready to publish: {out / 'policy.toml'}. All numbers: {out / 'comparison.json'}.")
    if not can_draw():
        typer.echo("There is no picture; it needs: pip install 'manyveils[report]'")


def _row(result: "Result", comparison: "Comparison", keys: list[str]) -> list[Any]:
    mark = "*" if result.name in comparison.frontier else ""
    mark += ">" if result.name == comparison.recommendation.name else ""
    risk = [result.risk, result.worst_attack if result.risk else ""]
    measures = ["–" if result.secret else result.utility.get(key) for key in keys]
    counts = [result.suppressed, round(result.seconds, 2)]
    return [mark, result.name, result.keeps_policy, *risk, *measures, *counts]


def _show_remarks(result: "Result") -> None:
    if not result.published:
        typer.echo(f"{result.name} publishes nothing: {result.refusal}")
    if result.secret:
        names = ", ".join(result.secret)
        typer.echo(f"{result.name} publishes {names} in secret, which no measure reads; it is not ranked.")


def _show_notes(published: "list[Result]") -> None:
    """Print every note once, with the names of those it is about unless it is about all."""
    for note in dict.fromkeys(note for result in published for note in result.notes):
        names = [result.name for result in published if note in result.notes]
        whose = "" if len(names) == len(published) else f"{', '.join(names)}: "
        typer.echo(f"{whose}{note}")
