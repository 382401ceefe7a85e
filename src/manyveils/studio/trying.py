"""A try: the policy is published in memory, judged, measured and attacked; what came of it, and what of it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from manyveils.comparing.ask import USUAL_ATTACKS, read_attacks
from manyveils.comparing.trial import Task, Trial, gains_of, tried
from manyveils.plain import readable
from manyveils.release import Release
from manyveils.studio.document import policy_of
from manyveils.studio.work import Draft, Progress
from manyveils.utility.portrait import portrait

ROWS_SHOWN = 8
PAIRS_SHOWN = 8
ATTACKED = {"usual": "the usual attacks", "all": "all attacks (slow)", "none": "no attack"}
THROUGH = ("broken", "not promised")


@dataclass(frozen=True)
class Wish:
    """What is asked of a try besides its release: which attacks, and what models should learn."""

    attacks: str = "usual"
    learn: str | None = None


def try_out(draft: Draft, wish: Wish, seed: int | None, progress: Progress) -> dict[str, Any]:
    """What came of a try; nothing is written."""
    policy = policy_of(draft.text, draft.folder, draft.name)
    attacks = USUAL_ATTACKS if wish.attacks == "usual" else read_attacks(wish.attacks)
    progress("reading", 0.0)
    trial = tried(Task(policy, None, seed, attacks, wish.learn, seed or 0), policy, progress)
    release = trial.release
    drawn = portrait(release, trial.table, policy)
    return {
        "method": release.manifest.method,
        "rows": release.rows,
        "suppressed": release.suppressed,
        "promises": release.manifest.promises,
        "levels": release.notes.get("levels"),
        "utility": dict(trial.utility) | _risks(trial),
        "attacks": trial.attacks,
        "notes": list(trial.notes),
        "groups": list(drawn.group_sizes),
        "associations": _strongest(drawn.associations),
        "views": _first_rows(release),
    }


def _risks(trial: Trial) -> dict[str, float]:
    """What attacks come to, in single numbers; nothing where none was tried or none applies."""
    applying = [outcome for outcome in trial.attacks.values() if outcome["applies"]]
    if not applying:
        return {}
    beliefs = [outcome["worst"] for outcome in applying if outcome["worst"] is not None]
    told = {"through": float(sum(outcome["standing"] in THROUGH for outcome in applying))}
    told["gain"] = max(gains_of(trial.attacks).values(), default=0.0)
    return told | ({"worst_belief": float(max(beliefs))} if beliefs else {})


def _strongest(matrices: Mapping[str, Any]) -> list[list[Any]]:
    """The pairs of attributes that go together most in the data, with how much they do before and after (Cramér's V)."""
    names = matrices["attributes"]
    pairs = [
        [f"{names[j]} and {names[i]}", matrices["before"][i][j], matrices["after"][i][j]]
        for i in range(len(names))
        for j in range(i)
    ]
    return sorted(pairs, key=lambda pair: -pair[1])[:PAIRS_SHOWN]


def _first_rows(release: Release) -> list[dict[str, Any]]:
    """The first rows of every view, in the order of the release, which has nothing to do with that of the data."""
    return [
        {"view": name, "header": list(frame.columns), "rows": _told(frame.head(ROWS_SHOWN).rows())}
        for name, frame in release.tables.items()
    ]


def _told(rows: list[tuple[object, ...]]) -> list[list[str]]:
    return [["–" if cell is None else str(cell) for cell in row] for row in rows]


def attack_rows(attacks: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """A row for each attack that was tried: what came of it, how often it was right, and how often guessing is."""
    return [
        [
            name,
            told["standing"],
            *(readable(told.get(key)) for key in ("success", "baseline", "worst", "certain", "targets")),
        ]
        for name, told in attacks.items()
    ]
