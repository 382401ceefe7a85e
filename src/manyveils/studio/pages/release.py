"""Release: the folder is written as the command line would write it, audited, and reported on."""

from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from nicegui import ui

from manyveils.studio.pages.layout import element, follow, html, places, show_problems, table, telling
from manyveils.studio.work import Job
from manyveils.studio.workbench import Workbench, command


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    _policy_file(bench)
    out = ui.input("Release folder", value=str(bench.folder / "release")).classes("wide")
    seed = ui.number("Seed (for tests only; empty: none)", min=0, step=1).classes("wide")
    html("p", "The command that does the same:")
    words = html("pre", "").classes("command").props("tabindex=0")

    def number() -> int | None:
        return None if seed.value is None else int(seed.value)

    def asked() -> str:
        return command(bench, Path(out.value or "release"), number())

    def tell() -> None:
        words.content = escape(asked())

    out.on_value_change(tell)
    seed.on_value_change(tell)
    tell()
    with element("div", css="row"):
        ui.button("Write the release", on_click=lambda: begin()).classes("main")
        ui.button("Copy the command", on_click=lambda: ui.clipboard.write(asked()))
    running, refused, done = places()

    def begin() -> None:
        refused.clear()
        with refused, telling():
            if not out.value or not Path(out.value).is_absolute():
                out.value = str(bench.folder / (out.value or "release"))
            bench.release(Path(out.value), number())
            watch()

    def report() -> None:
        with refused, telling():
            bench.report()
            watch()

    def watch() -> None:
        with running:
            for job in (bench.publishing, bench.reporting):
                if job is not None and job.is_running:
                    follow(job, ended)

    def ended(job: Job) -> None:
        cancelled = "Cancelled; nothing was left behind." if job.is_cancelled else ""
        show_problems(refused, job.problems, cancelled, heading=job.heading)
        lay_out()

    def lay_out() -> None:
        done.clear()
        with done:
            if bench.published is not None:
                _published(bench, bench.published, report)

    lay_out()
    watch()


def _policy_file(bench: Workbench) -> None:
    """What is written first, and where."""
    html(
        "p",
        "The policy is written first, then the release: it appears whole once its files have been audited, or not at all.",
    )
    policy = ui.input("Policy file", value=str(bench.policy_file)).classes("wide").props("readonly")
    policy.props["hint"] = "Written beside the data, so that it can be used again."


def _published(bench: Workbench, told: Mapping[str, Any], report: Callable[[], None]) -> None:
    """The audit that let the release appear, and its report."""
    audit = told["audit"]
    html("h2", "The release")
    manifest = told["manifest"]
    kept = "Every promise is kept." if audit["kept"] else "A promise is broken."
    html(
        "p", f"{kept} {manifest['rows']:,} rows are published, {manifest['suppressed']:,} were left out."
    ).classes("fine")
    html("p", f"It is in {told['folder']}; audit and plan are in {told['private']}, which stays with you.")
    rows = [
        [
            own["promise"],
            own["attribute"],
            own["view"],
            own["reading"],
            own["required"],
            own["measured"],
            own["kept"],
        ]
        for own in audit["findings"]
        if own.get("promised", True)
    ]
    table("Audit", ["promise", "about", "in", "against", "required", "measured", "kept"], rows)
    job = bench.reporting
    if job is not None and job.result is not None:
        ui.link("Open the report", "/report", new_tab=True)
    elif job is None or not job.is_running:
        ui.button("Write the report (attacks are tried; may take a while)", on_click=report)
