"""Real tables: the policy that init writes for them publishes without edits."""

import gzip
from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"
ADULT = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    "income",
)


def lines_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (line.strip().rstrip(".") for line in file if line.strip() and line[0] != "|")


def adult():
    rows = [line for part in ("data", "test") for line in lines_of(DATA / "adult" / f"adult.{part}.gz")]
    return [",".join(ADULT), *rows]


def census():
    names = (DATA / "census-income" / "columns.txt").read_text(encoding="utf-8").split()
    return [",".join(names), *lines_of(DATA / "census-income" / "census-income.data.gz")]


def acs():
    return (DATA / "acs" / "national2019.csv").read_text(encoding="utf-8").splitlines()


SENSITIVE = {adult: ("occupation", "income"), census: ("income", "wage_per_hour"), acs: ("PINCP", "DPHY")}


@pytest.mark.skipif(not DATA.exists(), reason="the real tables are not beside the project (../shared/data)")
@pytest.mark.parametrize("table", [adult, census, acs], ids=lambda table: table.__name__)
def test_publishes_without_edits(desk, table):
    """Every row of a real table is published under the policy that init wrote, and every promise is kept."""
    rows = table()
    data = desk.data("\n".join(rows) + "\n", "real.csv")
    (desk.folder / "policy.toml").unlink()
    made = desk.run("init", data, "-o", desk.folder / "policy.toml", "--json")
    assert made.status == 0, made.said
    roles = {each["name"]: each["role"] for each in made.document["profile"]["columns"]}
    assert [roles[name] for name in SENSITIVE[table]] == ["sensitive", "sensitive"]
    done = desk.publish("--json")
    assert done.status == 0, done.said
    assert done.document["audit"]["kept"]
    assert done.document["manifest"]["rows"] == len(rows) - 1
