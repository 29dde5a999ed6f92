"""E-QUAD: phases of the network and of its expansions about the initialisation, and how far these are apart."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np
import pandas as pd
from jaxtyping import Array, Float

from iterlin import Expanded, functional
from iterlin_lab.experiments.quadratic.settings import NETWORK, SPLITS, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.cells import train_all
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.runs.splits import draw_splits, read_data
from iterlin_lab.runs.training import keys
from iterlin_lab.runs.workers import side_by_side

Outputs = dict[str, Float[np.ndarray, "n classes"]]


def recipes(scale: Scope) -> dict[int, list[Recipe]]:
    """The runs of the network, and of its expansions by their order."""
    own = scale.quadratic
    return {order: [_recipe(scale, order, run) for run in range(own.num_seeds)] for order in (NETWORK, *own.orders)}


def _recipe(scale: Scope, order: int, run: int) -> Recipe:
    """The network's own flow, K = 1; or one phase, K = ∞, of its expansion of this order."""
    own = scale.quadratic
    return make_recipe(
        scale,
        run,
        seed=own.seed,
        net=scale.net.model_copy(update={"initialisation": own.initialisation}),
        solver=own.solver.values(),
        learning_rate=own.learning_rate,
        num_steps=own.num_steps,
        first_record=own.first_record,
        records_per_decade=own.records_per_decade,
        period=1 if order == NETWORK else float("inf"),
        order=max(order, 1),
        snapshots=True,
        fit_loss=None,
    )


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, and a row a record of an expansion, with how far it is from the network then."""
    data, cells = Layout(scale.name).data, recipes(scale)
    folders = iter(train_all(scale, data, list(cells.values()), "E-QUAD"))
    trained = {order: [next(folders) for _ in runs] for order, runs in cells.items()}
    tasks = [
        (scale, data, run, {order: folders[run] for order, folders in trained.items()})
        for run in range(scale.quadratic.num_seeds)
    ]
    found = side_by_side(f"{__name__}:{apart.__name__}", tasks, scale.threads, "E-QUAD, outputs", "run")
    rows = [
        {"order": order, **json.loads((folder / "run.json").read_text())}
        for order, folders in trained.items()
        for folder in folders
    ]
    return {"runs": pd.DataFrame(rows), "distances": pd.DataFrame(list(chain.from_iterable(found)))}


def apart(task: tuple[Scope, Path, int, dict[int, Path]]) -> list[dict[str, Any]]:
    """For one run, how far each expansion is from the network after as many steps, relative to the network's change.

    ‖f_i(θᵢ(t)) − f(θ(t))‖/‖f(θ(t)) − f(θ₀)‖ on each split: every model is trained by itself for the same time.
    """
    scale, data, run, folders = task
    splits, _ = draw_splits(read_data(data), scale.data.sizes, keys(scale.quadratic.seed, run)[0])
    x = {split: splits[split][0][: scale.quadratic.num_examples] for split in SPLITS}
    steps = {
        order: {int(file.stem.removeprefix("at-")): file for file in folder.glob("at-*.eqx")}
        for order, folder in folders.items()
    }
    start = steps[NETWORK].pop(0)
    rows, first = [], outputs(start, start, NETWORK, x)
    for step in sorted(steps[NETWORK]):
        now = outputs(start, steps[NETWORK][step], NETWORK, x)
        for order in scale.quadratic.orders:
            if step not in steps[order]:
                continue  # it has diverged before
            there = outputs(start, steps[order][step], order, x)
            distances = {f"{split}_distance": _relative(there[split], now[split], first[split]) for split in SPLITS}
            rows.append({"order": order, "run": run, "step": step, **distances})
    return rows


def outputs(start: Path, file: Path, order: int, x: dict[str, Array]) -> Outputs:
    """The outputs of the network in `file`, or of the expansion about `start` there."""
    params0, fn = functional(load(start).model)
    params, _ = functional(load(file).model)
    model = fn if order == NETWORK else Expanded(fn, params0, order)
    return {split: np.asarray(_evaluated(model, params, part)) for split, part in x.items()}


@eqx.filter_jit  # one program an order
def _evaluated(model: Any, params: Any, x: Array) -> Array:
    return model(params, x)


def _relative(there: Any, now: Any, first: Any) -> float:
    return float(np.linalg.norm(there - now) / np.linalg.norm(now - first))
