"""What someone believes of a person whom she knows by some attributes, over all possible worlds."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from manyveils.attacks.people import Ids
from manyveils.attacks.worlds.covers import Covers
from manyveils.attacks.worlds.solve import Solution


def beliefs_in(
    solution: Solution, covers: Mapping[str, Covers], profiles: Mapping[str, Ids], n: int, about: str
) -> pl.DataFrame:
    """What is believed of people with each of n profiles: profile, value, belief.

    A profile is a code for each attribute that is known. A belief is the share of people with a value among all who
    have the profile, over all worlds; a profile that nobody can have is left out.
    """
    totals = _totals(solution, [*profiles, about])
    sets = [f"set: {name}" for name in profiles]
    matched = _matched(profiles, n, totals, covers)
    matched = matched.join(totals, on=sets, how="inner") if sets else matched.join(totals, how="cross")
    matched = matched.with_columns(belief=pl.col("belief") * pl.col("expected"))
    weighed = _weighed(matched, totals, about, covers, on=f"set: {about}")
    beliefs = _summed(weighed.rename({f"code: {about}": "value"}), ["profile", "value"])
    whole = _summed(beliefs, ["profile"]).rename({"belief": "whole"})
    beliefs = beliefs.join(whole, on="profile").filter(pl.col("whole") > 0)
    return beliefs.select("profile", "value", pl.col("belief") / pl.col("whole")).sort("profile", "value")


def _summed(frame: pl.DataFrame, keys: Sequence[str], name: str = "belief") -> pl.DataFrame:
    """A sum for every different key, added up in one order, so that no digit depends on how many threads there are."""
    ordered = frame.sort([*keys, *(column for column in frame.columns if column not in keys)])
    if not ordered.height:
        return ordered.select(*keys, name)
    changes = ordered[1:, [*keys]] != ordered[:-1, [*keys]]
    is_first = np.append(True, changes.fold(lambda left, right: left | right).to_numpy())
    sums = np.add.reduceat(ordered[name].to_numpy(), np.flatnonzero(is_first))
    return ordered.filter(pl.Series(is_first)).select(*keys, pl.Series(name, sums))


def _totals(solution: Solution, names: Sequence[str]) -> pl.DataFrame:
    """The people of all kinds that leave open the same originals."""
    frame = pl.DataFrame({f"set: {name}": solution.kinds.sets[name] for name in names})
    frame = frame.with_columns(expected=pl.Series(solution.expected)).filter(pl.Series(solution.possible))
    return _summed(frame, [f"set: {name}" for name in names], "expected")


def _matched(
    profiles: Mapping[str, Ids], n: int, totals: pl.DataFrame, covers: Mapping[str, Covers]
) -> pl.DataFrame:
    """The sets of originals that may stand for each profile, and which part of them it is."""
    codes = {f"code: {name}": own for name, own in profiles.items()}
    matched = pl.DataFrame({"profile": np.arange(n), **codes, "belief": np.ones(n)})
    sets: list[str] = []
    for name in profiles:
        matched = _weighed(matched, totals, name, covers, on=f"code: {name}").drop(f"code: {name}")
        sets.append(f"set: {name}")
        matched = matched.join(totals.select(sets).unique(), on=sets, how="semi")
    return matched


def _weighed(
    frame: pl.DataFrame, totals: pl.DataFrame, name: str, covers: Mapping[str, Covers], on: str
) -> pl.DataFrame:
    """Rows joined with the originals of the sets of one attribute, each believed by its share of the set."""
    members = covers[name].members(totals[f"set: {name}"].to_numpy())
    members = members.rename({"set": f"set: {name}", "original": f"code: {name}"})
    joined = frame.join(members, on=on, how="inner")
    return joined.with_columns(belief=pl.col("belief") * pl.col("share")).drop("share")
