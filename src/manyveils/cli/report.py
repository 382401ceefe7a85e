"""The page that decides about a release: `manyveils report`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from manyveils.cli.door import open_door
from manyveils.cli.options import (
    After,
    AsJson,
    Data,
    Force,
    Only,
    PassphraseFile,
    PolicyOption,
    ReleaseFolder,
    Seed,
    option,
    passphrase,
)
from manyveils.errors import InputError, Problem


def command(
    release: ReleaseFolder,
    policy: PolicyOption = Path("policy.toml"),
    data: Data = None,
    out: Annotated[
        Path | None,
        option("The page; by default in the private folder, or beside the release with --public."),
    ] = None,
    public: Annotated[bool, option("A page to ship: from the release alone.", "--public")] = False,
    certificate: Annotated[
        bool,
        option("One page for an ethics board, to print and sign, instead of the report.", "--certificate"),
    ] = False,
    evidence: Annotated[
        bool,
        option("Add what reviewers ask, and sign a digest of what was judged; needs --key.", "--evidence"),
    ] = False,
    key: Annotated[
        Path | None, option("The owner's key to sign with; it is made if it is not there.")
    ] = None,
    passphrase_file: PassphraseFile = None,
    private: Annotated[Path | None, option("Where the plan is; <release>.private by default.")] = None,
    comparison: Annotated[Path | None, option("The folder of a comparison, to show it as well.")] = None,
    only: Only = None,
    after: After = None,
    seed: Seed = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write an HTML page: promises, groups, values and associations before and after, utility, attacks, plan."""
    with open_door(as_json=as_json) as door:
        from manyveils.examining import public_report
        from manyveils.release.folder import AUDIT, REPORT, refuse_file, write_file
        from manyveils.run import report

        # "." has no name to put anything beside.
        release = release.absolute() if not release.name else release
        aside = private or release.with_name(f"{release.name}.private")
        target = out or (release.with_name(f"{release.name}.html") if public else aside / REPORT)
        if certificate:
            target = out or release.with_name(f"{release.name}.certificate.html")
        _refuse_for_table(release, certificate=certificate, public=public)
        _refuse_inside(target, release)
        secret = passphrase(passphrase_file)
        _refuse_key(key, secret, (release, aside), evidence=evidence)
        refuse_file(target, force=force)
        if public:
            _refuse_with_public(
                certificate=certificate,
                evidence=evidence,
                data=data,
                comparison=comparison,
                private=private,
                only=only,
                after=after,
            )
            page = public_report(release)
        else:
            page = report(
                release,
                data,
                policy,
                only=only,
                seed=seed,
                after=after or (),
                plan=_read(aside / "plan.json"),
                comparison=_read(comparison / "comparison.json", needed=True) if comparison else None,
                evidence=evidence,
                progress=door.progress,
            )
        signed = {}
        if key is not None:
            from manyveils.signing import sign

            audit = json.dumps(page.document["audit"], indent=2, ensure_ascii=False)
            write_file(aside / AUDIT, audit + "\n", force=True, mode=0o600)
            signed = {"digest": str(sign(release, policy, key, private=aside, secret=secret))}
        if certificate:
            from manyveils.cli.certificate import certified

            write_file(target, certified(page, release), force=force, mode=0o600)
            told = {"file": str(target), **signed, **page.document}
            door.show(told, lambda: typer.echo(f"The certificate is {target}."))
            return
        # What compares with the original is for the owner's eyes.
        write_file(target, page.html, force=force, mode=0o644 if public else 0o600)
        words = f"The {'public ' if public else ''}report is {target}."
        words += f" The signed digest is {signed['digest']}." if signed else ""
        door.show({"file": str(target), **signed, **page.document}, lambda: typer.echo(words))


def _refuse_for_table(release: Path, **asked: bool) -> None:
    """Refuse what speaks of a release and its manifest, if this is a table that something else published."""
    if release.is_file():
        what = "is for a release folder, and this is a table."
        InputError.refuse(Problem(f"--{name}", what, "Drop it.") for name in asked if asked[name])


def _refuse_with_public(**idle: object) -> None:
    """Refuse what a page to ship cannot use."""
    what = "cannot go with --public, which uses the release alone."
    InputError.refuse(Problem(f"--{name}", what, "Drop it.") for name in idle if idle[name])


def _refuse_key(key: Path | None, secret: str | None, folders: tuple[Path, ...], *, evidence: bool) -> None:
    """Evidence is signed with a key, which signs nothing else, can be opened and stands where it is not replaced."""
    if key is None:
        if evidence:
            remedy = "Name one with --key, such as owner.pem; it is made if it is not there."
            raise InputError.at("--evidence", "needs a key to sign with.", remedy)
        return
    if not evidence:
        raise InputError.at("--key", "signs what --evidence tells.", "Give --evidence too, or drop it.")
    if any(key.resolve().is_relative_to(folder.resolve()) for folder in folders):
        what = "is inside the release or its private folder, which publishing replaces."
        raise InputError.at(str(key), what, "Keep keys in another place.")
    from manyveils.signing import refuse_unusable

    refuse_unusable(key, secret)


def _refuse_inside(target: Path, release: Path) -> None:
    """Nothing but what its manifest lists may stand in a release, least of all what only the owner may see."""
    if target.resolve().is_relative_to(release.resolve()):
        what = "is inside the release, where only its own files may be."
        raise InputError.at(str(target), what, "Choose another place.")


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
