"""An audit as Great Expectations writes the result of a validation, for whatever reads those."""

from typing import Any

from manyveils.audits.finding import Audit, Finding

UNRAISED = {"raised_exception": False, "exception_message": None, "exception_traceback": None}


def expectations(audit: Audit) -> dict[str, Any]:
    """One expectation for every promised finding; those that are not promised are no expectations."""
    results = [_result(finding) for finding in audit.findings if finding.promised]
    n, n_kept = len(results), sum(result["success"] for result in results)
    return {
        "success": audit.kept,
        "suite_name": "manyveils",
        "results": results,
        "statistics": {
            "evaluated_expectations": n,
            "successful_expectations": n_kept,
            "unsuccessful_expectations": n - n_kept,
            "success_percent": 100 * n_kept / n if n else None,
        },
        "suite_parameters": {},
        "meta": {"persons": dict(audit.persons), "not_judged": [dict(gap) for gap in audit.not_judged]},
    }


def _result(finding: Finding) -> dict[str, Any]:
    told = finding.describe()
    about = {
        name: told[name] for name in ("attribute", "view", "reading", "terms", "required") if told[name] != ""
    }
    return {
        "success": finding.kept,
        "expectation_config": {
            "type": f"expect_{finding.promise.replace('-', '_')}",
            "kwargs": about,
            "meta": {},
        },
        "result": {
            "observed_value": told["measured"],
            "unexpected_count": finding.rows_short,
            "details": {"groups": finding.groups, "groups_short": finding.groups_short},
        },
        "meta": {},
        "exception_info": UNRAISED,
    }
