"""`manyveils compare`: methods and parameters on the same data, and which of them to take."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import ShowTable, growing_table, open_door, show_table
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
        from manyveils.promises.work import silent
        from manyveils.release.folder import staged

        # The folder is prepared first, so that a place which is taken is refused before any work.
        with staged(out, force=force, mode=0o700) as folder, growing_table(as_json=as_json) as table:
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
                # The table shows how far the work is, and a terminal has room for one of them.
                progress=door.progress if table is None else silent,
                so_far=partial(_show_so_far, table),
            )
            comparison.write(folder, out)
        door.show({"folder": str(out), **comparison.describe()}, lambda: _show(comparison, out))


def _names(methods: str) -> list[str]:
    return [name.strip() for name in methods.split(",") if name.strip()]


def _show_so_far(table: ShowTable | None, comparison: "Comparison", n: int) -> None:
    """Show the rows of what has finished; which to recommend is known when everything has."""
    if table is not None:
        results = comparison.results
        title = f"{len(results)} of {n} ways have finished"
        table(title, _header(comparison), [_row(result, comparison, "") for result in results])


def _show(comparison: "Comparison", out: Path) -> None:
    """Print the table, the refusals and the recommendation."""
    from manyveils.comparing.comparison import can_draw

    advice = comparison.recommendation
    published = [result for result in comparison.results if result.published]
    title = f"The same data in {len(comparison.results)} ways, by {comparison.question.preference.words}"
    rows = [_row(result, comparison, _mark(result, comparison)) for result in published]
    show_table(title, _header(comparison), rows)
    typer.echo(LEGEND)
    for result in comparison.results:
        _show_remarks(result)
    _show_notes(published)
    typer.echo(f"Recommended: {advice.reason}")
    typer.echo(f"This looks at one release of each, and not at {'; '.join(advice.ignores)}.")
    typer.echo(f"Ready to publish: {out / 'policy.toml'}. All numbers: {out / 'comparison.json'}.")
    if not can_draw():
        typer.echo("There is no picture; it needs: pip install 'manyveils[report]'")


def _keys(comparison: "Comparison") -> list[str]:
    """The measures that some release has, the preferred one first."""
    keys = dict.fromkeys([comparison.question.preference.key, *MEASURES])
    return [key for key in keys if any(key in result.utility for result in comparison.results)]


def _header(comparison: "Comparison") -> list[str]:
    measures = [MEASURES.get(key, key) for key in _keys(comparison)]
    return ["", "configuration", "keeps", "risk", "by", *measures, "left out", "s"]


def _row(result: "Result", comparison: "Comparison", mark: str) -> list[Any]:
    keys = _keys(comparison)
    if not result.published:
        return [mark, result.name, "refused", *[None] * (len(keys) + 4)]
    risk = [result.risk, result.worst_attack if result.risk else ""]
    measures = ["–" if result.secret else result.utility.get(key) for key in keys]
    counts = [result.suppressed, round(result.seconds, 2)]
    return [mark, result.name, result.keeps_policy, *risk, *measures, *counts]


def _mark(result: "Result", comparison: "Comparison") -> str:
    """`*` on the frontier, `>` for what is recommended."""
    is_recommended = result.name == comparison.recommendation.name
    return "*" * (result.name in comparison.frontier) + ">" * is_recommended


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
