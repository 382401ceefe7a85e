"""The small tables on which the papers explain themselves, as far as their text still shows them."""

import polars as pl

from manyveils.datasets.draws import facts

Rule = dict[str, object]


def codip_patients() -> pl.DataFrame:
    """Four patients with three sensitive attributes: CODIP (paper 000), Table 1(a)."""
    return _table("codip_patients")


def alpha_beta_k_group() -> pl.DataFrame:
    """One group that leaks when a salary is ruled out: (alpha, beta, k)-anonymity (paper 001)."""
    return _table("alpha_beta_k_group")


def versatile_patients() -> pl.DataFrame:
    """Six discharges: versatile publishing (paper 002), Table 1, restored where the print is garbled."""
    return _table("versatile_patients")


def versatile_rules() -> list[Rule]:
    """List the three rules of versatile publishing's running example (paper 002) as a policy does."""
    return [
        {"given": ["age", "icd"], "protect": "race"},
        {"given": ["gender", "icd"], "protect": "zipcode"},
        {"given": ["hospital", "race"], "protect": "zipcode"},
    ]


def slicing_patients() -> pl.DataFrame:
    """Eight patients in two buckets of four: slicing (paper 003), Table 1(a)."""
    return _table("slicing_patients")


def grading_patients() -> pl.DataFrame:
    """Seven patients with disease and income: grading (paper 004), Table I; Table II has their quasi-identifiers."""
    return _table("grading_patients")


def grading_three_anonymous() -> pl.DataFrame:
    """The same in two groups of three and four: grading (paper 004), Table III."""
    return _table("grading_three_anonymous")


def grading_two_diverse() -> pl.DataFrame:
    """The same in groups with two diseases or more: grading (paper 004), Table IV."""
    return _table("grading_two_diverse")


def _table(name: str) -> pl.DataFrame:
    table = getattr(facts("papers.toml"), name)
    return pl.DataFrame(table["rows"], schema=table["attributes"], orient="row")
