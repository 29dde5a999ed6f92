"""Schedules that are another one, but for something."""

from typing import Any, NamedTuple

from jaxtyping import Array, PyTree

from iterlin._schedules.schedule import Schedule


class Own(NamedTuple):
    """What the other schedule remembers. A subclass of `Wrapped` that remembers more has a named tuple of its own."""

    own: PyTree[Array]


class Wrapped(Schedule):
    """A schedule that does as another one does, but for what a subclass overrides."""

    schedule: Schedule

    @property
    def order(self) -> int:
        return self.schedule.order

    @property
    def looks(self) -> bool:
        return self.schedule.looks

    @property
    def settles(self) -> bool:
        return self.schedule.settles

    def check(self, setup):
        self.schedule.check(setup)

    def init(self) -> Any:
        return Own(self.schedule.init())

    def next_phase(self, state):
        return state._replace(own=self.schedule.next_phase(state.own))

    def remaining(self, state, phase_step):
        return self.schedule.remaining(state.own, phase_step)

    def when_to_look(self, state, phase_step):
        return self.schedule.when_to_look(state.own, phase_step)

    def look(self, lazy, params):
        return self.schedule.look(lazy, params)

    def update(self, state, seen):
        over, own = self.schedule.update(state.own, seen)
        return over, state._replace(own=own)

    def settle(self, state, lazy, params, phase_step):
        share, own = self.schedule.settle(state.own, lazy, params, phase_step)
        return share, state._replace(own=own)

    def damping_factor(self, state):
        return self.schedule.damping_factor(state.own)

    def report(self, state):
        return self.schedule.report(state.own)

    def expansion(self, fn, params0):
        return self.schedule.expansion(fn, params0)

    def updates(self, phase_step):
        return self.schedule.updates(phase_step)
