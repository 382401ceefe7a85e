"""The catalogue: releases with their public manifests and files; owners see those that are not listed too."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from manyveils.keys import Key
from manyveils.release import Release
from manyveils.release.writing import MANIFEST
from manyveils.server.chain import append
from manyveils.server.database import Moment, moment, releases
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Conflict, Person, no_such, require
from manyveils.server.secret import Secret


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


# Everything but the key and where the files are.
PUBLIC = releases.c["id", "title", "listed", "created", "manifest"]
COLUMNS = (*PUBLIC, releases.c.key.is_not(None).label("has_key"))


def items(keeper: Keeper, actor: Person | None = None) -> list[Item]:
    """The listed releases, and for an owner the others too; newest first."""
    query = select(*COLUMNS).order_by(releases.c.created.desc(), releases.c.id)
    return [release for release in map(_item, keeper.database.rows(query)) if _is_visible(release, actor)]


def item(keeper: Keeper, actor: Person | None, release: str) -> Item:
    """One release; one that is not listed is there for owners only."""
    row = keeper.database.row(select(*COLUMNS).where(releases.c.id == release))
    if row is None or not _is_visible(_item(row), actor):
        raise no_such("release")
    return _item(row)


def file_of(keeper: Keeper, actor: Person | None, release: str, which: int | str) -> Path:
    """A file of a release by its number or its name in the manifest; what is asked for never becomes a path."""
    files = item(keeper, actor, release).files
    if isinstance(which, str):
        which = files.index(which) if which in files else -1
    if not 0 <= which < len(files):
        raise no_such("file")
    folder = keeper.database.row(select(releases.c.folder).where(releases.c.id == release)).folder
    path: Path = keeper.settings.folder / folder / files[which]
    if not path.is_file():
        raise Conflict.at("file", "is kept by another server.", "Ask the one that published it.")
    return path


def set_listed(keeper: Keeper, actor: Person, release: str, *, listed: bool) -> Item:
    """List a release, or take it off the list; for owners."""
    require(actor, "owner")
    with keeper.database.writing() as connection:
        done = connection.execute(update(releases).where(releases.c.id == release).values(listed=listed))
        if done.rowcount != 1:
            raise no_such("release")
        append(keeper, connection, actor.name, "list" if listed else "unlist", release)
    return item(keeper, actor, release)


def move_in(keeper: Keeper, folder: Path, release: str, *, title: str, key: Key | None) -> dict[str, Any]:
    """Move a complete release folder to where it stays; gives its row, with the key encrypted, for `enter`."""
    Release.load(folder)
    manifest = json.dumps(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    plain = None if key is None else json.dumps(key.describe(), ensure_ascii=False).encode()
    blob = None if plain is None else keeper.secret.lock(plain, release)
    home = keeper.settings.releases / release
    folder.rename(home)
    path = home.relative_to(keeper.settings.folder).as_posix()
    return {"id": release, "title": title, "folder": path, "manifest": manifest, "key": blob}


def enter(keeper: Keeper, connection: Connection, arrival: Mapping[str, Any], actor: str) -> None:
    """Write a release that has moved in into the catalogue, not listed yet."""
    connection.execute(insert(releases).values(**arrival, listed=False, created=keeper.now()))
    append(keeper, connection, actor, "publish", arrival["id"], {"key": arrival["key"] is not None})


def key_of(keeper: Keeper, release: str) -> Key | None:
    """The key of a release, decrypted; None if it has none. For the server's own use."""
    row = keeper.database.row(select(releases.c.key).where(releases.c.id == release))
    return None if row is None or row.key is None else _unlocked(keeper.secret, row.key, release)


@lru_cache(maxsize=32)
def _unlocked(secret: Secret, blob: bytes, release: str) -> Key:
    """A key decrypted, of which those read last need not be decrypted for every answer."""
    return Key.parse(json.loads(secret.unlock(blob, release)))


def _is_visible(release: Item, actor: Person | None) -> bool:
    return release.listed or (actor is not None and actor.role == "owner")


def _item(row: Row[Any]) -> Item:
    return Item(row.id, row.title, row.listed, moment(row.created), row.has_key, json.loads(row.manifest))
