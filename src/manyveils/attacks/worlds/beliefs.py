"""What someone believes of a person whom she knows by some attributes, over all possible worlds."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from manyveils.attacks.worlds.covers import Covers
from manyveils.attacks.worlds.solve import Solution


def beliefs_in(
    solution: Solution,
    covers: Mapping[str, Covers],
    profiles: pl.DataFrame,
    given: Sequence[str],
    protects: Sequence[str],
) -> pl.DataFrame:
    """What is believed of people with each profile: profile, a code for each protected attribute, belief, possible.

    `profiles` has a code for each attribute given, in a column of its name, and `profile`. A belief is the share of
    people with a value among all who have the profile, over all worlds; a profile that nobody can have is left out.
    """
    keys = _totals(solution, [*given, *protects])
    found = _matched(profiles, keys, given, covers)
    on = [f"set: {name}" for name in given]
    found = found.join(keys, on=on, how="inner") if on else found.join(keys, how="cross")
    found = found.with_columns(pl.col("share") * pl.col("expected"))
    for name in protects:
        members = _members(keys, name, covers[name]).rename({"original": name})
        found = found.join(members, on=f"set: {name}", how="inner")
        found = found.with_columns(pl.col("share") * pl.col("part")).drop("part")
    found = _summed(found.rename({"share": "belief"}), ["profile", *protects], "belief")
    whole = _summed(found, ["profile"], "belief").rename({"belief": "whole"})
    found = found.join(whole, on="profile").filter(pl.col("whole") > 0)
    found = found.select("profile", *protects, belief=pl.col("belief") / pl.col("whole"), possible=True)
    return found.sort("profile", *protects)


def _summed(frame: pl.DataFrame, keys: Sequence[str], name: str) -> pl.DataFrame:
    """A sum for every different key, added up in one order, so that no digit depends on how many threads there are."""
    ordered = frame.sort([*keys, *(each for each in frame.columns if each not in keys)])
    if not keys or not ordered.height:
        return ordered.select(*keys, pl.lit(float(ordered[name].to_numpy().sum())).alias(name)).head(1)
    is_first = np.append(
        True, (ordered[1:, [*keys]] != ordered[:-1, [*keys]]).fold(lambda a, b: a | b).to_numpy()
    )
    sums = np.add.reduceat(ordered[name].to_numpy(), np.flatnonzero(is_first))
    return ordered.filter(pl.Series(is_first)).select(*keys, pl.Series(name, sums))


def _totals(solution: Solution, names: Sequence[str]) -> pl.DataFrame:
    """The people of all kinds that leave open the same originals."""
    frame = pl.DataFrame({f"set: {name}": solution.kinds.sets[name] for name in names})
    frame = frame.with_columns(expected=pl.Series(solution.expected)).filter(pl.Series(solution.possible))
    return _summed(frame, [f"set: {name}" for name in names], "expected")


def _matched(
    profiles: pl.DataFrame, keys: pl.DataFrame, given: Sequence[str], covers: Mapping[str, Covers]
) -> pl.DataFrame:
    """The sets of originals that may stand for each profile, and which part of them it is."""
    found = profiles.select("profile", *given, share=pl.lit(1.0))
    met: list[str] = []
    for name in given:
        members = _members(keys, name, covers[name]).rename({"original": name})
        found = found.join(members, on=name, how="inner")
        found = found.with_columns(pl.col("share") * pl.col("part")).drop("part", name)
        met.append(f"set: {name}")
        found = found.join(keys.select(met).unique(), on=met, how="semi")
    return found


def _members(keys: pl.DataFrame, name: str, covers: Covers) -> pl.DataFrame:
    members = covers.members(keys[f"set: {name}"].to_numpy()).rename({"set": f"set: {name}"})
    return members.with_columns(part=1 / pl.len().over(f"set: {name}"))
