"""Whoever can write rows into the database gains nothing by it, and it shows."""

import json

import pytest
from sqlalchemy import insert, select, text, update

from manyveils.server import accounts, catalogue, disclosure, grants, logins, passwords, tokens
from manyveils.server.app import create_app
from manyveils.server.interpretation import read_value
from manyveils.server.refusals import Conflict, Forbidden, Missing, TooMany, Unauthenticated
from manyveils.server.schema import answers, disclosures, releases, sessions, users
from manyveils.server.schema import grants as grant_table
from manyveils.server.schema import jobs as job_table
from manyveils.server.schema import tokens as token_table
from manyveils.server.verifying import verify_log
from manyveils.server.worker import Worker

PASSWORD = "a long enough password"
NUMBER = "0" * 16
SEAL = {"seal": "0" * 64}


def write(house, statement):
    """Change the database behind the server's back."""
    with house.keeper.database.engine.begin() as connection:
        return connection.execute(statement)


def row_of(house, table, where=None):
    """A row as it stands."""
    with house.keeper.database.reading() as connection:
        return (
            connection.execute(select(table) if where is None else select(table).where(where))
            .first()
            ._asdict()
        )


def shown(house):
    """Whether the change shows, now and at the next start."""
    verdict = verify_log(house.keeper)
    return not verdict.whole and verdict.reason


def test_a_release_that_names_the_server_key(door, hand_made):
    """A listed row whose manifest names files of the server gives none of them away, by whatever path."""
    real = door.house.release(hand_made)
    honest = row_of(door.house, releases)
    manifest = json.loads(honest["manifest"])
    for name in (
        "../server.key",
        "../../server.key",
        str(door.house.keeper.settings.folder.resolve() / "server.key"),
    ):
        manifest["views"][0]["columns"][0]["file"] = name
        forged = {"id": NUMBER, "manifest": json.dumps(manifest), "listed": True}
        write(door.house, text(f"DELETE FROM releases WHERE id = '{NUMBER}'"))
        write(door.house, insert(releases).values(honest | forged))
        (door.house.keeper.settings.releases / NUMBER).mkdir(exist_ok=True)
        with door.as_(None) as client:
            assert [item["id"] for item in client.get("/releases").json()] == [real]
            for number in range(4):
                assert client.get(f"/releases/{NUMBER}/files/{number}").status_code == 404
        assert "releases" in shown(door.house)


def test_a_changed_manifest_of_a_sound_release(house, hand_made):
    """A release whose manifest was changed is not there any more; and even a sealed one leads nowhere else."""
    real = house.release(hand_made)
    manifest = json.loads(row_of(house, releases)["manifest"])
    manifest["views"][0]["columns"][0]["file"] = "../../server.key"
    write(house, update(releases).values(manifest=json.dumps(manifest)))
    with pytest.raises(Missing):
        catalogue.file_of(house.keeper, None, real, 1)
    from manyveils.server.sealed import change_row

    with house.keeper.database.writing() as connection:
        row = connection.execute(select(releases)).one()
        change_row(house.keeper, connection, releases, row, manifest=json.dumps(manifest))
    with pytest.raises(Missing):
        catalogue.file_of(house.keeper, None, real, 1)


def test_an_inserted_owner(either):
    """An account that the server did not make cannot log in, and one whose role was raised is gone."""
    hashed = passwords.hashed(PASSWORD)
    forged = row_of(either, users) | {"id": 99, "name": "mallory", "password": hashed} | SEAL
    write(either, insert(users).values(forged))
    with pytest.raises(Unauthenticated):
        accounts.log_in(either.keeper, "mallory", PASSWORD, "here")
    assert "mallory" not in {account.name for account in accounts.accounts(either.keeper, either.owner)}
    write(either, update(users).where(users.c.name == "researcher").values(role="owner"))
    with pytest.raises(Unauthenticated):
        accounts.log_in(either.keeper, "researcher", PASSWORD, "here")
    assert "2 of users" in shown(either)


def test_a_password_that_was_put_in(house):
    """A hash that was copied into another account opens nothing."""
    mine = row_of(house, users, users.c.name == "researcher")
    write(
        house,
        update(users).where(users.c.name == "owner").values(password=mine["password"], seal=mine["seal"]),
    )
    with pytest.raises(Unauthenticated):
        accounts.log_in(house.keeper, "owner", PASSWORD, "here")


def test_logins_that_were_moved(either):
    """A token or a session that was given to another account is worth nothing."""
    token = tokens.issue_token(either.keeper, "researcher", PASSWORD, "here").token
    session = logins.open_session(either.keeper, "researcher", PASSWORD, "here")
    assert tokens.find_token(either.keeper, token)
    assert logins.find_session(either.keeper, session.cookie)
    for table in (token_table, sessions):
        write(either, update(table).values(user_id=either.owner.id))
    assert tokens.find_token(either.keeper, token) is None
    assert logins.find_session(either.keeper, session.cookie) is None


def test_an_inserted_grant(either, hand_made):
    """A grant that the server did not give is none, and one that was raised or prolonged is gone."""
    release = either.release(hand_made)
    forged = {
        "id": 7,
        "user_id": either.researcher.id,
        "release_id": release,
        "daily_limit": 9,
        "total_limit": 9,
    }
    write(either, insert(grant_table).values(forged | {"expires": 1e12} | SEAL))
    write(either, insert(answers).values({"grant_id": 7, "day": "", "used": 0, "used_in_all": 0} | SEAL))
    with pytest.raises(Forbidden):
        read_value(either.keeper, either.researcher, release, "insurance", "CODE001")
    write(either, text("DELETE FROM answers"))
    write(either, text("DELETE FROM grants"))
    either.grant(release, limit=1)
    write(either, update(grant_table).values(daily_limit=1000))
    with pytest.raises(Forbidden):
        read_value(either.keeper, either.researcher, release, "insurance", "CODE001")


@pytest.mark.parametrize(
    "reset", [update(answers).values(used=0, used_in_all=0), text("DELETE FROM answers")]
)
def test_counters_that_were_reset(either, hand_made, reset):
    """What a grant has used cannot be set back or taken away: then nothing is answered any more."""
    release = either.release(hand_made)
    either.grant(release, limit=2)
    for n in range(2):
        read_value(either.keeper, either.researcher, release, "insurance", f"CODE{n:03}")
    write(either, reset)
    with pytest.raises(TooMany):
        read_value(either.keeper, either.researcher, release, "insurance", "CODE003")


@pytest.mark.parametrize(
    "reset", [update(disclosures).values(used=0, told="{}"), text("DELETE FROM disclosures")]
)
def test_what_was_told_cannot_be_forgotten(house, hand_made, reset):
    """What researchers were told of a release cannot be set back: then nothing of it is told any more."""
    release = house.release(hand_made)
    house.grant(release)
    read_value(house.keeper, house.researcher, release, "insurance", "CODE002")
    write(house, reset)
    with pytest.raises(Conflict):
        read_value(house.keeper, house.researcher, release, "insurance", "CODE001")
    with pytest.raises(Conflict):
        disclosure.disclosure(house.keeper, house.owner, release)


def test_an_older_row_put_back(either, hand_made):
    """A row that is put back as the server once wrote it, or taken away, shows in the sum, now and at the next start."""
    release = either.release(hand_made)
    either.grant(release, limit=5)
    unused = row_of(either, answers)
    read_value(either.keeper, either.researcher, release, "insurance", "CODE001")
    assert verify_log(either.keeper).whole
    write(either, update(answers).values(unused))
    assert "put back" in shown(either)
    app = create_app(either.keeper.settings)
    try:
        assert "WARNING" in app.state.warning
        verdict = verify_log(app.state.keeper)
        assert (verdict.whole, verdict.broken) == (False, verdict.entries + 1)
        assert "put back" in verdict.reason
    finally:
        app.state.worker.stop()
        app.state.keeper.close()


def test_a_whole_server_has_nothing_to_tell(either, hand_made):
    """After everything that accounts, tokens, grants and answers change, rows and sum agree."""
    release = either.release(hand_made)
    either.grant(release)
    tokens.issue_token(either.keeper, "researcher", PASSWORD, "here")
    read_value(either.keeper, either.researcher, release, "insurance", "CODE001")
    accounts.change_user(either.keeper, either.owner, "auditor", active=False)
    grants.end_grant(either.keeper, either.owner, grants.all_grants(either.keeper, either.owner)[0].id)
    app = create_app(either.keeper.settings)
    assert app.state.warning is None
    app.state.worker.stop()
    app.state.keeper.close()
    assert verify_log(either.keeper).whole


@pytest.mark.parametrize("number", ["..", "../..", "/"])
def test_jobs_whose_numbers_are_paths(house, number):
    """A dead job's row with a path for its number removes nothing."""
    values = {"id": number, "title": "x", "format": "csv", "instance": "gone", "asked_by": house.owner.id}
    state = {"state": "running", "stage": "", "share": 0.0, "created": 0.0, "beat": 0.0, "cancelled": False}
    write(house, insert(job_table).values(values | state))
    kept = house.keeper.settings.releases / NUMBER / "file"
    kept.parent.mkdir()
    kept.touch()
    Worker(house.keeper).stop()
    assert kept.exists()
    assert house.keeper.settings.sqlite.exists()
