"""What goes into a run, what is recorded of it, and what comes out."""

from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

import equinox as eqx
from jaxtyping import Array

from iterlin._divergence import Divergence, diagnose
from iterlin._many import Job, Seen
from iterlin._phases import State
from iterlin._records import Splits
from iterlin._schedules import Schedule
from iterlin._solvers import Solver


class Outcome(Enum):
    """How a run ended; the value says what that means."""

    fitted = "the network fits the training set at a feature update"
    step_limit = "the step limit came before the network fitted the training set at a feature update: raise num_steps"
    diverged = (
        "the loss of the lazy problem left every bound: lower the learning rate (a phase is stable while "
        "ηλ_max < 2), or shorten the phases"
    )


class Result(NamedTuple):
    """A trained model, its records (one dict a record), how the run ended, its last state, the solver's own report.

    `divergence` says where and why a run diverged, if it did.
    """

    model: Any
    records: list[dict[str, float]]
    outcome: Outcome
    state: State
    report: dict[str, float]
    divergence: Divergence | None = None


class Run(NamedTuple):
    """What may differ between runs that train at once (see `train`)."""

    model: Any
    splits: Splits
    solver: Solver
    damping: float = 0.0
    key: Array | None = None
    on_record: Callable[[dict[str, float]], None] = lambda record: None
    on_model: Callable[[int, Any], None] | None = None


class History:
    """What has been recorded of a run."""

    def __init__(self, run: Run, fit_loss: float | None):
        self.run, self.fit_loss = run, fit_loss
        self.records: list[dict[str, float]] = []
        self.outcome: Outcome | None = None

    def add(self, seen: Seen, state: Callable[[], State]) -> None:
        """A record, at that state, after which the run may be over.

        A run that diverges at once has taken no step: it has none.
        """
        if not self.records or seen.record["step"] > self.records[-1]["step"]:
            self.records.append(seen.record)
            self.run.on_record(seen.record)
            if self.run.on_model is not None:
                self.run.on_model(int(seen.record["step"]), eqx.combine(state().params, self.run.model))
        if seen.diverged:
            self.outcome = Outcome.diverged
        elif seen.due and self._fits(seen.record):
            self.outcome = Outcome.fitted

    def restore(self, records: list[dict[str, float]], outcome: str | None) -> None:
        """What another process has recorded."""
        for record in records:
            self.records.append(record)
            self.run.on_record(record)
        self.outcome = Outcome[outcome] if outcome else None

    def _fits(self, record: dict[str, float]) -> bool:
        """Where there are no classes, only the loss counts."""
        train = next(iter(self.run.splits))
        if self.fit_loss is None or record.get(f"network_{train}_accuracy", 1.0) < 1:
            return False
        return record[f"network_{train}_loss"] <= self.fit_loss

    def goes_on(self, until: int) -> bool:
        """Whether there are steps left to take up to this one."""
        return self.outcome is None and self.records[-1]["step"] < until

    def result(self, job: Job, schedule: Schedule, state: State) -> Result:
        """The trained run."""
        report = {name: float(value) for name, value in self.run.solver.report(state.solver_state).items()}
        model = eqx.combine(state.params, self.run.model)
        outcome = self.outcome or Outcome.step_limit
        diverged = outcome is Outcome.diverged
        divergence = diagnose(job, schedule, state, self.records, report) if diverged else None
        return Result(model, self.records, outcome, state, report, divergence)
