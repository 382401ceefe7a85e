"""Roles: what each is guessed from, and that every guess has a reason."""

import numpy as np
import polars as pl
import pytest

import manyveils as mv

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
        ("serial no", [str(n * 7919 % 1000) for n in range(N)], "a number of records"),
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
    assert decided.role == "identifier"
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
    assert found["income"].role == "identifier"
    assert "follows from zip" in found["income"].reason


def test_neutral_tells_nothing():
    """Only a column with the same value in every row is neutral; a sensitive one is then left out."""
    found = roles(constant=["x"] * N, disease=["flu"] * N, other=drawn("ab"))
    assert [each.role for each in found.values()] == ["neutral", "identifier", "quasi"]


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
    assert decided["measured"].role == "identifier"
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


@pytest.mark.parametrize(("n_keys", "role"), [(100, "quasi"), (101, "identifier")])
def test_keys_that_several_rows_share(n_keys, role):
    """A column called id tells records apart if it has more than a hundred values, though every one comes again."""
    keys = [str(n % n_keys) for n in range(3 * n_keys)]
    frame = pl.DataFrame({"shop_id": keys, "diagnosis": drawn("abc", 3 * n_keys)})
    assert mv.profile(frame).decided["shop_id"].role == role
    places = frame.rename({"shop_id": "city name"})
    assert mv.profile(places).decided["city name"].role == "quasi"


def test_numbers_of_visits_are_no_dates():
    """A column called visit that numbers rows is left out; one of dates is what an adversary may know."""
    numbers = mv.profile(mv.datasets.visits(300))
    dates = mv.profile(mv.datasets.visits(300).with_columns(visit=pl.col("date")))
    assert (numbers.decided["visit"].role, dates.decided["visit"].role) == ("identifier", "quasi")
