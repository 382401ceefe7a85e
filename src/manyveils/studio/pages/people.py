"""Who stands out: how many people are alone or nearly so, what singles them out, and what is certain of them already."""

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import run, ui

from manyveils.profiling.guesses import percent
from manyveils.studio import standing
from manyveils.studio.pages.layout import html, table
from manyveils.studio.workbench import Workbench

MOST_K = 50
SLIDER = "Smallest group allowed (k)"


@dataclass
class Asked:
    """What is looked at: what may be known, the smallest group allowed, and the people who are alike then."""

    names: tuple[str, ...]
    crowds: standing.Crowds
    k: int = 5


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    people = bench.people()
    quasi = bench.chosen("quasi")
    asked = Asked(quasi, standing.crowds_of(people, quasi))
    hidden = {*bench.chosen("identifier"), *bench.chosen("sensitive")}
    html(
        "p",
        "Somebody who knows a few things of a person looks her up in the table as it is. These are her chances, before any method.",
    )
    ui.select(
        [name for name in people.attributes if name not in hidden],
        label="What may be known of a person",
        value=list(quasi),
        multiple=True,
        on_change=lambda event: look(tuple(event.value)),
    ).classes("wide").props("use-chips")
    said = html("p", "").classes("verdict").props("aria-live=polite")
    ui.label(SLIDER)
    slider = ui.slider(min=2, max=MOST_K, value=asked.k, on_change=lambda event: slide(int(event.value)))
    slider.props("label-always").props["aria-label"] = SLIDER
    below = html("p", "").classes("below").props("aria-live=polite")
    rest = ui.column().classes("wide")

    def slide(k: int) -> None:
        asked.k = k
        below.content = f"{_of(asked.crowds.below(k), people.n_persons)} stand in groups of fewer than {k}."

    def count() -> None:
        alone = _of(asked.crowds.alone, people.n_persons)
        said.content = f"{alone} are alone: nobody else looks like them."
        slide(asked.k)

    async def look(names: tuple[str, ...]) -> None:
        asked.names = names
        crowds = await run.io_bound(standing.crowds_of, people, names)
        if crowds is not None and names == asked.names:
            asked.crowds = crowds
            count()
            await details()

    async def details() -> None:
        names = asked.names
        told = await run.io_bound(_details, people, names, bench.chosen("sensitive"))
        if told is not None and names == asked.names:
            rest.clear()
            with rest:
                _show_details(*told, people.n_persons)

    count()
    ui.timer(0.1, details, once=True)


def _of(n: int, n_persons: int) -> str:
    return f"{n:,} of {n_persons:,} people ({percent(n / max(n_persons, 1))})"


Details = tuple[list[standing.Telling], dict[str, float], list[standing.Certain]]


def _details(people: standing.People, names: tuple[str, ...], sensitive: tuple[str, ...]) -> Details:
    return (
        standing.most_telling(people, names),
        standing.singling_shares(people, names),
        standing.certain_by(people, names, sensitive),
    )


def _show_details(
    telling_most: list[standing.Telling],
    shares: dict[str, float],
    certain: list[standing.Certain],
    n_persons: int,
) -> None:
    rows = [[", ".join(own.names), own.alone, percent(own.alone / max(n_persons, 1))] for own in telling_most]
    table("People who are alone, by what is known", ["known", "alone", "share"], rows)
    if shares:
        parts = [[name, percent(share)] for name, share in shares.items()]
        table(
            "Which attributes single out (share of special uniques each is in)", ["attribute", "share"], parts
        )
    lines = [
        [own.attribute, own.n_persons, own.knowing, own.n_knowing if own.knowing else None] for own in certain
    ]
    header = ["sensitive attribute", "certain for people", "to who also knows", "certain then"]
    table("What is certain already", header, lines)
