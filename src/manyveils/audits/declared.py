"""What a manifest says beside its claims: all of it follows from the tables and the original, so nothing is a message."""

import re
from collections.abc import Iterable, Iterator, Mapping

from manyveils.policy.promises import promises_of
from manyveils.reading.evidence import Evidence
from manyveils.release import View
from manyveils.release.seal import kinds_of, shown_bits
from manyveils.release.views import Manifest, Names

# What methods call a view, unless after the attribute that it shows.
WORD = re.compile(r"[a-z][a-z0-9-]{0,19}")


def n_undeclared(evidence: Evidence) -> int:
    """How many names, types, kinds and rules of a manifest are not what they always are.

    Claim: of a manifest that is found right, its method, its counts, its promises, the rules of its views and the words
    that views are called by are all that does not follow from the tables and the original.
    Why: everything else is derived again here and compared.
    Tested by: tests/trail/test_judge_not_fooled.py
    """
    manifest = evidence.release.manifest
    return sum(
        (
            sum(name != own for name, own in _file_names(manifest)),
            sum(not (WORD.fullmatch(view.name) or view.name in view.attributes) for view in manifest.views),
            sum(not _has_types_in_order(view) for view in manifest.views),
            sum(not _has_usual_rule(evidence, view) for view in manifest.views),
            _differ(manifest.kinds, kinds_of(manifest.views, evidence.table, {*manifest.secret})),
            _differ(manifest.derived, shown_bits(manifest.views, evidence.table)),
        )
    )


def _file_names(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """Every file name beside the one that is made of what the file holds."""
    tables, recodings = Names(), Names()
    for view in manifest.views:
        for file in view.files:
            yield file.table, tables.of(view.name, file.attributes if view.bucketed else ())
    for (view_name, attribute), stem in manifest.recodings.items():
        yield stem, recodings.of(view_name, (attribute,))


def _has_types_in_order(view: View) -> bool:
    return all(
        list(file.types) == [name for name in file.attributes if name in file.types] for file in view.files
    )


def _has_usual_rule(evidence: Evidence, view: View) -> bool:
    """Whether the rule of a view names attributes in their order, and an l that is promised."""
    if view.enforces is None:
        return True
    given, asked = view.enforces["given"], promises_of(evidence.policy)
    # The release may have been made for another policy, whose claims are judged.
    claims = (claim.get("parameters") for claim in evidence.release.manifest.promises)
    claimed = (told.get("l") for told in claims if isinstance(told, dict))
    ls = {getattr(promise.guarantee, "l", None) for promise in asked}
    ls |= {l for l in claimed if isinstance(l, int)}
    order = evidence.table.expand(list(evidence.policy.attributes))
    return list(given) == _in_order(given, order) and view.enforces["l"] in {None, *ls}


def _in_order(names: Iterable[str], order: Iterable[str]) -> list[str]:
    return [name for name in order if name in {*names}]


def _differ(declared: Mapping[str, object], derived: Mapping[str, object]) -> bool:
    """Whether something that need not be declared is, and otherwise than it should be.

    In which order is not asked: it is that of the source's fields, which another source of the same rows may not have.
    """
    return bool(declared) and dict(declared) != dict(derived)
