"""What lint says: doubts about single roles, which of them the policy accepts, and a refusal of the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from manyveils.errors import PolicyError, Problem
from manyveils.plain import toml_text
from manyveils.policy.accepting import code_of, parts_of


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt a policy; counts and names only, never a cell.

    `is_void` says that a promise would not hold in the sense a reader gives it; only such doubts are refused.
    """

    kind: str
    about: tuple[str, ...]
    what: str
    remedy: str
    is_void: bool = True

    @property
    def code(self) -> str:
        """What `accept` lists.

        >>> Doubt("neutral-unique", ("age", "zipcode"), "", "").code
        'neutral-unique: age + zipcode'
        """
        return code_of(self.kind, self.about)

    @property
    def accepting(self) -> tuple[str, ...]:
        """What accepts it for good: of a combination its attributes, or others with them would be in doubt next.

        >>> Doubt("neutral-unique", ("age", "zipcode"), "", "").accepting
        ('neutral-unique: age', 'neutral-unique: zipcode')
        """
        if self.kind != "neutral-unique":
            return (self.code,)
        return tuple(code_of(self.kind, (name,)) for name in self.about)

    def is_accepted(self, codes: Sequence[str]) -> bool:
        """Whether the policy accepts it: as it stands, or a combination for one of its attributes."""
        listed = {parts_of(code) for code in codes}
        alone = self.about if self.kind == "neutral-unique" else ()
        return any((self.kind, about) in listed for about in (self.about, *((name,) for name in alone)))

    def problem(self) -> Problem:
        """The doubt as a refusal says it."""
        return Problem(_place(self), self.what, f"{self.remedy}, or accept {toml_text(self.code)}.")


def _place(doubt: Doubt) -> str:
    if doubt.kind in ("no-quasi", "no-sensitive"):
        return f"guarantee.{', '.join(doubt.about)}"
    return f"attributes.{' + '.join(doubt.about)}"


@dataclass(frozen=True)
class Lint:
    """All doubts about a policy and its data."""

    doubts: tuple[Doubt, ...]
    accept: tuple[str, ...] = ()
    policy: str = "policy"

    @property
    def refused(self) -> tuple[Doubt, ...]:
        """The doubts that make a promise void and that the policy does not accept."""
        return tuple(doubt for doubt in self.doubts if doubt.is_void and not doubt.is_accepted(self.accept))

    @property
    def accepted(self) -> tuple[Doubt, ...]:
        """The doubts that the policy accepts."""
        return tuple(doubt for doubt in self.doubts if doubt.is_accepted(self.accept))

    def refuse(self) -> None:
        """Raise an error with every doubt that is not accepted, if there is one."""
        problems = [doubt.problem() for doubt in self.refused]
        problems += [Problem("accept", self._how_to_accept)] if problems else []
        PolicyError.refuse(problem.within(self.policy) for problem in problems)

    @property
    def _how_to_accept(self) -> str:
        offered = [code for doubt in self.refused for code in doubt.accepting]
        codes = ", ".join(toml_text(code) for code in (*self.accept, *offered))
        return f"to publish all the same, write in the first line, above all sections: accept = [{codes}]"

    def said_accepted(self) -> tuple[Mapping[str, str], ...]:
        """The accepted doubts, for audit and report."""
        return tuple({"code": doubt.code, "what": doubt.what} for doubt in self.accepted)

    def describe(self) -> dict[str, object]:
        """The doubts as plain values for JSON."""
        listed = [
            {
                "code": doubt.code,
                "kind": doubt.kind,
                "attributes": list(doubt.about),
                "what": doubt.what,
                "remedy": f"{doubt.remedy}.",
                "void": doubt.is_void,
                "accepted": doubt.is_accepted(self.accept),
            }
            for doubt in self.doubts
        ]
        return {"refused": len(self.refused), "findings": listed}
