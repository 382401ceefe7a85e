"""Results laid side by side, for people who decide by looking; computes nothing."""

from manyveils.errors import InputError, Problem

try:
    from manyveils.reports.given import refuse_damaged
    from manyveils.reports.page import Report, render
except ModuleNotFoundError as error:
    raise InputError(
        [
            Problem(
                "report",
                f"needs the library {error.name}, which is not installed.",
                "Install it with: pip install 'manyveils[report]'",
            )
        ]
    ) from None

__all__ = ["Report", "refuse_damaged", "render"]
