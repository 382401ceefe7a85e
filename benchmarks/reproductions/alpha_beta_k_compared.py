"""The figures of the (α,β,k) paper beside what came out here."""

from collections.abc import Callable

from benchmarks.reproductions.alpha_beta_k_figures import Found, Sweep
from benchmarks.reproductions.alpha_beta_k_trials import BY_SIZE, EXPONENTIAL, KL, OURS, Trial
from benchmarks.reproductions.figures import Figure, near, rises
from manyveils.datasets import alpha_beta_k_group
from manyveils.datasets.registry import SENSITIVE

THEIRS = (
    "(α,β,k) promises all that k-ℓ promises, so that it cannot cost less when both divide alike; "
    "the paper's k-ℓ must be another, and Exponential-ℓ has no release, so that groups of its least size stand for it"
)
GROWING = {"ℓ": "l", "k": "k", "i": "number of attributes"}


def table_1() -> Figure:
    """The sensitive attributes of the registry."""
    paper = ("topography", "histology", "survival", "diagnos", "age", "size")
    told = ", ".join(SENSITIVE)
    return Figure(
        "table 1",
        "sensitive attributes of the registry",
        [("six attributes in this order", len(SENSITIVE) == len(paper) and all(one in own for one, own in zip(paper, SENSITIVE, strict=True)))],
        told,
    )  # fmt: skip


def worked() -> Figure:
    """The group of four that leaks when a salary is ruled out."""
    frame = alpha_beta_k_group()
    disease, salary = frame.columns[-2:]
    left = frame.filter(frame[salary].cast(str) != "6000")[disease].n_unique()
    return Figure("group of section 3", "a group that leaks", [("ruling out 6000 leaves one disease", left == 1)], f"{left} left")  # fmt: skip


def by_discernibility(number: int, sweep: Sweep, found: Found) -> Figure:
    """Figures 1 to 3."""
    lines = _lines(sweep, found, lambda trial: trial.discernibility)
    return Figure(f"figure {number}", f"discernibility by {GROWING[sweep.name]}", _claims(sweep, lines), _span(lines), THEIRS)  # fmt: skip


def by_distortion(number: int, sweep: Sweep, found: Found) -> Figure:
    """Figures 4 to 6."""
    lines = _lines(sweep, found, lambda trial: trial.t_disr)
    claims = (
        *_claims(sweep, lines),
        ("k-ℓ distorts less than Exponential-ℓ", _below(lines[KL], lines[BY_SIZE])),
    )
    return Figure(f"figure {number}", f"distortion ratio by {GROWING[sweep.name]}", claims, _span(lines), THEIRS)  # fmt: skip


def _lines(sweep: Sweep, found: Found, value: Callable[[Trial], float]) -> dict[str, list[float | None]]:
    return {
        name: [
            None if trial is None else value(trial) for trial in (found[asked, name] for asked in sweep.asked)
        ]
        for name in (OURS, KL, EXPONENTIAL, BY_SIZE)
    }


def _claims(sweep: Sweep, lines: dict[str, list[float | None]]) -> tuple[tuple[str, bool], ...]:
    grown = [[value for value in lines[name] if value is not None] for name in (OURS, KL, BY_SIZE)]
    claims = (
        (
            f"all three grow with {sweep.name}",
            all(rises(values) and values[-1] > values[0] for values in grown),
        ),
        ("(α,β,k) below k-ℓ", _below(lines[OURS], lines[KL])),
        ("(α,β,k) below Exponential-ℓ", _below(lines[OURS], lines[BY_SIZE])),
    )
    if sweep.name != "i":
        return claims
    return (*claims, ("all are similar at i = 1", all(near(values[0], grown[0][0]) for values in grown)))


def _below(ones: list[float | None], others: list[float | None]) -> bool:
    """Whether one line is below another wherever both have a release, leaving out where nothing tells them apart by size."""
    return all(one < other for one, other in zip(ones[1:], others[1:], strict=True) if one is not None and other is not None)  # fmt: skip


def _span(lines: dict[str, list[float | None]]) -> str:
    told = []
    for name, values in lines.items():
        there = [value for value in values if value is not None]
        told.append(f"{name} {there[0]:.3g} to {there[-1]:.3g}" if there else f"{name} none")
    return ", ".join(told)
