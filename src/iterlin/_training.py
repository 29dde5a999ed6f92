"""Iterative linearisation of a model: training, records, and how a run ends."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array

from iterlin._batches import Augment
from iterlin._begin import begin
from iterlin._checks import check_data, check_numbers
from iterlin._history import History, Result, Run
from iterlin._losses import Loss
from iterlin._many import Alone, Job, Together
from iterlin._phases import State, Stop
from iterlin._progress import Checkpoints, Keeper, Progress
from iterlin._records import Splits, log_spaced_steps
from iterlin._schedules import Continuously, Schedule
from iterlin._solvers import Setup, Solver


def train(
    model: Any,
    splits: Splits,
    *,
    loss: Loss,
    solver: Solver,
    schedule: Schedule,
    num_steps: int,
    batch_size: int | None = None,
    augment: Augment | None = None,
    hoist: bool | None = None,
    damping: float = 0.0,
    fit_loss: float | None = None,
    divergence_factor: float = 1e4,
    first_record: int = 1,
    records_per_decade: int = 10,
    key: Array | None = None,
    on_record: Callable[[dict[str, float]], None] = lambda record: None,
    on_model: Callable[[int, Any], None] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Result:
    """Train `model` by iterative linearisation.

    **Arguments**:

    - `model`: any equinox module that maps one example to its outputs.
    - `splits`: arrays (x, y) by name. The first is trained on, all of them are measured.
    - `loss`: a mean over examples, such as `cross_entropy`.
    - `solver`, `schedule`: how a lazy phase is solved, and when it ends. `sgd(η)` and `Every(K)` are the papers'.
      `Flow(η)` stands for many tiny full-batch steps, and `ClosedForm(η)` for those of a phase with squared error.
    - `num_steps`: the step limit T.
    - `batch_size`: full batches if None; mini-batches need a `key`.
    - `augment`: maps a key and the inputs of a mini-batch to those that the step sees (see `MiniBatch`).
    - `hoist`: whether a phase of full batches keeps what all its steps need (see `FullBatch`). If None, it does where
      that takes no more than `HOIST_BYTES`.
    - `damping`: λ of the lazy problem (see `Problem`).
    - `fit_loss`: stop once the network classifies the whole training set correctly with at most this loss, at a record
      at the end of a phase.
    - `divergence_factor`: a loss above this multiple of the initial one (or of that of outputs that are all zero, if it
      is larger) ends the run as diverged.
    - `first_record`: the step of the first record after that at step 0.
    - `records_per_decade`: the density of the records, which also come at the ends of longer phases and at the end (see
      `Stop`).
    - `on_record`: called with each record as soon as it is made, or restored.
    - `on_model`: called with the step and the network at each record as soon as that is made, but not if restored.
    - `checkpoints`: where the progress is kept, and restored from if there is any. The same call then goes on from
      there, to the very result of one that was never interrupted.

    **Raises**: `ValueError` for an impossible argument, before anything is compiled. Divergence is not an error but an
    outcome.
    """
    run = Run(model, splits, solver, damping, key, on_record, on_model)
    (result,) = train_many(
        [run],
        loss=loss,
        schedule=schedule,
        num_steps=num_steps,
        batch_size=batch_size,
        augment=augment,
        hoist=hoist,
        fit_loss=fit_loss,
        divergence_factor=divergence_factor,
        first_record=first_record,
        records_per_decade=records_per_decade,
        checkpoints=checkpoints,
    )
    return result


def train_many(
    runs: Sequence[Run],
    *,
    loss: Loss,
    schedule: Schedule,
    num_steps: int,
    batch_size: int | None = None,
    augment: Augment | None = None,
    hoist: bool | None = None,
    fit_loss: float | None = None,
    divergence_factor: float = 1e4,
    first_record: int = 1,
    records_per_decade: int = 10,
    checkpoints: Checkpoints | None = None,
) -> list[Result]:
    """Train several runs at once in one compiled program, for a device that one of them does not fill.

    Up to rounding, each result is that of `train`, which has the same arguments: every run has its own records, and
    stops for itself. One that has ended costs as much as before until all have, and phases that end on convergence wait
    for the longest.

    **Raises**: `ValueError` for an impossible argument, or runs that differ in more than the values of their arrays:
    in architecture, in the shapes of their data, or in the kind of their solvers. `ClosedForm` trains one by one.
    """
    if not runs:
        raise ValueError("there is no run to train")
    check_numbers(num_steps, fit_loss, divergence_factor, first_record, records_per_decade)
    for run in runs:
        _check(run, loss, schedule, batch_size)
    jobs, states = zip(*(_begin(run, loss, batch_size, augment, hoist, divergence_factor) for run in runs), strict=True)
    group = Alone(jobs[0], states[0], schedule) if len(runs) == 1 else Together(jobs, states, schedule)
    histories = [History(run, fit_loss) for run in runs]
    keeper = Keeper(checkpoints)

    def record(moved: Sequence[bool]) -> None:
        for run, (history, seen) in enumerate(zip(histories, group.look(), strict=True)):
            if moved[run]:
                history.add(seen, partial(group.state_of, run))

    def progress() -> Progress:
        outcomes = [history.outcome and history.outcome.name for history in histories]
        return Progress(group.state, [history.records for history in histories], outcomes)

    if kept := keeper.restore(group.state):
        group.state = kept.state
        for history, records, outcome in zip(histories, kept.records, kept.outcomes, strict=True):
            history.restore(records, outcome)
    else:
        record([True] * len(runs))
    for previous, until in itertools.pairwise(log_spaced_steps(num_steps, records_per_decade, first_record)):
        gap = until - previous
        while any(moving := [history.goes_on(until) for history in histories]):
            if group.advance(Stop(until, gap, min(until + gap, num_steps), keeper.budget), moving):
                record(moving)
            keeper.look(progress)
    ended = enumerate(zip(histories, jobs, strict=True))
    return [history.result(job, schedule, group.state_of(run)) for run, (history, job) in ended]


def _check(run: Run, loss: Loss, schedule: Schedule, batch_size: int | None) -> None:
    check_data(run.model, run.splits, loss)
    if run.damping and isinstance(schedule, Continuously):
        raise ValueError("damping does nothing at K = 1, where θ = θ_s: leave it out")
    num_params = sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(run.model, eqx.is_inexact_array)))
    num_outputs = next(iter(run.splits.values()))[1].size
    run.solver.check(Setup(loss, schedule, batch_size, run.damping, num_outputs, num_params))


def _begin(
    run: Run,
    loss: Loss,
    batch_size: int | None,
    augment: Augment | None,
    hoist: bool | None,
    divergence_factor: float,
) -> tuple[Job, State]:
    problem, state = begin(
        run.model,
        next(iter(run.splits.values())),
        loss=loss,
        solver=run.solver,
        batch_size=batch_size,
        augment=augment,
        hoist=hoist,
        damping=run.damping,
        divergence_factor=divergence_factor,
        key=run.key,
    )
    return Job(problem, run.solver, run.splits, state.params), state
