"""B-FLOW: gradient flow against the explicit steps that it stands for, where these can be run.

Explicit steps differ from their flow by O(η). So the flow is compared with what they tend to as η goes to 0: from the
outputs f_η and f_{η/2} after equal times, 2 f_{η/2} − f_η (Richardson), which leaves O(η²).
"""

from collections.abc import Callable, Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array

from iterlin import Dual, Every, Flow, Linearised, Never, cross_entropy, functional, sgd, train
from iterlin_lab.experiments.flow_check.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.splits import read_data
from iterlin_lab.runs.store import kept_rows
from iterlin_lab.runs.training import code_of, digests, initial, keys
from iterlin_lab.runs.workers import side_by_side

SCHEDULES = {"proxy": Never(), "network": Every(1)}  # K = ∞ and K = 1
STEPS = {"proxy": lambda rate: Dual(sgd(rate)), "network": sgd}  # in the dual they are the same, and cost less


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a model, learning rate, tolerance and run: evaluations, and relative errors of the outputs.

    `error` is the flow's, and `error_of_steps` that of the explicit steps with this learning rate.
    """
    limit_workers(scale)
    check, data = scale.flow_check, Layout(scale.name).data
    tasks = [(scale, data, *cell) for cell in product(SCHEDULES, check.learning_rates, range(check.num_seeds))]
    compared = f"{__name__}:{compare.__name__}"
    answers = side_by_side(compared, tasks, scale.threads, "flow and explicit steps", "run")
    return {"errors": pd.DataFrame(chain.from_iterable(answers))}


def compare(task: tuple[Scope, Path, str, float, int]) -> list[dict[str, Any]]:
    """The rows of one model, learning rate and run. What is kept already is not computed again."""
    scale, data_path, name, learning_rate, run = task
    data = read_data(data_path)
    parts = dict.fromkeys(("data", "net", "threads", "precision", "seed"), True)
    what = scale.model_dump(include=parts | {"flow_check": {"num_steps", "tolerances"}})
    what |= {"model": name, "learning_rate": learning_rate, "run": run, "digests": digests(data)}
    code = code_of(scale.net.name, "iterlin_lab/experiments/flow_check/run.py")
    (rows,) = kept_rows([what], code, lambda missing: [_rows(scale, data, name, learning_rate, run)])
    return rows


def _rows(scale: Scope, data: dict[str, np.ndarray], name: str, learning_rate: float, run: int) -> list[dict[str, Any]]:
    check = scale.flow_check
    split_key, init_key, _ = keys(scale.seed, run)
    (model, _), splits, _ = initial(scale.net.model_dump(), scale.data.sizes, data, split_key, init_key)
    params0, fn = functional(model)
    x, model_of = splits["test"][0], {"proxy": Linearised(fn, params0), "network": fn}

    def outputs(solver, num_steps=check.num_steps):
        settings = {"num_steps": num_steps, "first_record": num_steps, "divergence_factor": float("inf")}
        result = train(model, splits, loss=cross_entropy, solver=solver, schedule=SCHEDULES[name], **settings)
        return _outputs(model_of[name], result.state.params, x), result

    steps, _ = outputs(STEPS[name](learning_rate))
    half, _ = outputs(STEPS[name](learning_rate / 2), 2 * check.num_steps)
    reference = 2 * half - steps
    moved = jnp.linalg.norm(reference - _outputs(fn, params0, x))

    def rows() -> Iterator[dict[str, Any]]:
        for tolerance in check.tolerances:
            reached, result = outputs(Flow(learning_rate, tolerance))
            yield {
                "model": name,
                "learning_rate": learning_rate,
                "steps": check.num_steps,
                "tolerance": tolerance,
                "run": run,
                "evaluations": result.records[-1]["evaluations"],
                **result.report,
                "error": (jnp.linalg.norm(reached - reference) / moved).item(),
                "error_of_steps": (jnp.linalg.norm(steps - reference) / moved).item(),
            }

    return list(rows())


@eqx.filter_jit
def _outputs(model: Callable, params: Any, x: Array) -> Array:
    return model(params, x)
