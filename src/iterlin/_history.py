"""What goes into a run, what is recorded of it, and what comes out."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import equinox as eqx
import optax
from jax.sharding import Mesh
from jaxtyping import Array

from iterlin._damping import Switched
from iterlin._divergence import Divergence, diagnose
from iterlin._execution import Fixed, Observation
from iterlin._records import Data, Moment, RecordAt
from iterlin._schedules import Schedule
from iterlin._solvers import Solver
from iterlin._state import State
from iterlin._stream import Stream

Record = dict[str, float]
Until = Callable[[Record], bool]


class Outcome(Enum):
    """How a run ended; the value says what that means."""

    fitted = "the network fits the training set"
    stopped = "the function `until` said so of a record"
    step_limit = "the step limit came before the network fitted the training set: raise num_steps"
    diverged = (
        "the loss of the lazy problem left every bound: lower the learning rate (a phase is stable while "
        "ηλ_max < 2), or shorten the phases"
    )


class Result(NamedTuple):
    """A trained model, its records (one dict a record), how the run ended, its last state, the solver's own report.

    `divergence` says where and why a run diverged, if it did.
    """

    model: Any
    records: list[Record]
    outcome: Outcome
    state: State
    report: dict[str, float]
    divergence: Divergence | None = None


class Run(NamedTuple):
    """What may differ between runs that train at once (see `train`); without a `schedule` a run has the shared one."""

    model: Any
    splits: Data
    solver: Solver | optax.GradientTransformation | int | float
    damping: float | Switched = 0.0
    key: Array | None = None
    on_record: Callable[[Record], None] = lambda record: None
    on_model: Callable[[int, Any], None] | None = None
    schedule: Schedule | int | float | None = None
    state: Any = None
    stream: Stream | None = None
    mesh: Mesh | None = None


class History:
    """What has been recorded of a run."""

    def __init__(
        self, run: Run, fixed: Fixed, fit_loss: float | None, extra: Sequence[RecordAt] = (), until: Until | None = None
    ):
        self.run, self._fixed, self._fit_loss, self._extra, self._until = run, fixed, fit_loss, extra, until
        self.records: list[Record] = []
        self.outcome: Outcome | None = None

    def add(self, seen: Observation, state: Callable[[], State]) -> None:
        """A record, at that state, after which the run may be over.

        A run that diverges at once has taken no step: it has none.
        """
        if not self.records or seen.record["step"] > self.records[-1]["step"]:
            record = seen.record | self._measured(seen.record, state)
            self.records.append(record)
            self.run.on_record(record)
            if self.run.on_model is not None:
                self.run.on_model(int(record["step"]), self._model(state()))
        if seen.diverged:
            self.outcome = Outcome.diverged
        elif self._fits(seen.record):
            self.outcome = Outcome.fitted
        elif self._until is not None and self._until(self.records[-1]):
            self.outcome = Outcome.stopped

    def _measured(self, record: Record, state: Callable[[], State]) -> Record:
        """What the user's own functions say at this record."""
        last, step = self.records[-1]["step"] if self.records else -1, int(record["step"])
        found: Record = {}
        for steps, function in self._extra:
            if any(last < wanted <= step for wanted in steps):
                now = state()
                linearised = self._fixed.linearised(now)
                numbers = function(Moment(step, self._model(now), now.params, linearised))
                if taken := numbers.keys() & (record.keys() | found.keys()):
                    raise ValueError(f"record_at: a record has a {min(taken)!r} already: give it another name")
                found |= {name: float(value) for name, value in numbers.items()}
        return found

    def _model(self, state: State) -> Any:
        return eqx.combine(state.params, self.run.model)

    def restore(self, records: list[Record], outcome: str | None) -> None:
        """What another process has recorded."""
        for record in records:
            self.records.append(record)
            self.run.on_record(record)
        self.outcome = Outcome[outcome] if outcome else None

    def _fits(self, record: Record) -> bool:
        """Where there are no classes, only the loss counts."""
        train = next(iter(self.run.splits))
        if self._fit_loss is None or record.get(f"network_{train}_accuracy", 1.0) < 1:
            return False
        return record[f"network_{train}_loss"] <= self._fit_loss

    def goes_on(self, until: int) -> bool:
        """Whether there are steps left to take up to this one."""
        return self.outcome is None and self.records[-1]["step"] < until

    def result(self, state: State) -> Result:
        """The trained run."""
        report = {name: float(value) for name, value in self._fixed.solver.report(state.solver_state).items()}
        outcome = self.outcome or Outcome.step_limit
        diverged = outcome is Outcome.diverged
        divergence = diagnose(self._fixed, state, self.records, report) if diverged else None
        return Result(self._model(state), self.records, outcome, state, report, divergence)
