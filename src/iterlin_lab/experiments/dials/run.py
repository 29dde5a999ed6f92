"""Runs of E-DIALS, with every value of every dial. Nothing here imports jax before it runs."""

import json
from typing import Any

import pandas as pd

from iterlin_lab.experiments.dials.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import moved, train_all
from iterlin_lab.runs.recipes import Recipe, make_recipe
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
    folders = train_all(scale, data, list(cells.values()), "E-DIALS")
    runs = [(dial, value, recipe) for (dial, value), cell in cells.items() for recipe in cell]
    trained = [(recipe, folder) for (*_, recipe), folder in zip(runs, folders, strict=True)]
    kernels = moved(scale, data, trained, scale.dials.num_examples, "E-DIALS, kernels")
    rows = [
        {"dial": dial, "value": value, **json.loads((folder / "run.json").read_text()), **of_trained(recipe, kernel)}
        for (dial, value, recipe), folder, kernel in zip(runs, folders, kernels, strict=True)
    ]
    return {"runs": pd.DataFrame(rows)}


def of_trained(recipe: Recipe, kernel: dict[str, float]) -> dict[str, float]:
    """How far the kernel of the model that was trained has moved: with K = ∞ that is the proxy, whose kernel stays."""
    if recipe.period != float("inf"):
        return {name: kernel[name] for name in ("kernel_distance", "alignment")}
    return {"kernel_distance": 0.0, "alignment": kernel["initial_alignment"]}
