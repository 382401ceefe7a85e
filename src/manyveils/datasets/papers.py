"""The small tables on which the papers explain themselves, as far as their text still shows them."""

import polars as pl

Rule = dict[str, object]


def codip_patients() -> pl.DataFrame:
    """Four patients with three sensitive attributes: CODIP (paper 000), Table 1(a)."""
    return _table(
        ["race", "gender", "diagnosis", "family_history", "job"],
        [
            ("white", "f", "HT", "HT", "teacher"),
            ("white", "m", "HT", "DB", "lawyer"),
            ("white", "m", "DB", "HT", "farmer"),
            ("black", "m", "AS", "AS", "teacher"),
        ],
    )


def alpha_beta_k_group() -> pl.DataFrame:
    """One group that leaks when a salary is ruled out: (alpha, beta, k)-anonymity (paper 001)."""
    return _table(
        ["disease", "salary"],
        [("Headache", 6000), ("Paranoia", 6000), ("Depression", 5000), ("Depression", 7000)],
    )


def versatile_patients() -> pl.DataFrame:
    """Six discharges: versatile publishing (paper 002), Table 1, restored where the print is garbled."""
    return _table(
        ["hospital", "age", "gender", "zipcode", "race", "icd"],
        [
            ("111111", 37, "F", "71000", "asian", "HIV"),
            ("111111", 71, "M", "72000", "white", "diabetes"),
            ("222222", 55, "F", "73000", "black", "diabetes"),
            ("222222", 37, "F", "74000", "white", "flu"),
            ("333333", 23, "M", "71000", "black", "alcoholism"),
            ("333333", 37, "M", "72000", "white", "HIV"),
        ],
    )


def versatile_rules() -> list[Rule]:
    """List the three rules of versatile publishing's running example (paper 002) as a policy does."""
    return [
        {"given": ["age", "icd"], "protect": "race"},
        {"given": ["gender", "icd"], "protect": "zipcode"},
        {"given": ["hospital", "race"], "protect": "zipcode"},
    ]


def slicing_patients() -> pl.DataFrame:
    """Eight patients in two buckets of four: slicing (paper 003), Table 1(a)."""
    return _table(
        ["age", "sex", "zipcode", "disease"],
        [
            (22, "M", "47906", "Dyspepsia"),
            (22, "F", "47906", "Flu"),
            (33, "F", "47905", "Flu"),
            (52, "F", "47905", "Bronchitis"),
            (54, "M", "47302", "Flu"),
            (60, "M", "47302", "Dyspepsia"),
            (60, "M", "47304", "Dyspepsia"),
            (64, "F", "47304", "Gastritis"),
        ],
    )


def _table(names: list[str], rows: list[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=names, orient="row")
