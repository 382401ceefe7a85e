"""A promise: a guarantee about attributes, for what somebody knows."""

from dataclasses import dataclass, replace

from manyveils.policy.guarantees import Diverse, Elimination, Guarantee


@dataclass(frozen=True)
class Promise:
    """A guarantee for those who know `given`, about `protects` taken as one attribute.

    `protects` is empty where the guarantee speaks of rows alone (k-anonymity).
    `conditional` adds the other sensitive attributes to what is known.
    """

    guarantee: Guarantee
    given: tuple[str, ...]
    protects: tuple[str, ...] = ()
    insensitive: frozenset[str] = frozenset()
    conditional: bool = False
    is_rule: bool = False

    @property
    def merging_keeps(self) -> bool:
        """Whether two groups that keep the promise keep it as one.

        What a group keeps as an exception, because it has no sensitive value or none that asks for a larger l, does
        not survive merging.

        Claim: distinct and frequency l keep this with `l_of` too; entropy and recursive l do not.
        Why: the union owes the larger l of the two; its distinct values are no fewer than those of the group that owed
        it, and of every value the rows and the sizes add up, but a large group of few values drowns a diverse one.
        Tested by: tests/claims/test_kinds.py
        """
        excepted = self.guarantee.excepts_harmless and bool(self.insensitive or self.guarantee.singled_out)
        return self.guarantee.merging_keeps and not excepted

    @property
    def one_part_heals(self) -> bool:
        """Whether merging with one good group mends any group: not if the other owes more than the good one has."""
        is_even = not self.insensitive and not self.guarantee.singled_out
        return self.guarantee.one_part_heals and not self.conditional and is_even

    def for_mixtures(self) -> "Promise":
        """What every group must keep so that any mixture of groups keeps the promise.

        A group of values that are exempt, or that ask for less, keeps entropy and recursive diversity as an exception,
        and a mixture with others is none.
        """
        guarantee = self.guarantee
        if not guarantee.excepts_harmless or not isinstance(guarantee, Diverse):
            return self
        return replace(self, guarantee=guarantee.for_all_alike(), insensitive=frozenset())

    @property
    def minds_company(self) -> bool:
        """Whether it matters which other sensitive attributes stand beside the protected one."""
        return self.conditional or isinstance(self.guarantee, Elimination)

    @property
    def subject(self) -> str:
        """What is protected, in one word or several joined by `+`."""
        return "+".join(self.protects) or self.guarantee.about

    def describe(self) -> dict[str, object]:
        """The promise as the public manifest lists it."""
        described: dict[str, object] = {"kind": self.guarantee.kind, "parameters": self.guarantee.parameters}
        if self.is_rule:
            return described | {"rule": {"given": list(self.given), "protect": self.subject}}
        if len(self.protects) == 1:
            described["attribute"] = self.subject
        elif self.protects:
            described["attributes"] = list(self.protects)
        return described | ({"conditional": True} if self.conditional else {})
