"""Every way of tampering with a finished folder is found, or is argued harmless in docs/weaknesses.md."""

import csv
import json
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import manyveils as mv
from manyveils.release.folder import AS_PUBLISHED
from manyveils.release.ledger import digest_of
from manyveils.release.placements import private_folder
from tests.golden.cases import CASES, FOLDER, table

RELEASES = (
    "mondrian",
    "generalize-suppressed",
    "anatomize",
    "slice",
    "codip",
    "guardian-rules",
    "alpha-beta-k",
    "grade-generalize",
    "separate",
)
WEAKNESSES = (Path(__file__).parents[2] / "docs" / "weaknesses.md").read_text(encoding="utf-8")
SENSITIVE = ("ill", "income", "blood")


class Folder:
    """A release folder that is tampered with; what a way does not find in it, it says by StopIteration."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def manifest(self) -> Any:
        """The manifest."""
        return json.loads((self.path / "release.json").read_text(encoding="utf-8"))

    def declare(self, change: Callable[[Any], object]) -> None:
        """Change the manifest, and write it as it is always written."""
        document = self.manifest
        change(document)
        text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
        (self.path / "release.json").write_text(text, encoding="utf-8")

    def columns(self, *, bucketed: bool | None = None) -> Any:
        """The files of columns and their attributes."""
        for view in self.manifest["views"]:
            if bucketed is None or view["bucketed"] == bucketed:
                for column in view["columns"]:
                    yield self.path / column["file"], column["attributes"]

    def rewrite(self, file: Path, change: Callable[[list[list[str]], list[str]], Any]) -> None:
        """Change the records of a table, and write them sorted as they are always written."""
        with file.open(encoding="utf-8", newline="") as opened:
            header, *records = list(csv.reader(opened))
        changed = change(records, header) or records
        frame = pl.read_csv(file, infer_schema=False)
        types = {
            name: kind
            for view in self.manifest["views"]
            for column in view["columns"]
            for name, kind in column["types"].items()
        }
        data = {name: [record[place] or None for record in changed] for place, name in enumerate(header)}
        casts = {"integer": pl.Int64, "number": pl.Float64}
        kinds = {
            name: casts.get("integer" if name == "bucket" else types.get(name, "text"), pl.String)
            for name in header
        }
        frame = pl.DataFrame(data, schema=dict.fromkeys(header, pl.String)).cast(kinds).sort(header)
        frame.write_csv(file, null_value='""' if frame.width == 1 else None)


def swap_values(folder: Folder) -> None:
    """Two groups exchange a sensitive value."""
    file = next(
        file for file, names in folder.columns(bucketed=False) if {*names} & {*SENSITIVE} and len(names) > 1
    )

    def change(records: Any, header: list[str]) -> None:
        place = next(header.index(name) for name in SENSITIVE if name in header)
        others = [at for at in range(len(header)) if header[at] in ("age", "zip", "job")]
        first = records[0]
        second = next(
            r for r in records if r[place] != first[place] and any(r[at] != first[at] for at in others)
        )
        first[place], second[place] = second[place], first[place]

    folder.rewrite(file, change)


def shuffle_neutral(folder: Folder) -> None:
    """A neutral attribute is shuffled over all rows."""
    file = next(file for file, names in folder.columns() if "stay" in names and len(names) > 1)

    def change(records: Any, header: list[str]) -> None:
        values = [record[header.index("stay")] for record in records]
        random.Random(1).shuffle(values)
        for record, value in zip(records, values, strict=True):
            record[header.index("stay")] = value

    folder.rewrite(file, change)


def exchange(folder: Folder, wanted: tuple[str, ...]) -> None:
    """Two buckets exchange a row of one column."""
    file = next(file for file, names in folder.columns(bucketed=True) if {*names} & {*wanted})

    def change(records: Any, header: list[str]) -> None:
        first = records[0]
        second = next(record for record in records if record[0] != first[0] and record[1:] != first[1:])
        first[1:], second[1:] = second[1:], first[1:]

    folder.rewrite(file, change)


def number_buckets_by_content(folder: Folder) -> None:
    """Bucket numbers follow the first attribute."""
    files = list(folder.columns(bucketed=True))
    first = pl.read_csv(next(iter(files))[0], infer_schema=False)
    order = (
        first.group_by("bucket")
        .agg(pl.col(first.columns[1]).min())
        .sort(first.columns[1])["bucket"]
        .to_list()
    )
    number = {bucket: str(place) for place, bucket in enumerate(order)}
    for file, _ in files:
        folder.rewrite(file, lambda records, _: [[number[record[0]], *record[1:]] for record in records])


def recoding(folder: Folder) -> Path:
    """A file that says what labels cover."""
    return next(iter(sorted((folder.path / "recodings").glob("*.csv"))))


def add_recoding_line(folder: Folder) -> None:
    """A label that occurs nowhere is said to cover something."""
    file = recoding(folder)
    header, *lines = file.read_text().splitlines()
    file.write_text("\n".join([header, *sorted([*lines, "zzz label;" + lines[0].rsplit(";", 1)[1]])]) + "\n")


def turn_recoding(folder: Folder) -> None:
    """The lines of a recoding stand in another order."""
    file = recoding(folder)
    header, *lines = file.read_text().splitlines()
    file.write_text("\n".join([header, *lines[::-1]]) + "\n")


def digits_in_grades(folder: Folder) -> None:
    """Grades get more decimals, which could be those of the original, and keep their ranks."""
    secret = next(name for name in folder.manifest.get("secret", []) if name == "income")
    file = next(file for file, names in folder.columns() if secret in names)

    def change(records: Any, header: list[str]) -> None:
        place = header.index(secret)
        for record in records:
            if record[place]:
                record[place] = repr(float(record[place]) + 1e-9 * (1 + float(record[place]) % 1))

    folder.rewrite(file, change)


def said(change: Callable[[Any], object]) -> Callable[[Folder], None]:
    """The manifest says something else."""
    return lambda folder: folder.declare(change)


def with_type(document: Any, told: str) -> None:
    """A type is another text."""
    types = next(c["types"] for view in document["views"] for c in view["columns"] if c["types"])
    types[next(iter(types))] = told


def with_kind(document: Any) -> None:
    """A kind is another one."""
    kinds = document["kinds"]
    name = next(name for name in kinds if kinds[name] == "categorical")
    kinds[name] = "ordinal"


def rename_view(folder: Folder) -> None:
    """A view's name is a message."""
    folder.declare(
        lambda document: [
            entry.update(name="Maria has the flu")
            if "name" in entry
            else entry.update(view="Maria has the flu")
            for entry in [
                document["views"][0],
                *[r for r in document["recodings"] if r["view"] == document["views"][0]["name"]],
            ]
        ]
    )


def rename_file(folder: Folder) -> None:
    """A file's name is a message."""
    column = folder.manifest["views"][0]["columns"][0]
    old, new = column["file"], "tables/Maria-has-the-flu.csv"
    (folder.path / old).rename(folder.path / new)
    folder.declare(lambda document: document["views"][0]["columns"][0].update(file=new))


def add_type_of_nothing(document: Any) -> None:
    """A default is written out."""
    column = next(c for view in document["views"] for c in view["columns"] if len(c["attributes"]) > 1)
    column["types"] = {name: column["types"].get(name, "text") for name in reversed(column["attributes"])}


def renamed_attribute(folder: Folder) -> None:
    """An attribute has another name."""
    file, names = next(iter(folder.columns()))
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(names[0], "Maria", 1), encoding="utf-8")
    folder.declare(lambda document: document["views"][0]["columns"][0]["attributes"].__setitem__(0, "Maria"))


def enforced(document: Any) -> None:
    """A rule that a view enforces has a message for its l."""
    view = next(view for view in document["views"] if view["enforces"])
    view["enforces"]["l"] = 70_117


def append_bytes(folder: Folder) -> None:
    """Something stands after the end of a table."""
    file = next(iter(folder.columns()))[0]
    file.write_bytes(file.read_bytes() + b"\n")


def bits(folder: Folder) -> None:
    """Permissions tell something."""
    for number, (file, _) in enumerate(folder.columns()):
        file.chmod(0o644 if number % 2 else 0o600)


def times(folder: Folder) -> None:
    """File times tell something."""
    for number, (file, _) in enumerate(folder.columns()):
        os.utime(file, (47_906 + number, 47_906 + number))


def linked(folder: Folder) -> None:
    """A table is a link to a file elsewhere."""
    file = next(iter(folder.columns()))[0]
    shutil.move(file, folder.path.parent / "elsewhere.csv")
    file.symlink_to(folder.path.parent / "elsewhere.csv")


WAYS: dict[str, Callable[[Folder], None]] = {
    "sensitive values swapped between groups": swap_values,
    "a neutral attribute shuffled": shuffle_neutral,
    "rows of quasi-identifiers exchanged between buckets": lambda folder: exchange(
        folder, ("age", "zip", "job")
    ),
    "sensitive rows exchanged between buckets": lambda folder: exchange(folder, SENSITIVE),
    "bucket numbers that follow the content": number_buckets_by_content,
    "recoding lines for values that occur nowhere": add_recoding_line,
    "an order of recoding lines that tells": turn_recoding,
    "digits in grades": digits_in_grades,
    "k edited upwards": said(
        lambda d: d["promises"].insert(0, {"kind": "k-anonymity", "parameters": {"k": 97}})
    ),
    "promises in another order": said(
        lambda d: d["promises"].reverse() if len(d["promises"]) > 1 else next(iter(()))
    ),
    "a promise invented": said(
        lambda d: d["promises"].append({"kind": "safe", "parameters": {"note": "Maria has the flu"}})
    ),
    "free text for the method": said(lambda d: d.update(method="Maria has the flu")),
    "free text for a type": said(lambda d: with_type(d, "Maria has the flu")),
    "another type": said(lambda d: with_type(d, "date")),
    "types written otherwise": said(add_type_of_nothing),
    "free text for a kind": said(lambda d: d["kinds"].update({next(iter(d["kinds"])): "Maria"})),
    "another kind": said(with_kind),
    "a kind of nothing": said(lambda d: d["kinds"].update({"Maria has the flu": "numeric"})),
    "a level of nothing": said(lambda d: d.update(levels={"Maria has the flu": 3})),
    "a derived attribute of nothing": said(
        lambda d: d.update(derived={**d.get("derived", {}), "Maria": ["has the flu"]})
    ),
    "a secret of nothing": said(lambda d: d.update(secret=[*d.get("secret", []), "Maria has the flu"])),
    "a rule with a message": said(enforced),
    "other numbers of rows": said(lambda d: d.update(rows=d["rows"] - 1, suppressed=d["suppressed"] + 1)),
    "free text for a view": rename_view,
    "free text for a file": rename_file,
    "free text for an attribute": renamed_attribute,
    "free text for a format": said(lambda d: d.update(format="manyveils-release/1 Maria")),
    "a key more": said(lambda d: d.update(note="Maria has the flu")),
    "a line more": append_bytes,
    "a file more": lambda folder: (folder.path / "tables" / "more.csv").write_text("a\n"),
    "a hidden file more": lambda folder: (folder.path / ".more").write_text("a\n"),
    "a link": linked,
    "permissions": bits,
    "file times": times,
}
# What only the digest in the private folder finds, and what nothing does; each with the words that argue it.
BY_DIGEST = {
    "sensitive values swapped between groups": "which code is whose",
    "rows of quasi-identifiers exchanged between buckets": "exchanged rows of one column",
    "sensitive rows exchanged between buckets": "exchanged rows of one column",
    "bucket numbers that follow the content": "Bucket numbers",
}
HARMLESS = {"permissions": "File times and permissions", "file times": "File times and permissions"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The original of all releases."""
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text(table(), encoding="utf-8")
    return path


def is_found(out: Path, source: Path, name: str) -> bool:
    """Whether the audit refuses the folder, or finds something broken."""
    wanted = mv.Policy(**{**CASES[name], "data": {**CASES[name]["data"], "source": str(source)}})
    try:
        return not mv.audit(out, source, wanted).kept
    except mv.DataError:
        return True


@pytest.mark.parametrize("name", RELEASES)
def test_untouched(tmp_path: Path, source: Path, name: str) -> None:
    """What nobody touched is kept."""
    shutil.copytree(FOLDER / name, tmp_path / "out")
    assert not is_found(tmp_path / "out", source, name)


@pytest.mark.parametrize("way", WAYS)
def test_found_or_argued_harmless(tmp_path: Path, source: Path, way: str) -> None:
    """Each way is found in every release that it can be done to, from the files and the original, or is argued harmless."""
    n_done = 0
    for name in RELEASES:
        out = tmp_path / name
        shutil.copytree(FOLDER / name, out)
        published_as = digest_of(out)
        try:
            WAYS[way](Folder(out))
        except (StopIteration, KeyError, FileNotFoundError):
            continue
        n_done += 1
        is_seen = is_found(out, source, name)
        if way in HARMLESS:
            assert not is_seen
            assert HARMLESS[way] in WEAKNESSES
        elif way not in BY_DIGEST:
            assert is_seen, name
        elif not is_seen:
            assert BY_DIGEST[way] in WEAKNESSES
            private_folder(out).mkdir()
            (private_folder(out) / AS_PUBLISHED).write_text(published_as + "\n")
            assert is_found(out, source, name), name
    assert n_done
