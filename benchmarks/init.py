"""How long `init` looks at a million rows, beside reading them."""

from collections.abc import Iterator
from functools import partial

import polars as pl

from benchmarks import adult, million
from benchmarks.clock import best
from benchmarks.line import Line, skipped, under, within
from benchmarks.setting import Setting
from manyveils.profiling import Profile, profile

READ = "Polars read_csv"
FEW = 2


def lines(setting: Setting) -> Iterator[Line]:
    """Time the profile of a million rows with a name, a key and nine attributes, and its policy."""
    if not adult.is_here():
        yield skipped("init, a million rows", adult.MISSING)
        return
    file = setting.folder / "named.csv"
    frame = million.replicated(adult.read(), adult.COPIES).with_row_index("record")
    frame.with_columns(pl.format("Person {}", pl.col("record") % 700_001).alias("name")).write_csv(file)
    reading, _ = best(partial(pl.read_csv, file), repetitions=FEW)
    looking, found = best(partial(profile, file), repetitions=FEW)
    writing, _ = best(partial(Profile.policy_text, found), repetitions=FEW)
    what = f"init, {found.n_rows:,} rows, {len(found.facts)} columns"
    yield within(what, looking, reading, READ, 20)
    yield under(f"{what}, the profile", looking, 10)
    yield under(f"{what}, the policy's text", writing, 1)
