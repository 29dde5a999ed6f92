"""How the training loop executes its runs: one by itself, or several batched in one compiled program."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Bool, Int, PyTree

from iterlin._devices import copied, on
from iterlin._expanded import Expanded
from iterlin._fingerprint import is_key
from iterlin._linearise import Linearised
from iterlin._losses import Loss
from iterlin._problem import Problem
from iterlin._records import Splits, measure
from iterlin._schedules import Schedule
from iterlin._solvers import Solver
from iterlin._state import State, Stop


class Fixed(NamedTuple):
    """What stays as it is during a run."""

    problem: Problem
    solver: Solver
    schedule: Schedule
    splits: Splits
    origin: PyTree[Array]  # θ_0

    def linearised(self, state: State) -> Linearised | Expanded:
        """The network as it is measured at a record, and its expansion about θ_s."""
        x, _ = next(iter(self.splits.values()))
        return self.schedule.expansion(self.problem.fn.recorded(x, state.model_state), state.params0)


class Observation(NamedTuple):
    """A record, and what the run's outcome depends on besides."""

    record: dict[str, float]
    diverged: bool


class Single:
    """A run that trains by itself, on the devices of the mesh if there is one; `state` is where it stands."""

    def __init__(self, fixed: Fixed, state: State, mesh: Mesh | None = None):
        self._fixed, self.state, self._mesh = fixed, state, mesh
        self._train = next(iter(fixed.splits))

    def advance(self, stop: Stop, moving: Sequence[bool]) -> bool:
        """Towards the next record; false where it has only paused."""
        return self._towards(stop, self._fixed)

    def _towards(self, stop: Stop, fixed: Fixed) -> bool:
        with on(self._mesh):
            state = fixed.solver.advance(fixed.problem, fixed.schedule, copied(self.state, self._mesh), stop)
        self.state = copied(state, self._mesh)
        return bool(stop.reached(self.state))

    def observe(self) -> list[Observation]:
        """How the run stands, at a record."""
        self.state = self.state.at_record()
        with on(self._mesh):
            values = measured(*_measurable(self._fixed, self.state), self._train)
        return [_observation(_values(self.state, values | _reported(self._fixed, self.state)), ())]

    def state_of(self, run: int) -> State:
        """The state of the run."""
        return self.state


class Batched:
    """Several runs, which differ in the values of arrays alone; `state` holds the states of all.

    All go as far as the slowest of them: one that is further waits for the others at its record, and one that has ended
    waits for the rest. What waits stays exactly as it is.

    **Raises**: `ValueError` if the runs differ in more, or are solved on the host.
    """

    def __init__(self, runs: Sequence[Fixed], states: Sequence[State]):
        if host := [type(run.solver).__name__ for run in runs if run.solver.on_host]:
            raise ValueError(f"the solver {host[0]} computes on the host: train its runs one by one")
        if any(_kind(run) != _kind(runs[0]) for run in runs):
            raise ValueError(
                "runs that train at once differ in values alone: give models of one architecture, splits of the same "
                "names and shapes, and solvers and schedules of one kind"
            )
        self._train = next(iter(runs[0].splits))
        fixed = _stack(runs)
        # The training data lie on the device once.
        self._fixed = eqx.tree_at(lambda run: (run.problem.x, run.problem.y), fixed, fixed.splits[self._train])
        self.state, self._runs = _stack(states), range(len(runs))

    def advance(self, stop: Stop, moving: Sequence[bool]) -> bool:
        """Runs that are moving go on towards their next record; false where one of them has only paused."""
        moved = jnp.asarray(moving)
        self.state = _advance_batch(self._fixed, self.state, stop, moved)
        return bool(jnp.all(stop.reached(self.state) | ~moved))

    def observe(self) -> list[Observation]:
        """How the runs stand, all at a record."""
        self.state = self.state.at_record()
        values = _measure_batch(*_measurable(self._fixed, self.state), self._train)
        values = _values(self.state, values | _reported(self._fixed, self.state))
        return [_observation(values, run) for run in self._runs]

    def state_of(self, run: int) -> State:
        """The state of a run."""
        return _row(self.state, jnp.asarray(run))


def _measurable(
    fixed: Fixed, state: State
) -> tuple[Linearised | Expanded, Loss, PyTree[Array], PyTree[Array], Splits, Array]:
    """What a record is made of. The solver and its state are not: what a solver keeps on the host may be no array."""
    problem = fixed.problem
    return (
        fixed.linearised(state),
        problem.loss,
        state.params,
        fixed.origin,
        fixed.splits,
        problem.damping_at(state, fixed.schedule),
    )


def _reported(fixed: Fixed, state: State) -> dict[str, Array]:
    """What the schedule says of one run, or of all that train at once: parts of its state, as they stand in it."""
    return fixed.schedule.report(state.schedule_state)


def _advanced(fixed: Fixed, state: State, stop: Stop, moving: Bool[Array, ""]) -> State:
    here = Stop(state.step, stop.gap, state.step, stop.budget)
    stop = jax.tree.map(partial(jnp.where, moving), stop, here)
    return fixed.solver.advance(fixed.problem, fixed.schedule, state, stop)


@eqx.filter_jit
def _row(tree: Any, row: Int[Array, ""]) -> Any:
    return jax.tree.map(lambda values: values[row], tree)


_RUNS = eqx.if_array(0)
measured = eqx.filter_jit(measure)
_measure_batch = eqx.filter_jit(eqx.filter_vmap(measure, in_axes=_RUNS))
_advance_batch = eqx.filter_jit(eqx.filter_vmap(_advanced, in_axes=(_RUNS, _RUNS, None, _RUNS)))


def _values(state: State, measured: dict[str, Array]) -> dict[str, np.ndarray]:
    names = ("step", "feature_updates", "phase_step", "evaluations", "diverged")
    return jax.device_get({name: getattr(state, name) for name in names} | measured)


def _observation(values: dict[str, np.ndarray], run: int | tuple[()]) -> Observation:
    record = {name: value[run].item() for name, value in values.items()}
    return Observation(record, record.pop("diverged"))


def _kind(run: Fixed) -> tuple:
    """All of it but the values of its arrays. The first split is the one that is trained on."""
    leaves, structure = jax.tree.flatten(run)
    return list(run.splits), structure, [(leaf.shape, leaf.dtype) if eqx.is_array(leaf) else leaf for leaf in leaves]


def _stack(trees: Sequence[Any]) -> Any:
    return jax.tree.map(_stacked, *trees)


def _stacked(*leaves: Any) -> Any:
    if not eqx.is_array(leaves[0]):
        return leaves[0]
    if is_key(leaves[0]):
        return jnp.stack(leaves)
    return jnp.asarray(np.stack(leaves))  # one operation, where jnp.stack takes one for every leaf
