"""Results laid side by side, for people who decide by looking; computes nothing."""

from manyveils.errors import InputError

try:
    from manyveils.reports.given import started
    from manyveils.reports.page import Report, render
except ModuleNotFoundError as error:
    what = f"needs the library {error.name}, which is not installed."
    remedy = "Install it with: pip install 'manyveils[report]'"
    raise InputError.at("report", what, remedy) from None

__all__ = ["Report", "render", "started"]
