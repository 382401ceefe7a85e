"""`manyveils report`: one page to decide by, for the owner or for everybody."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from manyveils.cli.door import Json, open_door, progress_bar, show_json
from manyveils.errors import InputError, Problem

EXAMPLE = "Example: manyveils report release --policy policy.toml --data patients.csv"


def command(
    release: Annotated[Path, typer.Argument(help="The release folder.")],
    policy: Annotated[Path, typer.Option(help="The policy file.")] = Path("policy.toml"),
    data: Annotated[
        Path | None, typer.Option(help="The original data, if not where the policy says.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The page; report.html in the private folder by default, and beside the release with --public."
        ),
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="From the release alone, to ship beside it: no policy, no data.")
    ] = False,
    private: Annotated[
        Path | None, typer.Option(help="Where publish put the plan; <release>.private by default.")
    ] = None,
    comparison: Annotated[
        Path | None, typer.Option(help="The folder of a comparison, to show other ways to publish as well.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="One attack; may be given again.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: the same seed, the same numbers.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing page.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Write an HTML page: promises, groups, values and associations before and after, utility, attacks, plan."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        from manyveils.release.folder import REPORT, refuse_file, write_file
        from manyveils.run import public_report, report

        # "." has no name to put anything beside.
        release = release.absolute() if not release.name else release
        aside = private or release.with_name(f"{release.name}.private")
        target = out or (release.with_name(f"{release.name}.html") if public else aside / REPORT)
        _refuse_inside(target, release)
        refuse_file(target, force=force)
        if public:
            _refuse_idle(data=data, comparison=comparison, private=private, only=only)
            page = public_report(release)
        else:
            page = report(
                release,
                data,
                policy,
                only=only,
                seed=seed,
                plan=_read(aside / "plan.json"),
                comparison=_read(comparison / "comparison.json", needed=True) if comparison else None,
                progress=progress,
            )
        # What compares with the original is for the owner's eyes.
        write_file(target, page.html, force=force, mode=0o644 if public else 0o600)
        if as_json:
            show_json({"file": str(target), **page.document})
            return
        typer.echo(f"The {'public ' if public else ''}report is {target}.")


def _refuse_inside(target: Path, release: Path) -> None:
    """Nothing but what its manifest lists may stand in a release, least of all what only the owner may see."""
    if target.resolve().is_relative_to(release.resolve()):
        what = "is inside the release, where only its own files may be."
        raise InputError([Problem(str(target), what, "Choose another place.")])


def _refuse_idle(**given: object) -> None:
    problems = [
        Problem(f"--{name}", "has no place with --public, which is made from the release alone.", "Drop it.")
        for name, value in given.items()
        if value
    ]
    if problems:
        raise InputError(problems)


def _read(path: Path, *, needed: bool = False) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if needed:
            raise InputError(
                [Problem(str(path), "is not there.", "Make it with manyveils compare.")]
            ) from None
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError([Problem(str(path), f"cannot be read as JSON ({type(error).__name__}).")]) from None
    if not isinstance(document, dict) or (needed and not document):
        raise InputError(
            [Problem(str(path), "must be a JSON object with something in it.", "Make it again.")]
        )
    return document
