"""How far expansions of a network are from it, after each has been trained by itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from iterlin import Expanded, functional
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.runs.results import kept_networks
from iterlin_lab.runs.splits import draw_splits, read_data
from iterlin_lab.runs.training import keys


def distances(task: tuple[Path, int, tuple[Recipe, Path], Mapping[int, Path]]) -> list[dict[str, Any]]:
    """‖f_i(θᵢ(t)) − f(θ(t))‖/‖f(θ(t)) − f(θ₀)‖ at every record, on so many examples of each split.

    It takes the recipe of the network's run and its folder, and the folders of its expansions about θ₀, by their order
    i. A row an order and a step t; an expansion that has diverged has none from there on.
    """
    data, num_examples, (recipe, folder), expansions = task
    splits, _ = draw_splits(read_data(data), recipe.sizes, keys(recipe.seed, recipe.run)[0])
    x = {split: splits[split][0][:num_examples] for split in ("train", "test")}
    networks = kept_networks(folder)
    params0, fn = functional(load(networks.pop(0)).model)
    models = {order: (Expanded(fn, params0, order), kept_networks(path)) for order, path in expansions.items()}
    first, rows = _outputs(fn, params0, x), []
    for step, file in networks.items():
        now = _outputs(fn, _parameters(file), x)
        for order, (model, files) in models.items():
            if step in files:
                there = _outputs(model, _parameters(files[step]), x)
                apart = {f"{split}_distance": _relative(there[split], now[split], first[split]) for split in x}
                rows.append({"order": order, "run": recipe.run, "step": step, **apart})
    return rows


def _parameters(file: Path) -> Any:
    return functional(load(file).model)[0]


@eqx.filter_jit  # one program a model
def _outputs(model: Any, params: Any, x: dict[str, Array]) -> dict[str, Array]:
    return {split: model(params, part) for split, part in x.items()}


def _relative(there: Float[Array, "..."], now: Float[Array, "..."], first: Float[Array, "..."]) -> float:
    return float(np.linalg.norm(there - now) / np.linalg.norm(now - first))
