"""From the arguments of a call to runs that can train: checked, started, and on their devices."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import optax
from jax.sharding import Mesh

from iterlin._batches import Streamed
from iterlin._checks import check_data
from iterlin._damping import Switched, as_damping
from iterlin._devices import copied, on, one_axis, require_shares, spread
from iterlin._execution import Batched, Fixed, Single
from iterlin._history import Run
from iterlin._schedules import Every, OnNetwork, Schedule, as_schedule
from iterlin._solvers import Setup, Solver, as_solver
from iterlin._start import initial_state, lazy_problem
from iterlin._state import State
from iterlin._stream import Reader, Streaming, check_stream


class Started(NamedTuple):
    """Runs before their first step, and what their results depend on that is not in them."""

    group: Single | Batched
    fixed: tuple[Fixed, ...]
    states: tuple[State, ...]
    besides: tuple[Any, ...]


class _Part(NamedTuple):
    """What a run is made of, in the types that the loop takes."""

    run: Run
    damping: Switched
    solver: Solver
    schedule: Schedule
    reader: Reader | None
    mesh: Mesh | None


def started(runs: Sequence[Run], schedule: Schedule | int | float, settings: dict[str, Any]) -> Started:
    """Runs that train at once. The settings are those arguments of `lazy_problem` that all runs share.

    **Raises**: `ValueError` for an impossible argument.
    """
    if not runs:
        raise ValueError("there is no run to train")
    alone, settings = len(runs) == 1, settings | {"at_once": len(runs)}
    if not alone and any(run.stream is not None or run.mesh is not None for run in runs):
        raise ValueError("runs with a stream or a mesh train one by one: call train for each of them")
    solvers = [as_solver(run.solver) for run in runs]
    dampings = [as_damping(run.damping) for run in runs]
    schedules = _schedules(runs, dampings, solvers, schedule)
    parts = [_part(*chosen, settings) for chosen in zip(runs, dampings, solvers, schedules, strict=True)]
    for part in parts:
        _check(part, settings)
    fixed, states = zip(*(_start(part, settings) for part in parts), strict=True)
    if not alone:
        return Started(Batched(fixed, states), fixed, states, ())
    return _alone(parts[0], fixed, states)


def _alone(part: _Part, fixed: tuple[Fixed, ...], states: tuple[State, ...]) -> Started:
    reader, mesh = part.reader, part.mesh
    of_devices = () if mesh is None else (mesh.size,)
    if reader is None:
        return Started(Single(fixed[0], states[0], mesh), fixed, states, of_devices)
    return Started(Streaming(fixed[0], states[0], reader, mesh), fixed, states, (reader.at(0), *of_devices))


def _schedules(
    runs: Sequence[Run], dampings: Sequence[Switched], solvers: Sequence[Solver], shared: Schedule | int | float
) -> list[Schedule]:
    """The schedule of every run. K = 1 is taken on the network itself where all solvers allow it."""
    schedules = [as_schedule(shared if run.schedule is None else run.schedule) for run in runs]
    plain = all(solver.takes_network for solver in solvers) and not any(max(damping.values()) for damping in dampings)
    if plain and all(type(schedule) is Every and schedule.period == 1 for schedule in schedules):
        return [OnNetwork() for _ in runs]
    return schedules


def _part(run: Run, damping: Switched, solver: Solver, schedule: Schedule, settings: dict[str, Any]) -> _Part:
    if run.stream is not None:
        check_stream(**{name: settings[name] for name in ("batch_size", "augment", "hoist")})
    reader = None if run.stream is None else Reader(run.stream)
    return _Part(run, damping, solver, schedule, reader, one_axis(run.mesh))


def _check(part: _Part, settings: dict[str, Any]) -> None:
    run, streamed = part.run, part.reader is not None
    loss, trainable, batch_size = (settings[name] for name in ("loss", "trainable", "batch_size"))
    augmented = settings["augment"] is not None
    check_data(run.model, run.splits, loss, trainable, run.state)
    if part.reader is not None:
        first = next(iter(run.splits))
        batch = part.reader.at(0)
        both = {first: run.splits[first], "first batch of the stream": batch}
        check_data(run.model, both, loss, trainable, run.state)
        batch_size = len(jax.tree.leaves(batch)[0])
    if batch_size is not None:
        require_shares("a batch", batch_size, part.mesh)
    num_outputs = optax.tree.size(next(iter(run.splits.values()))[1])
    params = eqx.filter(run.model, trainable)
    smallest = min(part.damping.values())
    setup = Setup(loss, part.schedule, batch_size, smallest, num_outputs, params, run.model, streamed, augmented)
    part.solver.check(setup)
    part.schedule.check(setup)
    if part.solver.on_host and (part.schedule.looks or part.schedule.settles):
        raise ValueError(
            f"the schedule {type(part.schedule).__name__} looks at the network, and the solver "
            f"{type(part.solver).__name__} knows the lazy problem alone: use a Stepwise solver, such as sgd or Flow"
        )
    if streamed and part.solver.on_host:
        raise ValueError(
            f"the solver {type(part.solver).__name__} computes on the host, and may ask for many batches at once: with "
            "a stream use a Stepwise solver, such as sgd"
        )


def _start(part: _Part, settings: dict[str, Any]) -> tuple[Fixed, State]:
    run, mesh = part.run, part.mesh
    train = next(iter(run.splits))
    splits = {name: spread(f"split {name!r}", split, mesh, name == train) for name, split in run.splits.items()}
    model, state, key = copied((run.model, jax.tree.map(jax.numpy.asarray, run.state), run.key), mesh)
    with on(mesh):
        problem, params = lazy_problem(model, splits[train], damping=part.damping, key=key, state=state, **settings)
    if part.reader is not None:
        problem = eqx.tree_at(lambda problem: problem.batches, problem, Streamed())
    fixed = Fixed(problem, part.solver, part.schedule, splits, params)
    return fixed, initial_state(problem, params, part.solver, part.schedule, state)
