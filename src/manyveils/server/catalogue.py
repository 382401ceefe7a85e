"""The catalogue: releases with their public manifests and files; owners see their own that are not listed too."""

import hashlib
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, select

from manyveils.keys import Key
from manyveils.release import Release
from manyveils.release.release import points_elsewhere
from manyveils.release.writing import MANIFEST
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper
from manyveils.server.moments import Moment, moment
from manyveils.server.refusals import Conflict, Forbidden, Person, Scope, no_such, require
from manyveils.server.schema import answers, disclosures, grants, keys, log, releases, users
from manyveils.server.sealed import add_row, change_row, remove_row, sound_row, sound_rows
from manyveils.server.secret import Secret

NUMBER = "[0-9a-f]{16}"
DELETED = "delete release"
SEAL = select(keys.c.seal).where(keys.c.release_id == bindparam("release"))
# Until an owner says otherwise: what all researchers together may be told of a release, and the percentage of its key
# that may become derivable from that.
BUDGET, APPROVED = 1_000_000, 25


@dataclass(frozen=True)
class Item:
    """A release in the catalogue; its key is never part of it."""

    id: str
    title: str
    listed: bool
    created: Moment
    has_key: bool
    manifest: Mapping[str, Any]

    @property
    def files(self) -> tuple[str, ...]:
        """The files of the release, as its manifest names them."""
        columns = [column["file"] for view in self.manifest["views"] for column in view["columns"]]
        recodings = [entry["file"] for entry in self.manifest.get("recodings", [])]
        return (MANIFEST, *dict.fromkeys([*columns, *recodings]))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that are published, each once."""
        columns = [column for view in self.manifest["views"] for column in view["columns"]]
        return tuple(dict.fromkeys(name for column in columns for name in column["attributes"]))


def items(keeper: Keeper, actor: Person | None = None, *, skip: int = 0, most: int = 100) -> list[Item]:
    """A page of the listed releases, and for an owner of the own ones too; newest first."""
    query = select(releases).order_by(releases.c.created.desc(), releases.c.id)
    with keeper.database.reading() as connection:
        if not _is_owner(actor):
            query = query.where(releases.c.listed)
        elif actor is not None:
            query = query.where(releases.c.listed | _is_mine(actor))
        if actor is not None and actor.token is not None and actor.token.only is not None:
            query = query.where(releases.c.id.in_(sorted(actor.token.only)))
        return [
            item_of(row) for row in sound_rows(keeper, connection, releases, query.offset(skip).limit(most))
        ]


def item(keeper: Keeper, actor: Person | None, release: str) -> Item:
    """One release; one that is not listed is there for its owner only."""
    with keeper.database.reading() as connection:
        return item_in(keeper, connection, actor, release)


def item_in(keeper: Keeper, connection: Connection, actor: Person | None, release: str) -> Item:
    """One release, in a transaction that reads more."""
    row = sound_row(keeper, connection, releases, releases.c.id == release)
    is_seen = row is not None and (row.listed or is_mine(keeper, connection, actor, row))
    if not is_seen or not (actor is None or actor.token is None or actor.token.is_for(release)):
        raise no_such("release")
    return item_of(row)


def owned(keeper: Keeper, connection: Connection, actor: Person, release: str, scope: Scope) -> Row[Any]:
    """The row of a release that somebody owns; one of somebody else is refused."""
    require(actor, "owner", scope=scope, release=release)
    row: Row[Any] | None = sound_row(keeper, connection, releases, releases.c.id == release)
    if row is None or not (row.listed or is_mine(keeper, connection, actor, row)):
        raise no_such("release")
    if not is_mine(keeper, connection, actor, row):
        raise Forbidden.at("release", "belongs to another owner.", noted=False)
    return row


def is_mine(keeper: Keeper, connection: Connection, actor: Person | None, row: Row[Any]) -> bool:
    """Whether somebody owns a release; those of an owner whose account is closed belong to every owner."""
    if actor is None or not _is_owner(actor):
        return False
    query = select(releases.c.id).where(releases.c.id == row.id, _is_mine(actor))
    return connection.execute(query).first() is not None


def _is_owner(actor: Person | None) -> bool:
    return actor is not None and actor.role == "owner"


def _is_mine(actor: Person) -> ColumnElement[bool]:
    closed = select(users.c.id).where(~users.c.active | (users.c.role != "owner"))
    return (releases.c.owner_id == actor.id) | releases.c.owner_id.in_(closed)


def file_of(keeper: Keeper, actor: Person | None, release: str, which: int | str) -> Path:
    """A file of a release by its number or its name in the manifest; what is asked for never becomes a path."""
    files = item(keeper, actor, release).files
    if isinstance(which, str):
        which = files.index(which) if which in files else -1
    if not 0 <= which < len(files):
        raise no_such("file")
    home = home_of(keeper, release)
    path = home / files[which]
    if files[which] != MANIFEST and points_elsewhere(home, files[which]):
        raise no_such("file")
    if not path.is_file():
        raise Conflict.at("file", "is kept by another server.", "Ask the one that published it.")
    return path


def home_of(keeper: Keeper, release: str) -> Path:
    """The folder of a release, which follows from its number alone."""
    if not re.fullmatch(NUMBER, release):
        raise no_such("release")
    return keeper.settings.releases / release


def set_listed(keeper: Keeper, actor: Person, release: str, *, listed: bool) -> Item:
    """List a release, or take it off the list; for its owner."""
    with keeper.database.writing() as connection:
        row = owned(keeper, connection, actor, release, "publish")
        row = change_row(keeper, connection, releases, row, listed=listed)
        append(keeper, connection, actor, "list" if listed else "unlist", release)
    return item_of(row)


def delete_release(keeper: Keeper, actor: Person, release: str) -> None:
    """Delete a release with its key, its grants and its files; what it was stays in the log. For its owner."""
    with keeper.database.writing() as connection:
        row = owned(keeper, connection, actor, release, "publish")
        remove_release(keeper, connection, actor, row)
    shutil.rmtree(home_of(keeper, release), ignore_errors=True)


def remove_release(keeper: Keeper, connection: Connection, actor: Person | str, row: Row[Any]) -> None:
    """Take a release out of the catalogue, and log what it was; its folder is removed afterwards."""
    about = {"title": row.title, "manifest": hashlib.sha256(row.manifest.encode()).hexdigest()}
    append(keeper, connection, actor, DELETED, row.id, about | {"created": moment(row.created)})
    theirs = connection.execute(select(grants.c.id).where(grants.c.release_id == row.id)).scalars().all()
    parts = (
        (answers, answers.c.grant_id.in_(theirs)),
        (grants, grants.c.release_id == row.id),
        (disclosures, disclosures.c.release_id == row.id),
        (keys, keys.c.release_id == row.id),
        (releases, releases.c.id == row.id),
    )
    for table, which in parts:
        for part in connection.execute(select(table).where(which)).all():
            remove_row(keeper, connection, table, part)


def sweep(keeper: Keeper) -> None:
    """Remove the folders of deleted releases that a server did not come to remove."""
    here = {path.name for path in keeper.settings.releases.iterdir() if re.fullmatch(NUMBER, path.name)}
    gone = select(log.c.subject).where(log.c.action == DELETED, log.c.subject.in_(here))
    for (number,) in keeper.database.rows(gone.where(log.c.subject.not_in(select(releases.c.id)))):
        shutil.rmtree(home_of(keeper, number), ignore_errors=True)


def move_in(keeper: Keeper, folder: Path, release: str, *, title: str, key: Key | None) -> dict[str, Any]:
    """Move a complete release folder to where it stays; gives what `enter` writes, with the key encrypted."""
    Release.load(folder)
    manifest = json.dumps(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    plain = None if key is None else json.dumps(key.describe(), ensure_ascii=False).encode()
    blob = None if plain is None else keeper.secret.lock(plain, release)
    folder.rename(home_of(keeper, release))
    return {"id": release, "title": title, "manifest": manifest, "key": blob}


def enter(
    keeper: Keeper,
    connection: Connection,
    arrival: Mapping[str, Any],
    owner: Person,
    audit: Mapping[str, Any] | None = None,
) -> None:
    """Write a release that has moved in into the catalogue, not listed yet."""
    about = {name: arrival[name] for name in ("id", "title", "manifest")}
    told = None if audit is None else json.dumps(audit, default=str)
    limits = {"budget": BUDGET, "approved": APPROVED, "owner_id": owner.id, "created": keeper.now()}
    has_key = arrival["key"] is not None
    add_row(keeper, connection, releases, **about, **limits, audit=told, has_key=has_key, listed=False)
    if has_key:
        add_row(keeper, connection, keys, release_id=arrival["id"], key=arrival["key"])
        add_row(keeper, connection, disclosures, release_id=arrival["id"], used=0, told="{}")
    append(keeper, connection, owner, "publish", arrival["id"], {"key": has_key})


def key_of(keeper: Keeper, release: str) -> Key | None:
    """The key of a release, decrypted; None if it has none. For the server's own use."""
    with keeper.database.reading() as connection:
        return key_in(keeper, connection, release)


def key_in(keeper: Keeper, connection: Connection, release: str) -> Key | None:
    """The key of a release; those read last are known by their seal, and need not be read again for every answer."""
    seal = connection.execute(SEAL, {"release": release}).scalar_one_or_none()
    known = _keys.get((release, seal))
    if known is None or known[0] != keeper.secret:
        row = sound_row(keeper, connection, keys, keys.c.release_id == release)
        if row is None:
            return None
        known = keeper.secret, Key.parse(json.loads(keeper.secret.unlock(row.key, release)))
        while len(_keys) >= MOST_KEYS:
            _keys.pop(next(iter(_keys)), None)
        _keys[release, row.seal] = known
    return known[1]


_keys: dict[tuple[str, str | None], tuple[Secret, Key]] = {}
MOST_KEYS = 32


def item_of(row: Row[Any]) -> Item:
    """A release as it stands in the catalogue."""
    return Item(row.id, row.title, row.listed, moment(row.created), row.has_key, json.loads(row.manifest))
