"""The workbench: one table, one policy as text with its earlier states, and what has been done with them."""

import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from manyveils.comparing.workers import n_cores
from manyveils.errors import DataError, InputError, ManyveilsError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.policy.sections import Data
from manyveils.policy.shape import section_problems
from manyveils.profiling import Profile, profile
from manyveils.release.folder import write_file
from manyveils.studio import document, methods, picture, session, work
from manyveils.studio.hierarchies import Place
from manyveils.studio.lattice import Explorer, explore, find_optimum
from manyveils.studio.session import Session
from manyveils.studio.standing import People
from manyveils.studio.trying import ATTACKED, Wish, try_out
from manyveils.table import take_in
from manyveils.table.encode import persons_in

POLICY = "policy.toml"
FORM = ("delimiter", "encoding", "decimal", "thousands", "dates", "sheet", "table", "query")


@dataclass(frozen=True)
class Try:
    """A method that was tried, and the text it was tried with."""

    text: str
    job: work.Job


@dataclass
class Workbench:
    """One table and the policy for it; `text` is all that is chosen, and what is shown follows from it."""

    folder: Path
    name: str
    text: str
    frame: pl.DataFrame
    profile: Profile
    # The name of the data, seen from the policy.
    source: str = ""
    # The policy file as it was last read or written here; None where it is not written yet.
    saved: str | None = None
    earlier: list[str] = field(default_factory=list)
    tries: list[Try] = field(default_factory=list)
    publishing: work.Job | None = None
    reporting: work.Job | None = None
    # What is asked of tries, and how they are looked at.
    wish: Wish = field(default_factory=Wish)
    axes: tuple[str, str] = ("query_error", "worst_belief")
    looked_at: int = 0
    # The node of the lattice that is looked at, and the search for the optimum of one text.
    levels: dict[str, int] = field(default_factory=dict)
    _optimum: tuple[str, work.Job] | None = None
    _explorer: tuple[str, Explorer] | None = field(default=None, repr=False)
    # Whether the session is kept beside the policy, and as what it was last.
    is_kept: bool = True
    _session: str | None = field(default=None, repr=False)
    _about: str = ""
    _crew: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(n_cores()), repr=False)

    @property
    def sections(self) -> dict[str, Any]:
        """The sections of the text."""
        return document.sections_of(self.text, self.name)

    @property
    def policy_file(self) -> Path:
        """Where the policy is written."""
        return self.folder / self.name

    def change(self, text: str, about: str = "") -> None:
        """Take another text, which can be undone; one that is no TOML is refused.

        What is typed key by key is about one thing, and undone as one change.
        """
        document.sections_of(text, self.name)
        if text == self.text:
            return
        if not about or about != self._about:
            self.earlier.append(self.text)
        self.text, self._about = text, about
        self.keep()

    def undo(self) -> None:
        """Go back to the text before."""
        if self.earlier:
            self.text, self._about = self.earlier.pop(), ""
            self.keep()

    def choose(self, **chosen: Any) -> None:
        """Choose what is asked of tries, or what is looked at: `wish`, `axes` or `levels`."""
        for name, value in chosen.items():
            setattr(self, name, value)
        self.keep()

    def keep(self) -> None:
        """Keep the session beside the policy, unless that cannot be done or another studio does it."""
        if not self.is_kept:
            return
        kept = Session(
            source=self.source,
            text=self.text,
            saved=self.saved,
            earlier=tuple(self.earlier),
            attacks=self.wish.attacks,
            learn=self.wish.learn,
            axes=self.axes,
            levels=self.levels,
        )
        self._session = session.write(self.policy_file, kept, self._session)
        self.is_kept = self._session is not None

    def restore(self, kept: Session, there: str) -> None:
        """Go on with a session; a policy file that was changed since comes first, and undo leads back to the session."""
        self.earlier, self._session = list(kept.earlier), there
        if self.saved is None or self.saved == kept.saved:
            self.text = kept.text
        elif kept.text != self.text:
            self.earlier.append(kept.text)
        if kept.attacks in ATTACKED:
            self.wish = Wish(kept.attacks, kept.learn)
        if len(kept.axes) == 2 and all(map(picture.is_axis, kept.axes)):
            self.axes = kept.axes[0], kept.axes[1]
        self.levels = dict(kept.levels)

    def problems(self) -> Sequence[Problem]:
        """Everything that is wrong with the policy, as far as can be said without a method at work."""
        try:
            self.policy()
        except ManyveilsError as error:
            return error.problems
        return ()

    def policy(self) -> Policy:
        """The policy, or an error with all its problems."""
        return document.policy_of(self.text, self.folder, self.name)

    def people(self) -> People:
        """The columns that can be coded, and whose rows they are by the person key of the text."""
        facts = self.profile.facts
        coded = {name: own.attribute for name, own in facts.items() if own.attribute is not None}
        return People(coded, self._persons(), self.frame.height)

    def _persons(self) -> np.ndarray[Any, np.dtype[np.int64]] | None:
        names = document.person_in(self.sections)
        if not names:
            return None
        data = {"person": list(names), "missing_markers": list(self.profile.markers)}
        roles = {name: {"role": "identifier" if name in names else "neutral"} for name in self.frame.columns}
        return persons_in(self.frame, Policy(data=data, attributes=roles, _name=self.name))

    @property
    def place(self) -> Place:
        """The rows, whose they are, and where the policy stands."""
        return Place(self.frame, self._persons(), self.folder, self.name)

    def chosen(self, role: str) -> tuple[str, ...]:
        """The columns of a role that can be looked at."""
        held = self.people().attributes
        return tuple(name for name in document.having(self.sections, role) if name in held)

    def try_method(self, seed: int | None = None) -> Try:
        """Try the policy in a process of its own, as soon as a core is free."""
        self.policy()
        return self._try(self.text, seed)

    def try_ways(self, names: Sequence[str]) -> list[Try]:
        """Try the policy with other ways to publish; those that it contradicts are refused at once."""
        ways = methods.offered()
        return [self._try(document.with_method(self.text, *ways[name]), None) for name in names]

    def _try(self, text: str, seed: int | None) -> Try:
        draft = work.Draft(text, self.folder, self.name)
        tried = Try(text, work.prepare("The method", try_out, draft, self.wish, seed))
        self.tries.append(tried)
        self._crew.submit(tried.job.finish)
        return tried

    def explorer(self) -> Explorer:
        """The lattice of the policy as it stands; made once for a text."""
        if self._explorer is None or self._explorer[0] != self.text:
            text = self.text
            self._explorer = text, explore(self.frame, self.policy())
        return self._explorer[1]

    def node_in(self, explorer: Explorer) -> tuple[int, ...]:
        """The node that was looked at last, as far as the lattice has it."""
        told = zip(explorer.names, explorer.shape, strict=True)
        return tuple(min(self.levels.get(name, 0), size - 1) for name, size in told)

    @property
    def optimum(self) -> work.Job | None:
        """The search for the optimum of the policy as it stands, if there was one."""
        return self._optimum[1] if self._optimum and self._optimum[0] == self.text else None

    def find_optimum(self) -> work.Job:
        """Begin to search for the levels that publishing would choose."""
        self.policy()
        if self._optimum is not None:
            self._optimum[1].cancel()
        draft = work.Draft(self.text, self.folder, self.name)
        self._optimum = self.text, work.start("The search", find_optimum, draft)
        return self._optimum[1]

    def save(self) -> None:
        """Write the policy; a file that somebody else wrote or changed stays as it is."""
        if self.policy_file.exists():
            if self.saved == self.text == self.policy_file.read_text(encoding="utf-8-sig"):
                return
            there = self.policy_file.read_text(encoding="utf-8-sig")
            if there not in (self.saved, self.text):
                what = "is there already, and was not written here."
                raise InputError.at(str(self.policy_file), what, "Choose another name for the policy.")
        write_file(self.policy_file, self.text, force=True)
        self.saved = self.text
        self.keep()

    def release(self, out: Path, seed: int | None = None) -> work.Job:
        """Write the policy, and begin to publish it into a folder."""
        if self.publishing is not None and self.publishing.is_running:
            raise InputError("A release is being written; wait for it, or cancel it.")
        self.policy()
        if out.exists():
            raise InputError.at(str(out), "is there already.", "Choose another folder.")
        self.save()
        self.reporting = None
        self.publishing = work.start("The release", work.write_release, self.policy_file, out, seed)
        return self.publishing

    def report(self) -> work.Job:
        """Begin to write the report of the release that was published last."""
        published = self.published
        if published is None:
            raise InputError("There is no release yet; write one first.")
        out, private = Path(published["folder"]), Path(published["private"])
        self.reporting = work.start("The report", work.write_report, self.policy_file, out, private)
        return self.reporting

    @property
    def published(self) -> Mapping[str, Any] | None:
        """The release that was published last, as the command line describes it."""
        return None if self.publishing is None else self.publishing.result

    def stop(self) -> None:
        """End what is being tried; a release that is being written is cancelled without a trace."""
        jobs = [tried.job for tried in self.tries]
        for job in (*jobs, self.publishing, self.reporting, self._optimum and self._optimum[1]):
            if job is not None:
                job.cancel()
        self._crew.shutdown(wait=False, cancel_futures=True)


def command(bench: Workbench, out: Path, seed: int | None = None) -> str:
    """The command that writes the same release."""
    words = ["manyveils", "publish", str(bench.policy_file), "--out", str(out)]
    return shlex.join(words if seed is None else [*words, "--seed", str(seed)])


def open_workbench(place: Path) -> Workbench:
    """A workbench for data, or for a policy that says where its data are."""
    place = place.resolve()
    if place.suffix.lower() == ".json":
        raise InputError.at(
            str(place), "the studio edits policies as TOML.", "Write it as TOML, or name the data."
        )
    return _for_policy(place) if place.suffix.lower() == ".toml" else _for_data(place)


def _for_data(place: Path) -> Workbench:
    looked = profile(place)
    frame, _ = take_in(place, looked.form)
    name, kept = _session_for(place)
    bench = Workbench(place.parent, name, looked.policy_text(place.name), frame, looked, place.name)
    if kept is not None:
        bench.saved = _text_of(bench.policy_file) if bench.policy_file.exists() else None
        if bench.saved is not None:
            bench.text = bench.saved
        bench.restore(*kept)
    return bench


def _session_for(place: Path) -> tuple[str, tuple[Session, str] | None]:
    """The name of the policy for data: that of a session about them, or else one that is not taken."""
    names = (POLICY, f"{place.stem}.{POLICY}")
    for name in names:
        kept = session.read(place.parent / name)
        if kept is not None and kept[0].source == place.name:
            return name, kept
    return next((name for name in names if not (place.parent / name).exists()), names[-1]), None


def _for_policy(place: Path) -> Workbench:
    text = _text_of(place)
    section = document.sections_of(text, place.name).get("data")
    data = section if isinstance(section, Mapping) else {}
    source = data.get("source")
    if not isinstance(source, str):
        raise DataError.at(f"{place.name}: data.source", "is not set.", "Say where the data are.")
    if "://" in source:
        remedy = "Save what you need of it as a file, or use the command line."
        raise DataError.at(f"{place.name}: data.source", "the studio reads files only.", remedy)
    form = {key: data[key] for key in FORM if key in data}
    PolicyError.refuse(section_problems(Data, form, f"{place.name}: data"))
    looked = profile(place.parent / source, form=form)
    frame, _ = take_in(place.parent / source, looked.form)
    bench = Workbench(place.parent, place.name, text, frame, looked, source, saved=text)
    kept = session.read(place)
    if kept is not None:
        bench.restore(*kept)
    return bench


def _text_of(place: Path) -> str:
    try:
        return place.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise PolicyError.at(str(place), "there is no such policy file.", "Check the path.") from None
    except (OSError, ValueError):
        raise PolicyError.at(str(place), "cannot be read as UTF-8 text.") from None
