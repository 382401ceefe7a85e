"""A server to try: the hospital table published and listed, and three accounts with random passwords."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any

from manyveils.datasets import hospital_sections, write_hospital
from manyveils.errors import InputError, ManyveilsError
from manyveils.server.accounts import add_owner, add_user, has_owner, log_in
from manyveils.server.catalogue import set_listed
from manyveils.server.grants import give_grant
from manyveils.server.jobs import job
from manyveils.server.refusals import ROLES, Person
from manyveils.server.uploads import Upload
from manyveils.server.worker import Worker

ROWS = 1000
LIMIT = 100
WEEK = 7 * 24 * 3600.0


@dataclass(frozen=True, repr=False)
class Demo:
    """What was made: the release, and the passwords of owner, researcher and auditor, told once."""

    release: str
    passwords: Mapping[str, str]


def prepare(worker: Worker) -> Demo:
    """Fill an empty server with something to try."""
    keeper = worker.keeper
    if has_owner(keeper):
        remedy = "Choose another, or leave --folder out."
        raise InputError.at("--demo", "needs a folder without accounts.", remedy)
    passwords: dict[str, str] = {role: token_urlsafe(15) for role in ROLES}
    add_owner(keeper, "owner", passwords["owner"])
    owner = log_in(keeper, "owner", passwords["owner"], "demo")
    for role in ROLES[1:]:
        add_user(keeper, owner, role, passwords[role], role)
    release = _published(worker, owner)
    set_listed(keeper, owner, release, listed=True)
    give_grant(keeper, owner, "researcher", release, daily_limit=LIMIT, expires=keeper.now() + WEEK)
    return Demo(release, passwords)


def _published(worker: Worker, owner: Person) -> str:
    folder = worker.instance.work / "demo"
    write_hospital(folder, n=ROWS)
    policy = folder / "policy.json"
    policy.write_text(json.dumps(_graded()), encoding="utf-8")
    with policy.open("rb") as rules, (folder / "hospital.csv").open("rb") as rows:
        upload, data = Upload("policy.json", rules), Upload("hospital.csv", rows)
        submitted = worker.submit(owner, title="Hospital patients (generated)", policy=upload, data=data)
    while (state := job(worker.keeper, owner, submitted.id)).state in ("queued", "running"):
        time.sleep(0.1)
    if state.release is None:
        raise ManyveilsError.at("demo", str(state.error))
    return state.release


def _graded() -> dict[str, Any]:
    """The hospital's policy with secret codes and grades, and quasi-identifiers made coarser."""
    return {
        "data": {"person": "record"},
        "attributes": hospital_sections(whole_cells=True)["attributes"],
        "guarantee": {"k": 3, "l": 3},
        "publish": {"method": "grade", "then": "generalize"},
    }
