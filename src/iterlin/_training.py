"""Iterative linearisation of a model: training, records, and how a run ends."""

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import equinox as eqx
import optax
from jax.sharding import Mesh
from jaxtyping import Array

from iterlin._batches import Augment
from iterlin._checks import check_numbers
from iterlin._damping import Switched
from iterlin._devices import spans_hosts
from iterlin._fingerprint import fingerprint
from iterlin._group import started
from iterlin._history import History, Record, Result, Run, Until
from iterlin._linearise import Trainable
from iterlin._losses import Loss
from iterlin._progress import Checkpoints, Keeper, Progress
from iterlin._records import Data, RecordAt, log_spaced_steps
from iterlin._schedules import Schedule
from iterlin._solvers import Solver
from iterlin._state import Stop
from iterlin._stream import Stream


def train(
    model: Any,
    splits: Data,
    *,
    loss: Loss,
    solver: Solver | optax.GradientTransformation | int | float,
    schedule: Schedule | int | float,
    num_steps: int,
    trainable: Trainable = eqx.is_inexact_array,
    batch_size: int | None = None,
    augment: Augment | None = None,
    hoist: bool | None = None,
    block_bytes: int | None = None,
    state: Any = None,
    stream: Stream | None = None,
    mesh: Mesh | None = None,
    damping: float | Switched = 0.0,
    fit_loss: float | None = None,
    divergence_factor: float = 1e4,
    first_record: int = 1,
    records_per_decade: int = 10,
    record_at: Sequence[RecordAt] = (),
    until: Until | None = None,
    key: Array | None = None,
    on_record: Callable[[Record], None] = lambda record: None,
    on_model: Callable[[int, Any], None] | None = None,
    checkpoints: Checkpoints | None = None,
) -> Result:
    """Train `model` by iterative linearisation.

    **Arguments**:

    - `model`: any equinox module that maps one example to its outputs, or a `BatchModel`.
    - `splits`: arrays (x, y), or trees of them, by name. The first is trained on, all of them are measured.
    - `loss`: a mean over examples, such as `cross_entropy`, or a function of your own of outputs and targets.
    - `solver`, `schedule`: how a lazy phase is solved, and when it ends. `sgd(η)` and `Every(K)` are the papers'; an
      optax optimiser, the number η and the number K are taken too. `OnLinearisationError(ε)` and others of its kind
      look at the network and end a phase once the expansion has become wrong; `Guarded(schedule)` rolls back phases
      that end with a higher loss.
      `Flow(η)` stands for many tiny full-batch steps, and `ClosedForm(η)` for the steps of a phase with squared error.
    - `num_steps`: the step limit T.
    - `trainable`: which leaves of the model are trained (see `functional`). The others stay as they are.
    - `batch_size`: full batches if None; mini-batches need a `key`.
    - `augment`: maps a key and the inputs of a mini-batch to those that the step sees (see `MiniBatch`).
    - `hoist`: whether a phase of full batches keeps what all its steps need (see `FullBatch`). If None, it does where
      that takes at most 2 GiB, or an eighth of a GPU's memory.
    - `block_bytes`: see `functional`.
    - `state`: what a `BatchModel` starts with; the last one is `result.state.model_state`.
    - `stream`: data that do not fit into memory. `stream(t)` iterates over the batches (x, y) of step t and of all
      steps after it. They are trained on, one at a time; wherever records, `fit_loss` and `divergence_factor` speak of
      training data, the first split stands for them. A checkpoint belongs to the stream's first batch.
    - `mesh`: devices, along one axis, over which the examples of the splits, and of every batch, are spread evenly; the
      parameters lie on each. The result is that of one device up to rounding.
    - `damping`: λ of the lazy problem (see `Problem`); a `Switched` for one that changes between phases.
    - `fit_loss`: stop at the first record where the network classifies the whole training set correctly with at most
      this loss, also in the middle of a phase: so runs with every K stop at the same training loss.
    - `divergence_factor`: a loss above this multiple of the initial one (or of the loss of outputs that are all zero,
      if it is larger) ends the run as diverged.
    - `first_record`: the step of the first record after that at step 0.
    - `records_per_decade`: the density of the records, which also come at the ends of longer phases and at the end (see
      `Stop`).
    - `record_at`: what is measured besides, and when (see `RecordAt`).
    - `until`: stops the run at the first record for which it returns true.
    - `on_record`: called with each record as soon as it is made, or restored.
    - `on_model`: called with the step and the network at each record as soon as that is made, but not if restored.
    - `checkpoints`: where the progress is kept, and restored from if there is any. The same call then goes on from
      there, to the very result of one that was never interrupted.

    A record has, by name: `step` t, `phase_step` t − s, `feature_updates`, `evaluations` of the gradient;
    `distance_init` ‖θ − θ_0‖ and `distance_phase` ‖θ − θ_s‖; `certificate` and `linearisation_error` (see `measure`);
    and for every split `network_<split>_loss` and `proxy_<split>_loss`, of f and of f_lin, and `…_accuracy` where
    targets are class labels, one for each vector of outputs. Besides it has what the schedule reports, such as
    `rolled_back`.

    **Raises**: `ValueError` for an impossible argument, before anything is compiled; and for a stream that ends or
    changes the shape of its batches. Divergence is not an error but an outcome.
    """
    run = Run(model, splits, solver, damping, key, on_record, on_model, state=state, stream=stream, mesh=mesh)
    (result,) = train_many(
        [run],
        loss=loss,
        schedule=schedule,
        num_steps=num_steps,
        trainable=trainable,
        batch_size=batch_size,
        augment=augment,
        hoist=hoist,
        block_bytes=block_bytes,
        fit_loss=fit_loss,
        divergence_factor=divergence_factor,
        first_record=first_record,
        records_per_decade=records_per_decade,
        record_at=record_at,
        until=until,
        checkpoints=checkpoints,
    )
    return result


def train_many(
    runs: Sequence[Run],
    *,
    loss: Loss,
    schedule: Schedule | int | float,
    num_steps: int,
    trainable: Trainable = eqx.is_inexact_array,
    batch_size: int | None = None,
    augment: Augment | None = None,
    hoist: bool | None = None,
    block_bytes: int | None = None,
    fit_loss: float | None = None,
    divergence_factor: float = 1e4,
    first_record: int = 1,
    records_per_decade: int = 10,
    record_at: Sequence[RecordAt] = (),
    until: Until | None = None,
    checkpoints: Checkpoints | None = None,
) -> list[Result]:
    """Train several runs at once in one compiled program, for a device that one of them does not fill.

    Up to rounding, `train` with the same arguments gives each of the results: every run has its own records, and
    stops for itself. One that has ended costs as much as before until all have, and phases that end on convergence wait
    for the longest. Runs may have schedules of their own, of one kind, such as several K.

    **Raises**: `ValueError` for an impossible argument, or runs that differ in more than the values of their arrays:
    in architecture, in the shapes of their data, or in the kind of their solvers. `ClosedForm` trains one by one,
    and so does what has a stream or a mesh.
    """
    check_numbers(num_steps, fit_loss, divergence_factor, first_record, records_per_decade)
    settings = {"loss": loss, "trainable": trainable, "batch_size": batch_size, "augment": augment, "hoist": hoist}
    settings |= {"block_bytes": block_bytes, "divergence_factor": divergence_factor}
    group, fixed, states, besides = started(runs, schedule, settings)
    histories = [History(run, one, fit_loss, record_at, until) for run, one in zip(runs, fixed, strict=True)]
    steps = log_spaced_steps(num_steps, records_per_decade, first_record)
    steps = sorted({*steps, *(step for extra in record_at for step in extra.steps if 0 <= step <= num_steps)})
    keeper = Keeper(checkpoints, spans_hosts(group.state))
    start = [one.model_state for one in states]
    digest = fingerprint(fixed, start, fit_loss, steps, record_at, until, *besides) if checkpoints else ""

    def record(moved: Sequence[bool]) -> None:
        for run, (history, seen) in enumerate(zip(histories, group.observe(), strict=True)):
            if moved[run]:
                history.add(seen, partial(group.state_of, run))

    def progress() -> Progress:
        outcomes = [history.outcome and history.outcome.name for history in histories]
        return Progress(group.state, [history.records for history in histories], outcomes, digest)

    if kept := keeper.restore(group.state, digest):
        group.state = kept.state
        for history, records, outcome in zip(histories, kept.records, kept.outcomes, strict=True):
            history.restore(records, outcome)
    else:
        record([True] * len(runs))
    for previous, wanted in itertools.pairwise(steps):
        gap = wanted - previous
        while any(moving := [history.goes_on(wanted) for history in histories]):
            if group.advance(Stop(wanted, gap, min(wanted + gap, num_steps), keeper.budget), moving):
                record(moving)
            keeper.look(progress)
    return [history.result(group.state_of(run)) for run, history in enumerate(histories)]
