"""Find a plan: by merging, by working out the frontier, or as it was given."""

from dataclasses import dataclass
from fractions import Fraction

from manyveils.errors import InfeasibleError
from manyveils.methods.codip.anonymizer import Anonymizer
from manyveils.methods.codip.association import HAIR, Association, Members, Plan
from manyveils.methods.codip.frontier import MOST_PARTS, Frontier, frontier_of
from manyveils.methods.codip.merging import Merge, merged_plan
from manyveils.methods.codip.parts import smallest_parts, told_part
from manyveils.methods.codip.refusals import refuse_exposure, refuse_loss, refuse_many, refuse_parts
from manyveils.methods.work import Work

# The frontier of so few parts costs next to nothing, and is worked out for comparison.
FEW_PARTS = 12


@dataclass(frozen=True)
class Limits:
    """What a plan may lose, what it may expose, and how coarse its tables may be."""

    alpha: Fraction
    beta: Fraction
    discernibility: float | None


@dataclass(frozen=True)
class Found:
    """A plan, the merges that led to it, and the frontier it can be compared with."""

    plan: Plan
    merges: tuple[Merge, ...] = ()
    frontier: Frontier | None = None


@dataclass(frozen=True)
class Search:
    """What every way to find a plan works with."""

    work: Work
    association: Association
    anonymizer: Anonymizer
    limits: Limits

    def run(self, how: str, given: Plan | None) -> Found:
        """A plan within all limits; an error that says what can be reached if there is none."""
        parts = given if given is not None else smallest_parts(self.work)
        refuse_parts(self.work, parts, self.anonymizer, self.limits.discernibility)
        exposure = self.association.exposure(parts)
        if exposure > self.limits.beta + HAIR:
            raise refuse_exposure(self.work, parts, float(exposure), float(self.limits.beta))
        if given is not None:
            found = Found(given, frontier=self._for_comparison(smallest_parts(self.work)))
        elif how == "optimal":
            found = self._optimal(parts)
        else:
            plan, merges = merged_plan(
                self.association, parts, self.fits, self.limits.beta, patient=how == "patient"
            )
            found = Found(plan, merges, self._for_comparison(parts))
        if self.association.loss(found.plan) > self.limits.alpha + HAIR:
            raise self._too_lossy(found)
        return found

    def fits(self, members: Members) -> bool:
        """Whether some sensitive attributes can be anonymized in one table."""
        return self.anonymizer.fits(tuple(self.work.sensitive[member] for member in members))

    def frontier(self, parts: Plan) -> Frontier:
        """The frontier of the plans whose tables can be anonymized."""
        return frontier_of(
            self.association, parts, self.fits, lambda share: self.work.progress("trying tables", share)
        )

    def _optimal(self, parts: Plan) -> Found:
        refuse_many(self.work, len(parts))
        frontier = self.frontier(parts)
        place = frontier.best_within(self.limits.beta)
        # The parts themselves fit and are within beta.
        assert place is not None
        return Found(frontier.plan(place), frontier=frontier)

    def _too_lossy(self, found: Found) -> InfeasibleError:
        """Say what was lost, why no more was merged, and what the best plan would lose."""
        loss, best = self.association.loss(found.plan), found.plan
        said = f"the plan found loses {float(loss):.4f} of the association, more than alpha = {float(self.limits.alpha):g}"
        if found.merges and found.merges[-1].refused:
            last = found.merges[-1]
            exposure = float(self.association.exposure(last.plan))
            together = ", ".join(told_part(self.work, last.members))
            said += f"; the next merge, {{{together}}}, {last.refused} (exposure {exposure:.4f}, beta = {float(self.limits.beta):g})"
        frontier, parts = found.frontier, smallest_parts(self.work)
        if len(parts) <= MOST_PARTS:
            frontier = self.frontier(parts)
            place = frontier.best_within(self.limits.beta)
            best = best if place is None else frontier.plan(place)
        reached = float(self.association.loss(best))
        return refuse_loss(self.work, f"{said}.", best, reached, self.limits.alpha, frontier)

    def _for_comparison(self, parts: Plan) -> Frontier | None:
        return frontier_of(self.association, parts) if len(parts) <= FEW_PARTS else None
