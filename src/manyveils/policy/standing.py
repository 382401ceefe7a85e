"""A policy as it speaks of a published table that is all there is: of the columns it has, and of labels as values."""

from collections.abc import Collection, Mapping
from typing import Any

from manyveils.policy.model import Policy

# What says how a value becomes coarser, or how values are ordered, says nothing of labels.
OF_ORIGINALS = frozenset({"kind", "order", "hierarchy"})


def as_it_stands(policy: Policy, columns: Collection[str]) -> Policy:
    """The policy for a table with these columns and no original: what it does not show is left out.

    Labels and ranges of quasi-identifiers are values like others, so their hierarchies are put aside; sensitive values
    keep theirs. Rows with a missing cell stay, since they are published.
    """
    document = policy.model_dump(by_alias=True, exclude_unset=True)
    attributes = {
        name: _of_labels(body) if body["role"] in ("quasi", "neutral") else body
        for name, body in document["attributes"].items()
        if name in columns
    }
    return policy.replaced(
        accept=[],
        attributes=attributes,
        data=_data(document.get("data", {}), columns),
        population=_population(document.get("population", {}), columns),
        guarantee=_guarantee(document.get("guarantee", {}), columns),
        keys=[key for key in document.get("keys", []) if {*key["attributes"]} <= {*columns}],
        rules=[_rule(rule, columns) for rule in document.get("rules", []) if _is_shown(rule, columns)],
        dependencies=[
            known for known in document.get("dependencies", []) if {*known["from"], known["to"]} <= {*columns}
        ],
    )


def without_role(policy: Policy) -> Policy:
    """The policy in which quasi-identifiers are read as they are: nobody is going to recode them."""
    document = policy.model_dump(by_alias=True, exclude_unset=True)
    roles = {
        name: body | {"role": "neutral"} if body["role"] == "quasi" else body
        for name, body in document["attributes"].items()
    }
    return policy.replaced(attributes=roles, keys=[])


def _of_labels(body: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key not in OF_ORIGINALS} | {"kind": "categorical"}


def _data(section: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    """Where nothing is read from; who is who, if the table has it; and every row as it stands."""
    kept = {key: value for key, value in section.items() if key not in ("source", "missing", "person")}
    kept |= {"missing": "any"} if section.get("missing") == "any" else {}
    if "columns" in kept:
        kept["columns"] = [name for name in kept["columns"] if name in columns]
    person = section.get("person")
    names = {person} if isinstance(person, str) else {*(person or ())}
    return kept | ({"person": person} if person and (person == "row" or names <= {*columns}) else {})


def _guarantee(section: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    joints = [names for names in section.get("joint", []) if {*names} <= {*columns}]
    order = [name for name in section.get("sensitive_order") or () if name in columns]
    kept = {key: value for key, value in section.items() if key not in ("joint", "sensitive_order")}
    return kept | ({"joint": joints} if joints else {}) | ({"sensitive_order": order} if order else {})


def _population(section: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if key != "weights" or value in columns}


def _is_shown(rule: Mapping[str, Any], columns: Collection[str]) -> bool:
    return rule["protect"] in columns and not {*rule["given"]}.isdisjoint(columns)


def _rule(rule: Mapping[str, Any], columns: Collection[str]) -> dict[str, Any]:
    return {**rule, "given": [name for name in rule["given"] if name in columns]}
