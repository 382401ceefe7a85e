"""`manyveils report`: one page to decide by, for the owner or for everybody."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from manyveils.cli.door import open_door
from manyveils.cli.options import AsJson, Data, Force, Only, PolicyOption, ReleaseFolder, Seed, option
from manyveils.errors import InputError, Problem

EXAMPLE = "Example: manyveils report release --policy policy.toml --data patients.csv"


def command(
    release: ReleaseFolder,
    policy: PolicyOption = Path("policy.toml"),
    data: Data = None,
    out: Annotated[
        Path | None,
        option("The page; by default in the private folder, or beside the release with --public."),
    ] = None,
    public: Annotated[bool, option("A page to ship: from the release alone.", "--public")] = False,
    private: Annotated[Path | None, option("Where the plan is; <release>.private by default.")] = None,
    comparison: Annotated[Path | None, option("The folder of a comparison, to show it as well.")] = None,
    only: Only = None,
    seed: Seed = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write an HTML page: promises, groups, values and associations before and after, utility, attacks, plan."""
    with open_door(as_json=as_json) as door:
        from manyveils.examining import public_report
        from manyveils.release.folder import REPORT, refuse_file, write_file
        from manyveils.run import report

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
                progress=door.progress,
            )
        # What compares with the original is for the owner's eyes.
        write_file(target, page.html, force=force, mode=0o644 if public else 0o600)
        words = f"The {'public ' if public else ''}report is {target}."
        door.show({"file": str(target), **page.document}, lambda: typer.echo(words))


def _refuse_inside(target: Path, release: Path) -> None:
    """Nothing but what its manifest lists may stand in a release, least of all what only the owner may see."""
    if target.resolve().is_relative_to(release.resolve()):
        what = "is inside the release, where only its own files may be."
        raise InputError.at(str(target), what, "Choose another place.")


def _refuse_idle(**given: object) -> None:
    what = "cannot go with --public, which uses the release alone."
    problems = [Problem(f"--{name}", what, "Drop it.") for name, value in given.items() if value]
    if problems:
        raise InputError(problems)


def _read(path: Path, *, needed: bool = False) -> Mapping[str, Any]:
    """A JSON object; an empty one where there is no file and none is needed."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not needed:
            return {}
        problem = Problem(str(path), "does not exist.", "Make it with manyveils compare.")
        raise InputError([problem]) from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError.at(str(path), f"cannot be read as JSON ({type(error).__name__}).") from None
    if not isinstance(document, dict) or (needed and not document):
        what = "must be a JSON object with something in it."
        raise InputError.at(str(path), what, "Make it again.")
    return document
