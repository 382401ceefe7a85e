"""Roles: what each is guessed from, and that every guess has a reason."""

import tomllib

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.table import hold

N = 200
RNG = np.random.default_rng(5)


def drawn(values, n=N):
    return [str(value) for value in RNG.choice(list(values), n)]


def roles(**columns):
    """The roles of columns beside a diagnosis, so that something is sensitive."""
    frame = pl.DataFrame({"diagnosis": drawn("abcdef")} | columns)
    return {name: each for name, each in mv.profile(frame).decided.items() if name != "diagnosis"}


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("surname", drawn("abc"), "a person's name"),
        ("Vorname", drawn("abc"), "a person's name"),
        ("contact", [f"p{n}@example.org" for n in range(N)], "e-mail addresses"),
        ("reach", [f"+49 30 {n:07d}" for n in range(N)], "phone numbers"),
        ("x", [f"00000000-0000-4000-8000-{n:012x}" for n in range(N)], "UUIDs"),
        ("x", [str(n) for n in range(5, 5 + N)], "numbers the rows"),
        ("x", [f"q{n * 7919 % 1000}" for n in range(N)], "nearly identifies the row"),
        ("serial no", [str(n * 7919 % 1000) for n in range(N)], "a key of records"),
        ("patient_no", drawn(range(1000, 1020)), "somebody's name or number"),
        ("customerID", drawn(range(1000, 1020)), "somebody's name or number"),
        ("patient_name", drawn("abcdefgh"), "somebody's name or number"),
        ("id_client", drawn(range(1000, 1020)), "somebody's name or number"),
        ("insurance_policy", [f"POL-{n * 7919 % 1000:04d}" for n in range(N)], "nearly identifies the row"),
        ("remarks", [f"was seen on day {n} with a long story to tell" for n in range(N)], "free text"),
        ("empty", [""] * N, "every cell is missing"),
    ],
)
def test_not_published(name, values, said):
    """Names, formats, counters, nearly unique columns and free text are not published, with the reason."""
    [decided] = roles(**{name: values}).values()
    assert decided.role == ("drop" if decided.reason.startswith("Left out") else "identifier")
    assert said in decided.reason


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("income", "sensitive"),
        ("Jahreseinkommen brutto income", "sensitive"),
        ("sexual_orientation", "sensitive"),
        ("healthInsurance", "sensitive"),
        ("political party", "sensitive"),
        ("diag2", "sensitive"),
        ("sex", "quasi"),
        ("Geschlecht", "quasi"),
        ("marital-status", "quasi"),
        ("native_country", "quasi"),
        ("hospital_id", "quasi"),
        ("page", "quasi"),
        ("zzz", "quasi"),
    ],
)
def test_by_name(name, role):
    """A column with few values gets the role that its name speaks of, and is taken as known if it says nothing."""
    [decided] = roles(**{name: drawn("uvwxyz")}).values()
    assert decided.role == role


def test_measured_numbers_are_kept():
    """Decimals that all differ, and ages that happen to, name nobody."""
    found = roles(bone=[str(n / 7) for n in range(N)], age=[str(n) for n in range(N)])
    assert [each.role for each in found.values()] == ["quasi", "quasi"]


def test_several_are_sensitive():
    """Every column whose name is sensitive is, not only the first."""
    found = roles(income=drawn("lmh"), religion=drawn("xyz"), union=drawn("yn"))
    assert {each.role for each in found.values()} == {"sensitive"}


def test_a_guess_is_called_one():
    """Where no name is sensitive, the most varied unknown column is chosen, and the reason says that it is a guess."""
    frame = pl.DataFrame(
        {"sex": drawn("mf"), "p": drawn("aaaab"), "q": drawn("abcdefgh"), "r": drawn("abbb")}
    )
    found = mv.profile(frame).decided
    assert found["q"].role == "sensitive"
    assert "A mere guess" in found["q"].reason
    assert [found[name].role for name in ("sex", "p", "r")] == ["quasi"] * 3


def test_tied_columns_share_a_role():
    """A column of unknown meaning that decides a sensitive one, or follows from it, is sensitive too."""
    fine = drawn(range(30), 3000)
    frame = pl.DataFrame(
        {"k1": fine, "diagnosis": [str(int(v) // 5) for v in fine], "k2": [str(int(v) // 10) for v in fine]}
    )
    found = mv.profile(frame.with_columns(pl.Series("sex", drawn("mf", 3000)))).decided
    assert [found[name].role for name in ("k1", "diagnosis", "k2")] == ["sensitive"] * 3
    assert "follows from" in found["k1"].reason


def test_what_known_columns_decide_is_left_out():
    """Nothing can be promised of a sensitive column that follows from a known one, so it is left out."""
    zips = drawn(range(10000, 10030), 3000)
    frame = pl.DataFrame(
        {"zip": zips, "income": [str(int(z) % 3) for z in zips], "illness": drawn("abcd", 3000)}
    )
    found = mv.profile(frame).decided
    assert found["income"].role == "drop"
    assert "follows from zip" in found["income"].reason


def test_neutral_tells_nothing():
    """Only a column with the same value in every row is neutral; a sensitive one is then left out."""
    found = roles(constant=["x"] * N, disease=["flu"] * N, other=drawn("ab"))
    assert [each.role for each in found.values()] == ["neutral", "drop", "quasi"]


def test_wide_tables_keep_a_dozen():
    """Beyond twelve quasi-identifiers and ten sensitive attributes columns are left out, with the number."""
    wide = {f"c{n}": drawn("abcde") for n in range(40)} | {f"income{n}": drawn("lmh") for n in range(20)}
    found = mv.profile(pl.DataFrame(wide | {"age": drawn(range(90))}))
    assert len(found.having("quasi")) == 12
    assert len(found.having("sensitive")) == 10
    assert "age" in found.having("quasi")
    assert "41 columns seem quasi and 12 are kept" in found.decided["c39"].reason


def test_the_least_telling_are_kept():
    """Among too many columns of unknown meaning, those with the fewest values are kept."""
    found = roles(**{f"c{n}": drawn(range(2 + n)) for n in range(20)})
    assert [name for name, each in found.items() if each.role == "quasi"] == [f"c{n}" for n in range(12)]


def test_a_mere_guess_publishes_nothing_that_tells_rows_apart():
    """If no name is sensitive, a column by which rows stand alone is not guessed to be, and so is made coarser."""
    frame = pl.DataFrame(
        {"alpha": [f"{n / 7:.6f}" for n in range(N)], "beta": drawn("abcde"), "gamma": drawn("xy")}
    )
    decided = mv.profile(frame).decided
    assert decided["alpha"].role == "quasi"
    assert decided["beta"].role == "sensitive"
    assert "A mere guess" in decided["beta"].reason


def test_what_decides_a_sensitive_column_and_most_rows_is_left_out():
    """A column from which a sensitive one follows is not published as it is if most rows stand alone by it."""
    numbers = [n if n < 140 else n - (n - 140) // 2 - 1 for n in range(N)]
    decided = roles(measured=[f"{n / 8:.3f}" for n in numbers], income=[str(n * 7919 % 11) for n in numbers])
    assert decided["measured"].role == "drop"
    assert "are unique by it alone" in decided["measured"].reason


def test_rows_that_a_sensitive_value_tells_apart_are_counted():
    """A sensitive column by which rows stand alone is published as it is, and the policy says what that means."""
    frame = pl.DataFrame({"sex": drawn("fm"), "income": [f"{n / 7:.3f}" for n in range(N)]})
    assert (
        "100 % of the rows are unique by it, and whoever knows their value finds the row"
        in mv.profile(frame).policy_text()
    )
    few = pl.DataFrame({"sex": drawn("fm"), "income": drawn(range(5))})
    assert "finds the row" not in mv.profile(few).policy_text()


@pytest.mark.parametrize(("n_keys", "role"), [(50, "quasi"), (100, "?"), (101, "identifier")])
def test_keys_that_several_rows_share(n_keys, role):
    """A column called id tells records apart if it has more than a hundred values that come again; with fewer it is asked about."""
    keys = [str(n % n_keys) for n in range(3 * n_keys)]
    frame = pl.DataFrame({"shop_id": keys, "diagnosis": drawn("abc", 3 * n_keys)})
    assert mv.profile(frame).decided["shop_id"].role == role
    places = frame.rename({"shop_id": "city name"})
    assert mv.profile(places).decided["city name"].role == "quasi"


def test_numbers_of_visits_are_no_dates():
    """A column called visit that numbers rows is left out; one of dates is what an adversary may know."""
    numbers = mv.profile(mv.datasets.visits(300))
    dates = mv.profile(mv.datasets.visits(300).with_columns(visit=pl.col("date")))
    assert (numbers.decided["visit"].role, dates.decided["visit"].role) == ("drop", "quasi")


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("readmitted", ["NO", "<30", ">30"], "sensitive"),
        ("insulin", ["No", "Up", "Down", "Steady"], "sensitive"),
        ("atorvastatin", ["No", "Up", "Down", "Steady"], "sensitive"),
        ("max_glu_serum", ["None", "Norm", ">200", ">300"], "sensitive"),
        ("injury severity", ["none", "minor", "fatal"], "sensitive"),
        ("time_in_hospital", range(1, 15), "quasi"),
        ("person number", range(1, 7), "identifier"),
    ],
)
def test_friction(name, values, role):
    """Lab results, drugs and injuries are sensitive, a stay is no place, and the number of a person names her."""
    [decided] = roles(**{name: drawn(values)}).values()
    assert decided.role == role
    assert "place" not in decided.reason


def test_keys_that_repeat_are_asked_about():
    """Numbers of any length that come again are published under no guess, and the policy asks for a role."""
    keys = [str(key) for key in np.random.default_rng(3).choice(10**9, 1_500) // 10 ** (np.arange(1_500) % 5)]
    frame = pl.DataFrame(
        {"code_z": keys * 2, "age": drawn(range(20, 60), 3_000), "income": drawn("lmh", 3_000)}
    )
    found = mv.profile(frame)
    assert found.decided["code_z"].role in ("?", "identifier", "drop")
    frame = pl.DataFrame({"zz": drawn(range(300), 3_000), "age": drawn(range(20, 60), 3_000)})
    found = mv.profile(frame)
    assert found.decided["zz"].role == "?"
    assert "# Decide:" in found.policy_text()
    with pytest.raises(
        mv.PolicyError, match=r"attributes\.zz\.role: is not decided: manyveils init was not sure"
    ):
        mv.Policy(**tomllib.loads(found.policy_text()))


def test_columns_alike_leave_room_for_others():
    """Of twenty drugs with the same values and other sensitive columns, the others are kept; what is constant is not."""
    drugs = {f"drug{n}": drawn(["No", "Up", "Down"]) for n in range(20)}
    constant = {"hiv": ["no"] * (N - 2) + ["yes"] * 2}
    others = {"readmitted": drawn(["NO", "<30", ">30"]), "income": drawn("lmh")}
    found = mv.profile(pl.DataFrame(constant | drugs | others)).having("sensitive")
    assert {"readmitted", "income"} <= set(found)
    assert "hiv" not in found


def test_families_share_what_they_are():
    """Columns whose names begin alike, or that have the same texts, are sensitive where others of them are."""
    found = roles(
        sp_cancer=drawn("12"),
        sp_stroke=drawn("12"),
        sp_xyz=drawn("12"),
        insulin=drawn("abc"),
        statin_use=drawn("abc"),
        metformin=drawn("abc"),
        qqq=drawn("abc"),
        other=drawn("12"),
    )
    assert [found[name].role for name in ("sp_xyz", "qqq", "other")] == ["sensitive", "sensitive", "quasi"]


def test_codes_are_not_cut_into_intervals():
    """Whole numbers whose name says that they are codes are categorical; amounts and counts are numeric."""
    frame = pl.DataFrame(
        {
            "admission_type_id": drawn(range(1, 30)),
            "county code": drawn(range(1, 90)),
            "weight": drawn(range(40, 120)),
            "diag": drawn(range(200, 900, 9)),
        }
    )
    attributes = tomllib.loads(mv.profile(frame).policy_text())["attributes"]
    kinds = {name: attribute.get("kind") for name, attribute in attributes.items()}
    assert kinds == {
        "admission_type_id": "categorical",
        "county code": "categorical",
        "weight": "numeric",
        "diag": "categorical",
    }
    assert "widths" not in attributes["county code"].get("hierarchy", {})


def test_ranges_are_in_order():
    """Ages in ranges are ordinal, and published in the order of the ranges, not of their letters."""
    ranges = ["[0-5)", "[5-10)", "[10-50)", "[50-100)"]
    frame = pl.DataFrame({"age": drawn(ranges), "ill": drawn("abc")})
    text = mv.profile(frame).policy_text()
    assert tomllib.loads(text)["attributes"]["age"]["kind"] == "ordinal"
    table, _ = hold(frame, mv.Policy(**tomllib.loads(text)))
    assert list(table["age"].texts) == ranges


def test_a_number_inside_a_household_is_no_person():
    """A repeating identifier with six values for thousands of rows tells no persons apart."""
    frame = pl.DataFrame({"person_number": drawn(range(1, 7), 3_000), "income": drawn("lmh", 3_000)})
    found = mv.profile(frame)
    assert found.decided["person_number"].role == "identifier"
    assert found.whose is not None
    assert found.whose.name is None
