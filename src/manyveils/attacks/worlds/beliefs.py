"""What someone believes of a person whom she knows by some attributes, over all possible worlds."""

from collections.abc import Mapping, Sequence

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
    found = found.group_by("profile", *protects).agg(
        belief=pl.col("share").sum(), possible=pl.col("possible").any()
    )
    whole = pl.col("belief").sum().over("profile")
    found = found.filter("possible", whole > 0).with_columns(belief=pl.col("belief") / whole)
    return found.sort("profile", *protects)


def _totals(solution: Solution, names: Sequence[str]) -> pl.DataFrame:
    """The people of all kinds that leave open the same originals."""
    frame = pl.DataFrame({f"set: {name}": solution.kinds.sets[name] for name in names})
    frame = frame.with_columns(
        expected=pl.Series(solution.expected), possible=pl.Series(solution.possible)
    ).filter("possible")
    return frame.group_by([f"set: {name}" for name in names]).agg(
        pl.col("expected").sum(), pl.col("possible").any()
    )


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
