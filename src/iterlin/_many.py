"""What the training loop asks of its runs: of one alone, or of several that go together in one compiled program."""

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PyTree

from iterlin._jumps import advance_in_jumps
from iterlin._linearise import Linearised
from iterlin._losses import Loss
from iterlin._phases import State, Stop, advance
from iterlin._problem import Problem
from iterlin._records import Splits, measure
from iterlin._schedules import Every, Schedule
from iterlin._solvers import ClosedForm, Solver, Stepwise


class Job(NamedTuple):
    """What stays as it is during a run."""

    problem: Problem
    solver: Solver
    splits: Splits
    origin: PyTree[Array]  # θ_0


class Seen(NamedTuple):
    """A record, and what the run's outcome depends on besides."""

    record: dict[str, float]
    due: bool
    diverged: bool


class Alone:
    """One run; `state` is its own."""

    def __init__(self, job: Job, state: State, schedule: Schedule):
        if isinstance(job.solver, ClosedForm):  # its state is the host's from the start
            state = dataclasses.replace(state, solver_state=job.solver.init(state.params))
        self._job, self.state, self._schedule = job, state, schedule
        self._train = next(iter(job.splits))

    def advance(self, stop: Stop, moving: Sequence[bool]) -> bool:
        """Towards the next record; false where it has only paused."""
        problem, solver, *_ = self._job
        if isinstance(solver, ClosedForm):
            assert isinstance(self._schedule, Every)  # as `check` has seen
            self.state = advance_in_jumps(problem, solver, self._schedule, self.state, stop)
        else:
            assert isinstance(solver, Stepwise)
            self.state = advance(problem, solver, self._schedule, self.state, stop)
        return bool(stop.reached(self.state))

    def look(self) -> list[Seen]:
        """How the run stands, at a record."""
        self.state = self.state.at_record()
        return [_seen(_values(self.state, measured(*_measurable(self._job, self.state), self._train)), ())]

    def state_of(self, run: int) -> State:
        """Its state."""
        return self.state


class Together:
    """Several runs, which differ in the values of arrays alone; `state` holds those of all.

    All go as far as the slowest of them: one that is further waits for the others at its record, and one that has ended
    waits for the rest. What waits stays exactly as it is.

    **Raises**: `ValueError` if the runs differ in more, or are solved on the host.
    """

    def __init__(self, jobs: Sequence[Job], states: Sequence[State], schedule: Schedule):
        if any(isinstance(job.solver, ClosedForm) for job in jobs):
            raise ValueError("the closed form is computed on the host: train its runs one by one")
        if any(_kind(job) != _kind(jobs[0]) for job in jobs):
            raise ValueError(
                "runs that train at once differ in values alone: give models of one architecture, splits of the same "
                "names and shapes, and solvers of one kind"
            )
        self._train = next(iter(jobs[0].splits))
        job = _stack(jobs)
        # The training data lie on the device once.
        self._job = eqx.tree_at(lambda job: (job.problem.x, job.problem.y), job, job.splits[self._train])
        self.state, self._schedule, self._runs = _stack(states), schedule, range(len(jobs))

    def advance(self, stop: Stop, moving: Sequence[bool]) -> bool:
        """Those that are moving go on towards their next record; false where one has only paused."""
        moved = jnp.asarray(moving)
        self.state = _advance_together(self._job, self._schedule, self.state, stop, moved)
        return bool(jnp.all(stop.reached(self.state) | ~moved))

    def look(self) -> list[Seen]:
        """How the runs stand, all at a record."""
        self.state = self.state.at_record()
        values = _values(self.state, _measure_together(*_measurable(self._job, self.state), self._train))
        return [_seen(values, run) for run in self._runs]

    def state_of(self, run: int) -> State:
        """The state of a run."""
        return _row(self.state, jnp.asarray(run))


def _measurable(job: Job, state: State) -> tuple[Linearised, Loss, PyTree[Array], PyTree[Array], Splits, Array]:
    """What a record is made of. The solver and its state are not: what a solver keeps on the host may be no array."""
    problem = job.problem
    return Linearised(problem.fn, state.params0), problem.loss, state.params, job.origin, job.splits, problem.damping


def _advanced(job: Job, schedule: Schedule, state: State, stop: Stop, moving: Bool[Array, ""]) -> State:
    assert isinstance(job.solver, Stepwise)
    here = Stop(state.step, stop.gap, state.step, stop.budget)
    stop = jax.tree.map(partial(jnp.where, moving), stop, here)
    return advance(job.problem, job.solver, schedule, state, stop)


@eqx.filter_jit
def _row(tree: Any, row: Int[Array, ""]) -> Any:
    return jax.tree.map(lambda values: values[row], tree)


_RUNS = eqx.if_array(0)
measured = eqx.filter_jit(measure)
_measure_together = eqx.filter_jit(eqx.filter_vmap(measure, in_axes=_RUNS))
_advance_together = eqx.filter_jit(eqx.filter_vmap(_advanced, in_axes=(_RUNS, None, _RUNS, None, _RUNS)))


def _values(state: State, measured: dict[str, Array]) -> dict[str, np.ndarray]:
    names = ("step", "feature_updates", "phase_step", "evaluations", "due", "diverged")
    return jax.device_get({name: getattr(state, name) for name in names} | measured)


def _seen(values: dict[str, np.ndarray], run: int | tuple[()]) -> Seen:
    record = {name: value[run].item() for name, value in values.items()}
    due, diverged = record.pop("due"), record.pop("diverged")
    return Seen(record, due, diverged)


def _kind(job: Job) -> tuple:
    """All of it but the values of its arrays. The first split is the one that is trained on."""
    leaves, structure = jax.tree.flatten(job)
    return list(job.splits), structure, [(leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf for leaf in leaves]


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(_stacked, *trees)


def _stacked(*leaves: Any) -> Any:
    if not eqx.is_array(leaves[0]):
        return leaves[0]
    if jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jnp.stack(leaves)
    return jnp.asarray(np.stack(leaves))  # one operation, where jnp.stack takes one for every leaf
