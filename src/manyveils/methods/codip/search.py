"""Find a plan: by merging, by working out the frontier, or as it was given."""

from dataclasses import dataclass
from fractions import Fraction

from manyveils.errors import InfeasibleError
from manyveils.methods.codip.anonymizer import Anonymizer
from manyveils.methods.codip.association import HAIR, Association, Members, Plan
from manyveils.methods.codip.frontier import MOST_PARTS, Frontier, frontier_of
from manyveils.methods.codip.merging import Merge, merged_plan
from manyveils.methods.codip.parts import smallest_parts, told_part
from manyveils.methods.codip.refusals import refuse_exposure, refuse_loss, refuse_parts
from manyveils.promises.work import Work

# The frontier of so few parts costs next to nothing, and is worked out for comparison.
FEW_PARTS = 12


@dataclass(frozen=True)
class Limits:
    """What a plan may lose, what it may expose, and how coarse its tables may be."""

    alpha: Fraction
    beta: Fraction
    discernibility: float | None
    is_beta_usual: bool = False

    @property
    def told_beta(self) -> str:
        """Beta for messages."""
        return f"beta = {float(self.beta):g}" + (", the default" if self.is_beta_usual else "")


@dataclass(frozen=True, repr=False)
class Found:
    """A plan, the merges that led to it, and the frontier it can be compared with."""

    plan: Plan
    merges: tuple[Merge, ...] = ()
    frontier: Frontier | None = None


@dataclass(frozen=True, repr=False)
class Search:
    """What every way to find a plan works with."""

    work: Work
    association: Association
    anonymizer: Anonymizer
    limits: Limits

    def run(self, how: str, given: Plan | None) -> Found:
        """A plan within all limits; an error that says what can be reached if there is none."""
        parts = given if given is not None else smallest_parts(self.work)
        refuse_parts(
            self.work, parts, self.anonymizer, self.limits.discernibility, is_given=given is not None
        )
        exposure = self.association.exposure(parts)
        if exposure > self.limits.beta + HAIR:
            raise refuse_exposure(
                self.work, parts, float(exposure), self.limits.told_beta, is_given=given is not None
            )
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
            raise self._too_lossy(found, how="given" if given is not None else how)
        return found

    def fits(self, members: Members) -> bool:
        """Whether some sensitive attributes can be anonymized in one table."""
        return self.anonymizer.fits(tuple(self.work.sensitive[member] for member in members))

    def _frontier(self, parts: Plan) -> Frontier:
        """The frontier of the plans whose tables can be anonymized."""
        return frontier_of(
            self.association, parts, self.fits, lambda share: self.work.progress("trying tables", share)
        )

    def _optimal(self, parts: Plan) -> Found:
        frontier = self._frontier(parts)
        place = frontier.best_within(self.limits.beta)
        # The parts themselves fit and are within beta.
        assert place is not None
        return Found(frontier.plan(place), frontier=frontier)

    def _for_comparison(self, parts: Plan) -> Frontier | None:
        return frontier_of(self.association, parts) if len(parts) <= FEW_PARTS else None

    def _too_lossy(self, found: Found, how: str) -> InfeasibleError:
        """Say what was lost, why no more was merged, and what the best plan would lose."""
        lost = float(self.association.loss(found.plan))
        said = f"the plan {'given' if how == 'given' else 'found'} loses {lost:.4f} of the association, "
        said += f"more than alpha = {float(self.limits.alpha):g}{self._why_no_more(found)}."
        frontier, parts = None, smallest_parts(self.work)
        if how == "optimal":
            frontier = found.frontier
        elif len(parts) <= MOST_PARTS and self.anonymizer.looks_up:
            frontier = self._frontier(parts)
        place = None if frontier is None else frontier.best_within(self.limits.beta)
        best = None if frontier is None or place is None else frontier.plan(place)
        return refuse_loss(
            self.work,
            said,
            found.plan,
            lost,
            None if best is None else (best, float(self.association.loss(best))),
            self.limits,
            frontier,
            how,
        )

    def _why_no_more(self, found: Found) -> str:
        """The first merge that was refused after the last one that was made."""
        tried = list(found.merges)
        made = max((place for place, merge in enumerate(tried) if not merge.refused), default=-1)
        if made + 1 >= len(tried):
            return ""
        stop = tried[made + 1]
        together = ", ".join(told_part(self.work, stop.members))
        exposure = float(self.association.exposure(stop.plan))
        return f"; the next merge, {{{together}}}, {stop.refused} (exposure {exposure:.4f}, {self.limits.told_beta})"
