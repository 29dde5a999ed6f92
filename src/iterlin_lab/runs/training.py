"""One seeded training run on a data set, which the experiments share."""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
import pandas as pd

from iterlin import (
    Checkpoints,
    FileCheckpoints,
    Result,
    Run,
    Switched,
    cross_entropy,
    functional,
    ggn_max_eigenvalue,
    train_many,
)
from iterlin._linearise import block_size
from iterlin_lab.files import durable
from iterlin_lab.nets.shared.build import build_with_state
from iterlin_lab.nets.shared.saved import save
from iterlin_lab.runs.augment import AUGMENTATIONS
from iterlin_lab.runs.form import Form, choose
from iterlin_lab.runs.hosts import kept_together, mesh_of
from iterlin_lab.runs.methods import model_of, network_of, schedule_for, trainable_of
from iterlin_lab.runs.recipes import RESULT, SCHEDULE, Recipe
from iterlin_lab.runs.results import snapshot
from iterlin_lab.runs.runlog import RunLog
from iterlin_lab.runs.splits import Split, draw_splits, read_data
from iterlin_lab.runs.summary import summary
from iterlin_lab.runs.workers import checkpoint_interval
from iterlin_lab.settings.solvers import solver_of

CODE = (
    "iterlin",
    "iterlin_lab/nets/shared",
    "iterlin_lab/runs/augment.py",
    "iterlin_lab/runs/form.py",
    "iterlin_lab/runs/methods.py",
    "iterlin_lab/runs/splits.py",
    "iterlin_lab/runs/summary.py",
    "iterlin_lab/runs/training.py",
    "iterlin_lab/settings/schedules.py",
)
SOLVER = "iterlin_lab/settings/solvers/{}.py"  # by its name


def code_of(net: str, *more: str) -> tuple[str, ...]:
    """What results depend on that are computed with the network of this name, and with `more`."""
    return (*CODE, f"iterlin_lab/nets/{net}", *more)


def keys(seed: int, run: int, purpose: int = RESULT) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The keys of run i: for its splits, its initialisation and its batches.

    Runs of another `purpose` never share a key with it.
    """
    key = jax.random.fold_in(jax.random.key(seed), purpose)
    split, init, batches = jax.random.split(jax.random.fold_in(key, run), 3)
    return split, init, batches


def initial(
    net: dict, sizes: dict[str, int], data: dict[str, np.ndarray], split_key, init_key
) -> tuple[tuple[Any, Any], dict[str, Split], dict[str, Any]]:
    """The network before training with its state, the standardised splits, and a description to save networks with."""
    splits, (mean, deviation) = draw_splits(data, sizes, split_key)
    shape, classes = data["images"].shape[1:], int(data["labels"].max()) + 1
    net = net | {"input_shape": shape, "num_classes": classes}
    return build_with_state(**net, key=init_key), splits, {"net": net, "mean": mean, "deviation": deviation}


def run_many(
    recipes: list[Recipe],
    data: dict[str, np.ndarray],
    on_record: list[Callable[[dict[str, float]], None]],
    folders: Sequence[Path] = (),
    checkpoints: Checkpoints | None = None,
) -> tuple[list[Result], list[dict[str, Any]]]:
    """Train at once what the recipes say, which differ in the run and the learning rate alone.

    The results and descriptions of the networks, which are also kept in the folders at every record if the recipes say
    so. The program is always that for `runs_at_once` runs: in a group that is smaller, the last run is there several
    times.
    """
    first, runs, descriptions = recipes[0], [], []
    for recipe, log in zip(recipes, on_record, strict=True):
        split_key, init_key, batch_key = keys(recipe.seed, recipe.run)
        (model, state), splits, description = initial(recipe.net, recipe.sizes, data, split_key, init_key)
        solver = solver_of(recipe.solver).make(recipe.learning_rate)
        schedule = schedule_for(recipe, keys(recipe.seed, recipe.run, SCHEDULE)[0])
        keep = partial(_keep, folders[len(runs)], description) if recipe.snapshots else None
        damping = Switched(*recipe.damping) if isinstance(recipe.damping, tuple) else recipe.damping
        shared = {"state": state, "mesh": mesh_of(recipe.devices)}
        runs.append(Run(model_of(recipe, model), splits, solver, damping, batch_key, log, keep, schedule, **shared))
        descriptions.append(description)
    silent = runs[-1]._replace(on_record=lambda record: None, on_model=None)
    runs += [silent] * (first.runs_at_once - len(runs))
    model = runs[0].model
    trainable = trainable_of(first, model)
    form = choose(first, model, runs[0].splits["train"][0], trainable)
    runs = [run._replace(solver=form.of(run.solver)) for run in runs]
    settings = {"loss": cross_entropy, "schedule": 1, "checkpoints": checkpoints, "trainable": trainable}
    settings["block_bytes"] = block_size(first.threads)
    settings["augment"] = first.augmentation and AUGMENTATIONS[first.augmentation]
    results = train_many(runs, **settings, **first.training)
    results = [_measured(*pair) for pair in zip(results, runs[: len(recipes)], strict=False)]
    return [_described(result, form) for result in results], descriptions


def _described(result: Result, form: Form) -> Result:
    """The result with the plain network, and with what chose the form of its phases."""
    return result._replace(model=network_of(result.model), report=result.report | form.described())


def _measured(result: Result, run: Run) -> Result:
    """The result with the state that records have measured the network with, where it has one."""
    kept = result.state.model_state
    if kept is None:
        return result
    (x, _), *_ = run.splits.values()
    params, fn = functional(result.model)
    recorded = fn.recorded(jax.numpy.asarray(x), kept)
    measured = eqx.filter_jit(lambda recorded, params: recorded.calibrated(params))(recorded, params)
    return result._replace(state=dataclasses.replace(result.state, model_state=measured))


def _keep(folder: Path, description: dict[str, Any], step: int, model: Any) -> None:
    """Write the network; the next process writes it again where one that was stopped left it half-written."""
    save(snapshot(folder, step), network_of(model), description)
    durable(snapshot(folder, step))


def run_kept(task: tuple[list[Recipe], Path]) -> list[Path]:
    """The folders with the results of recipes that train at once, on the data in an `.npz` file.

    What is kept already is not trained again, and what was stopped goes on from its last checkpoint.
    """
    recipes, data_path = task
    data = read_data(data_path)

    def compute(folders: dict[int, Path], progress: Path) -> None:
        chosen = [recipes[i] for i in folders]
        device = jax.devices()[0].device_kind
        logs = [RunLog(folder, recipes[i].run, device) for i, folder in folders.items()]
        results = run_many(chosen, data, logs, list(folders.values()), FileCheckpoints(progress, checkpoint_interval()))
        trained = zip(chosen, folders.values(), *results, strict=True)
        for recipe, folder, result, description in trained:
            pd.DataFrame(result.records).to_csv(folder / "curve.csv", index=False, float_format="%.8g")
            (folder / "run.json").write_text(json.dumps(summary(recipe, result)))
            save(folder / "model.eqx", result.model, description, result.state.model_state)

    mesh_of(recipes[0].devices)  # where processes find each other
    return kept_together(*identity(recipes, digests(data)), compute)


def identity(recipes: list[Recipe], data: dict[str, str]) -> tuple[list[dict], tuple[str, ...]]:
    """What tells the results of recipes that train at once from others: their descriptions, and the code."""
    code = code_of(recipes[0].net["name"], SOLVER.format(recipes[0].solver["name"]))
    return [recipe._asdict() | {"data": data} for recipe in recipes], code


def max_eigenvalue(task: tuple[int, int, int, dict, dict[str, int], Path]) -> float:
    """λ_max of the GGN at initialisation, for the draw of a number and a purpose."""
    seed, draw, purpose, net, sizes, data_path = task
    split_key, init_key, power_key = keys(seed, draw, purpose)
    (model, _), splits, _ = initial(net, sizes, read_data(data_path), split_key, init_key)
    params, fn = functional(model)
    return eqx.filter_jit(ggn_max_eigenvalue)(fn, params, *splits["train"], cross_entropy, power_key).item()


def digests(data: dict[str, np.ndarray]) -> dict[str, str]:
    """What tells the data from others."""
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in data.items()}
