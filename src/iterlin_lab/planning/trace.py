"""Trace training at its true shapes: what params.yaml asks for can be built, and no step of it is computed."""

from functools import partial
from typing import Any

import equinox as eqx
import jax

from iterlin import Every, Linearised, cross_entropy, sgd
from iterlin._batches import hoist_bytes
from iterlin._records import measure
from iterlin._start import initial_state, lazy_problem
from iterlin._state import State, Stop
from iterlin_lab.files import write_text
from iterlin_lab.planning.memory import linearisation_bytes, shapes
from iterlin_lab.runs.memory import ESTIMATES
from iterlin_lab.runs.store import LIBRARIES, code_digest, key_of, versions
from iterlin_lab.settings.shared import Shared

READ = {"data", "net", "training", "runs_at_once", "precision"}  # of the settings
CODE = ("iterlin", "iterlin_lab")


def trace(scale: Shared) -> str:
    """What a phase keeps in memory. Neither is looked at again for settings that this very code has traced before."""
    settings = scale.model_dump(mode="json", include=READ)
    known = key_of([settings, code_digest(CODE), versions(LIBRARIES), jax.default_backend()])
    path = ESTIMATES / f"traced-{known}.txt"
    if not path.exists():
        model, splits = shapes(scale)
        eqx.filter_eval_shape(partial(step_and_record, scale), model, splits, jax.random.key(0))
        write_text(path, _memory(scale, model, splits["train"][0]))
    return path.read_text()


def _memory(scale: Shared, model: Any, x: Any) -> str:
    if (batch := scale.training.batch_size) is not None:
        return f"each step linearises the network on {batch} examples"
    size = linearisation_bytes(model, x, len(x))
    keeps = size <= hoist_bytes(scale.runs_at_once)
    how = "is kept for a whole phase" if keeps else "is computed again by every step, in chunks"
    return f"what linearisation needs on {x.shape[0]} examples, {size / 2**20:.1f} MiB, {how}"


def step_and_record(scale: Shared, model: Any, splits: Any, key: Any) -> tuple[State, dict[str, jax.Array]]:
    """The start of a run: its first step, and the record after it."""
    solver = sgd(1e-9)
    settings = {"loss": cross_entropy, "batch_size": scale.training.batch_size, "key": key}
    problem, params = lazy_problem(model, splits["train"], **settings)
    schedule = Every(1)
    state = solver.advance(problem, schedule, initial_state(problem, params, solver, schedule), Stop(1, 1, 1))
    linearised = Linearised(problem.fn, state.params0)
    damping = problem.damping_at(state, schedule)
    return state, measure(linearised, problem.loss, state.params, state.params0, splits, damping, train="train")
