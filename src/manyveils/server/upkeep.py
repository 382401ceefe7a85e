"""What is done to a server as a whole while none is running: its key is changed."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from manyveils.errors import InputError
from manyveils.server.chain import append, reseal_head
from manyveils.server.instances import SILENT
from manyveils.server.keeper import Keeper, fingerprint
from manyveils.server.refusals import Conflict
from manyveils.server.schema import SUMMED, keys, meta, servers, sessions, tokens, users
from manyveils.server.sealed import seal_all, sum_of_rows
from manyveils.server.second import bound_to
from manyveils.server.secret import Secret, make_key, make_waiting, own_key, take_waiting
from manyveils.server.verifying import verify_log

COMMAND = "(command line)"


def refuse_running(keeper: Keeper, connection: Connection) -> None:
    """Refuse while any server of the database runs, or was killed a moment ago."""
    living = servers.c.beat > keeper.now() - SILENT
    if connection.execute(select(servers.c.instance).where(living)).first() is not None:
        what = "is used by a server that runs, or was killed a moment ago."
        raise Conflict.at("database", what, f"Stop every server; after a kill wait {SILENT:.0f} seconds.")


def rotate_key(keeper: Keeper, new: Path | None = None) -> str:
    """Put another server key in the place of the one there is; gives where the new one is.

    Everything that was encrypted or sealed with the old one is so with the new one afterwards, and all logins end.
    Entries of the log keep their hashes; what proves them is kept, encrypted with the new key.
    The new key is written first, and takes its place last: broken off in between, the server opens with the one that fits.
    """
    verdict = verify_log(keeper)
    if not verdict.whole:
        raise InputError.at("log", f"is broken: {verdict.reason}.", "A broken log is not sealed anew.")
    own = own_key(keeper.settings)
    if new is None and not (keeper.settings.key_file is None and own.exists()):
        raise InputError.at("--new-key-file", "is needed, as the key is not in the server's folder.")
    with keeper.database.writing() as connection:
        refuse_running(keeper, connection)
        secret = make_waiting(keeper.settings) if new is None else make_key(new)
        _rotate(keeper, connection, secret)
    if new is None:
        take_waiting(keeper.settings)
    return str(new or own)


def _rotate(keeper: Keeper, connection: Connection, secret: Secret) -> None:
    for row in connection.execute(select(keys)).all():
        blob = secret.lock(keeper.secret.unlock(row.key, row.release_id), row.release_id)
        connection.execute(update(keys).where(keys.c.release_id == row.release_id).values(key=blob))
    for row in connection.execute(select(users).where(users.c.second.is_not(None))).all():
        blob = secret.lock(keeper.secret.unlock(row.second, bound_to(row)), bound_to(row))
        connection.execute(update(users).where(users.c.id == row.id).values(second=blob))
    connection.execute(delete(sessions))
    connection.execute(delete(tokens))
    last = append(keeper, connection, COMMAND, "rotate key")
    former = [*((number, old.seals) for number, old in keeper.former), (last, keeper.secret.seals)]
    written = [(number, secret.lock(seals, f"seals up to {number}").hex()) for number, seals in former]
    _set_meta(connection, {"secret": fingerprint(secret), "former": json.dumps(written)})
    changed = replace(keeper, secret=secret)
    for table in SUMMED:
        seal_all(changed, connection, table)
    reseal_head(changed, connection, sum_of_rows(changed, connection))


def _set_meta(connection: Connection, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        connection.execute(delete(meta).where(meta.c.name == name))
        connection.execute(insert(meta).values(name=name, value=value))
