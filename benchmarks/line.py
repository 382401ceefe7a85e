"""A line of the table: what we need, what the reference needs, and whether that is what was wanted."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Line:
    """One comparison, as text; `met` is empty where nothing was asked for."""

    what: str
    ours: str
    reference: str = "–"
    ratio: str = "–"
    wanted: str = "–"
    met: bool | None = None

    def with_ours(self, text: str) -> "Line":
        """The same line with something added to what is ours."""
        return replace(self, ours=f"{self.ours}, {text}")

    def about(self, what: str) -> "Line":
        """The same line under another name."""
        return replace(self, what=what)


def seconds(value: float) -> str:
    """Seconds with three significant digits.

    >>> seconds(0.0512), seconds(12.345), seconds(1234.5)
    ('0.0512 s', '12.3 s', '1,234 s')
    """
    return f"{value:,.0f} s" if value >= 100 else f"{value:#.3g} s"


def times(value: float) -> str:
    """A factor with few digits."""
    return f"{value:,.0f} ×" if value >= 20 else f"{value:.2g} ×"


def faster(what: str, ours: float, reference: float, beside: str, at_least: float | None = None) -> Line:
    """A line that says how many times faster than the reference we are."""
    factor = reference / ours
    wanted = "–" if at_least is None else f"≥ {at_least:g} × faster"
    met = None if at_least is None else factor >= at_least
    return Line(what, seconds(ours), f"{seconds(reference)} {beside}", f"{times(factor)} faster", wanted, met)


def within(what: str, ours: float, reference: float, beside: str, at_most: float | None = None) -> Line:
    """A line that says how many times the reference's time we take."""
    factor = ours / reference
    wanted = "–" if at_most is None else f"≤ {at_most:g} × the time"
    met = None if at_most is None else factor <= at_most
    return Line(
        what, seconds(ours), f"{seconds(reference)} {beside}", f"{times(factor)} the time", wanted, met
    )


def under(what: str, ours: float, at_most: float) -> Line:
    """A line with a limit in seconds."""
    return Line(what, seconds(ours), wanted=f"< {at_most:g} s", met=ours < at_most)


def at_least(what: str, ours: float, least: float) -> Line:
    """A line with a share that should be high enough."""
    return Line(what, f"{ours:.4f}", wanted=f"≥ {least:g}", met=ours >= least)


def noted(what: str, ours: float) -> Line:
    """A line that tells a time nobody set a limit for."""
    return Line(what, seconds(ours))


def checked(what: str, ours: str, reference: str, *, met: bool) -> Line:
    """A line about two numbers that should be the same."""
    return Line(what, ours, reference, wanted="the same", met=met)


def skipped(what: str, reason: str) -> Line:
    """A line for what could not be measured here."""
    return Line(what, f"skipped: {reason}")
