"""E-DIALS: runs with every value of every dial, and how far the tangent kernel of each has moved."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from iterlin._similarity import kernel_alignment, kernel_distance
from iterlin_lab.experiments.dials.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.cells import train_all
from iterlin_lab.runs.kernels import traced_ntk
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.runs.splits import read_data
from iterlin_lab.runs.training import initial, keys
from iterlin_lab.runs.workers import side_by_side
from iterlin_lab.settings import parse_period

Setting = tuple[str, str]  # the dial, and its value


def recipes(scale: Scope) -> dict[Setting, list[Recipe]]:
    """The runs of every value of every dial. Run i has one draw of data and, but for other widths, of the network."""
    own = scale.dials
    found: dict[Setting, dict[str, Any]] = {("K", K): {"period": parse_period(K)} for K in own.periods}
    found |= {("λ", damping): _damped(scale, float(damping)) for damping in own.dampings}
    found |= {("α", factor): _rescaled(scale, float(factor)) for factor in own.scales}
    found |= {("width", factor): {"period": 1, "net": scale.net.widened(float(factor))} for factor in own.widths}
    found |= {("η", f"{rate:g}"): _explicit(scale, rate) for rate in own.learning_rates}
    shared: dict[str, Any] = {"seed": own.seed, "records_per_decade": own.records_per_decade, "batch_size": None}
    flow: dict[str, Any] = own.flow.model_dump() | {"solver": own.flow.solver.values()}
    return {
        setting: [make_recipe(scale, run, **(shared | flow | values)) for run in range(own.num_seeds)]
        for setting, values in found.items()
    }


def _damped(scale: Scope, damping: float) -> dict[str, Any]:
    """Truncated Gauss–Newton: every damped lazy problem is solved before the features are updated."""
    own = scale.dials.certified
    return {
        "solver": own.solver.values(),
        "learning_rate": own.solver.own_rate,
        "num_steps": own.num_steps,
        "first_record": 1,
        "tolerance": own.solver.tolerance,
        "damping": damping,
    }


def _rescaled(scale: Scope, factor: float) -> dict[str, Any]:
    """K = 1 with outputs αf. Their kernel is α² times as large, and so the time of the flow is α² times as short."""
    return {"period": 1, "output_scale": factor, "learning_rate": scale.dials.flow.learning_rate / factor**2}


def _explicit(scale: Scope, learning_rate: float) -> dict[str, Any]:
    return {
        "period": 1,
        "solver": {"name": "gradient_descent"},
        "learning_rate": learning_rate,
        "num_steps": scale.dials.explicit.num_steps,
        "first_record": 1,
    }


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, with how far its kernel has moved by the end, and how it is aligned with the labels."""
    data, cells = Layout(scale.name).data, recipes(scale)
    folders = iter(train_all(scale, data, list(cells.values()), "E-DIALS"))
    runs = [(*setting, recipe, next(folders)) for setting, cell in cells.items() for recipe in cell]
    tasks = [(scale, data, [run for run in runs if run[2].run == i]) for i in range(scale.dials.num_seeds)]
    found = side_by_side(f"{__name__}:{measured.__name__}", tasks, scale.threads, "E-DIALS, kernels", "run")
    return {"runs": pd.DataFrame(list(chain.from_iterable(zip(*found, strict=True))))}  # in the order of the cells


def measured(task: tuple[Scope, Path, list[tuple[str, str, Recipe, Path]]]) -> list[dict[str, Any]]:
    """For one draw at every setting: how the run ended, and its kernel against that of its initialisation.

    Kernels are traced over the outputs. With K = ∞ the model that was trained is the proxy, whose kernel stays.
    """
    scale, path, runs = task
    data, rows = read_data(path), []
    for dial, value, recipe, folder in runs:
        split_key, init_key, _ = keys(recipe.seed, recipe.run)
        (model, _), splits, _ = initial(recipe.net, recipe.sizes, data, split_key, init_key)
        x, y = (part[: scale.dials.num_examples] for part in splits["train"])
        first = traced_ntk(model, x)
        last = first if recipe.period == float("inf") else traced_ntk(load(folder / "model.eqx").model, x)
        moved = {
            "kernel_distance": float(kernel_distance(first, last)),
            "alignment": float(kernel_alignment(last, (y[:, None] == y[None]).astype(x.dtype))),
        }
        rows.append({"dial": dial, "value": value, **json.loads((folder / "run.json").read_text()), **moved})
    return rows
