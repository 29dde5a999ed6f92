"""Schedules of params.yaml that are no period K. Importing them imports no jax: `make` does."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from iterlin_lab.settings.base import Count, Positive, Strict, one_of

if TYPE_CHECKING:
    from iterlin import Schedule


class Scheduled(Strict, ABC):
    """Says when to re-linearise; `title` is what it is called in texts, and `rule` when a phase ends."""

    title: ClassVar[str]
    rule: ClassVar[str]
    name: Any  # a literal in each schedule

    def described(self) -> str:
        """What it is called, with its numbers."""
        return f"{self.title}: {self.rule.format(**self.model_dump())}"

    @abstractmethod
    def make(self, key: Any) -> "Schedule":
        """The schedule of the library, with a key of its own for what it draws."""


class Watching(Scheduled):
    """It looks after every `every` steps of the solver, and no phase is longer than `at_most`."""

    bound: Positive
    every: Count
    at_most: Count

    def numbers(self) -> dict[str, Any]:
        return self.model_dump(exclude={"name"})


class LinearisationError(Watching):
    """By ‖f − f_lin‖/‖f − f_s‖ on the training set."""

    title = "linearisation error"
    rule = "‖f − f_lin‖/‖f − f_s‖ > {bound:g}"
    name: Literal["linearisation_error"]

    def make(self, key):
        from iterlin import OnLinearisationError

        return OnLinearisationError(**self.numbers())


class TrustRegion(Watching):
    """By the decrease of the network's training loss over that of the proxy."""

    title = "trust region"
    rule = "1 − ρ > {bound:g}"
    name: Literal["trust_region"]

    def make(self, key):
        from iterlin import TrustRegion

        return TrustRegion(**self.numbers())


class KernelMovement(Watching):
    """By the distance of the empirical NTK from that at θ_s, estimated."""

    title = "kernel movement"
    rule = "1 − cos(Θ, Θ_s) > {bound:g}"
    name: Literal["kernel_movement"]
    num_probes: Count

    def make(self, key):
        from iterlin import OnKernelMovement

        return OnKernelMovement(**self.numbers(), key=key)


class Growing(Scheduled):
    """Short phases first."""

    title = "growing K"
    rule = "K from {first:g} to {most:g}, times {factor:g} a phase"
    name: Literal["growing"]
    first: Count
    factor: Positive
    most: Count

    def make(self, key):
        from iterlin import Growing

        return Growing(self.first, self.factor, self.most)


class Drawn(Scheduled):
    """K at random, uniform in log K."""

    title = "random K"
    rule = "K from {least:g} to {most:g}, uniform in log K"
    name: Literal["drawn"]
    least: Count
    most: Count

    def make(self, key):
        from iterlin import Drawn

        return Drawn(self.least, self.most, key)


SCHEDULES: dict[str, type[Scheduled]] = {
    "linearisation_error": LinearisationError,
    "trust_region": TrustRegion,
    "kernel_movement": KernelMovement,
    "growing": Growing,
    "drawn": Drawn,
}
if TYPE_CHECKING:
    AnySchedule = Scheduled
else:
    AnySchedule = one_of(SCHEDULES.values())


def schedule_of(values: dict[str, Any]) -> Scheduled:
    """The schedule that a recipe names, whose values were checked when the recipe was made."""
    return SCHEDULES[values["name"]].model_construct(**values)
