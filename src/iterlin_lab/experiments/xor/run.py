"""E-XOR (T fig. 7): which features a small network learns, by iterative linearisation and by damped Gauss–Newton."""

from itertools import chain, product
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from iterlin import (
    ClosedForm,
    Every,
    Linearised,
    Never,
    Outcome,
    Result,
    Ridge,
    Run,
    Schedule,
    Solver,
    functional,
    sgd,
    squared_error,
    train_many,
)
from iterlin._records import Splits
from iterlin_lab.data.xor import CENTRES, draw
from iterlin_lab.experiments.xor.settings import PURPOSE, Scope
from iterlin_lab.nets.mlp.module import MLP
from iterlin_lab.nets.shared.build import build
from iterlin_lab.runs.memory import limit_workers
from iterlin_lab.runs.store import kept_rows
from iterlin_lab.runs.training import code_of, keys
from iterlin_lab.runs.workers import grouped, side_by_side
from iterlin_lab.settings import parse_period

CODE = "iterlin_lab/data/xor.py", "iterlin_lab/experiments/xor/run.py"
SHARED = {"seed", "threads", "precision"}
AXES = {"periods", "dampings", "num_seeds"}
NUM_KEPT = 3  # runs whose features are kept
Cell = tuple[str, str]  # a dial, "K" or "λ", and its value
INITIAL_WITH: Cell = ("K", "1")  # whose rows have the features before training with them


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run of every cell; and a row a neuron of the first runs, trained and before that (cell `initial`)."""
    limit_workers(scale)
    groups = grouped(range(scale.xor.num_seeds), scale.xor.runs_at_once)
    tasks = [(scale, cell, runs) for cell, runs in product(cells(scale), groups)]
    answers = side_by_side(f"{__name__}:{train_group.__name__}", tasks, scale.threads, "XOR", "group")
    found = list(chain.from_iterable(answers))
    features = chain.from_iterable(neurons for _, neurons in found)
    return {"runs": pd.DataFrame([row for row, _ in found]), "features": pd.DataFrame(features)}


def cells(scale: Scope) -> list[Cell]:
    """The cells of both dials, each in the order of params.yaml."""
    return [*(("K", K) for K in scale.xor.periods), *(("λ", f"{damping:g}") for damping in scale.xor.dampings)]


def train_group(task: tuple[Scope, Cell, list[int]]) -> list[list[Any]]:
    """The row of each of some runs of a cell, and the rows of its neurons. What is kept is not computed again."""
    scale, cell, runs = task
    shared = scale.model_dump(include=SHARED)
    shared |= {"xor": scale.xor.model_dump(exclude=AXES), "cell": cell, "num_steps": method(scale, cell)[2]}
    descriptions = [shared | {"run": run} for run in runs]
    code = code_of(scale.xor.net["name"], *CODE)
    return kept_rows(descriptions, code, lambda missing: _rows(scale, cell, [runs[i] for i in missing]))


def _rows(scale: Scope, cell: Cell, runs: list[int]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    starts = [start(scale, run) for run in runs]
    results = _train(scale, cell, starts)
    rows = []
    for run, (model, splits), result in zip(runs, starts, results, strict=True):
        named = {"dial": cell[0], "cell": cell[1], "run": run}
        neurons = [named | neuron for neuron in features(result.model)] if run < NUM_KEPT else []
        if run < NUM_KEPT and cell == INITIAL_WITH:
            neurons += [{"dial": "", "cell": "initial", "run": run} | neuron for neuron in features(model)]
        rows.append((named | summary(model, splits, result), neurons))
    return rows


def start(scale: Scope, run: int) -> tuple[MLP, Splits]:
    """The network before training and the data of a run, the same for all cells."""
    xor, (data_key, init_key, _) = scale.xor, keys(scale.seed, run, PURPOSE)
    sizes = {"train": xor.num_train, "test": xor.num_test}
    split_keys = jax.random.split(data_key, len(sizes))
    splits = {
        name: draw(size, xor.noise_variance, key) for (name, size), key in zip(sizes.items(), split_keys, strict=True)
    }
    model = build(**xor.net, input_shape=(2,), num_classes=1, key=init_key)
    return jax.tree.map(lambda leaf: xor.initial_scale * leaf if eqx.is_array(leaf) else leaf, model), splits


def _train(scale: Scope, cell: Cell, starts: list[tuple[MLP, Splits]]) -> list[Result]:
    solver, schedule, num_steps, damping = method(scale, cell)
    runs = [Run(model, splits, solver, damping) for model, splits in starts]
    settings: dict[str, Any] = {
        "loss": squared_error,
        "schedule": schedule,
        "num_steps": num_steps,
        "fit_loss": scale.xor.fit_loss,
        "divergence_factor": scale.xor.divergence_factor,
    }
    groups = [[run] for run in runs] if isinstance(solver, ClosedForm) else [runs]
    return list(chain.from_iterable(train_many(group, **settings) for group in groups))


def method(scale: Scope, cell: Cell) -> tuple[Solver, Schedule, int, float]:
    """Solver, schedule, step limit and damping of a cell."""
    xor, (dial, value) = scale.xor, cell
    if dial == "λ":
        return Ridge(), Every(1), xor.num_updates, float(value)
    finite = [int(parse_period(K)) for K in xor.periods if K != "inf"]
    K = max(finite) if value == "inf" else int(parse_period(value))
    num_steps = max(xor.num_steps, xor.num_phases * K)
    schedule = Never() if value == "inf" else Every(K)
    explicit = value != "inf" and xor.explicit_up_to >= K
    return (sgd if explicit else ClosedForm)(xor.learning_rate), schedule, num_steps, 0.0


def summary(model: MLP, splits: Splits, result: Result) -> dict[str, Any]:
    """How a run ended; errors and accuracies by the sign, of the network and of the proxy that was trained."""
    last, (x, y) = result.records[-1], splits["test"]
    params, fn = functional(result.model)
    outputs = _outputs(Linearised(fn, result.state.params0), params, x)
    initial, trained = (alignments(weights(net)[0]) for net in (model, result.model))
    row: dict[str, Any] = {
        "outcome": result.outcome.name,
        "cause": result.divergence and result.divergence.cause,
        "steps": last["step"],
        "feature_updates": last["feature_updates"],
        "distance": last["distance_init"],
        "train_rmse": float(np.sqrt(2 * last["network_train_loss"])),
        "alignment_initial": float(np.nanmean(initial)),
        "alignment": float(np.nanmean(trained)),
        "no_direction": int(np.isnan(trained).sum()),
    }
    for name, f in outputs.items():
        row[f"{name}_test_rmse"] = jnp.sqrt(jnp.mean(jnp.square(f - y))).item()
        row[f"{name}_test_accuracy"] = jnp.mean(jnp.sign(f) == jnp.sign(y)).item()
    if result.outcome is Outcome.diverged:  # what it would have come to is not known
        row |= dict.fromkeys(name for name in row if name.startswith(("alignment", "network_", "proxy_")))
    return row


@eqx.filter_jit
def _outputs(linearised: Linearised, params: Any, x: jax.Array) -> dict[str, jax.Array]:
    return {"network": linearised.fn(params, x), "proxy": linearised(params, x)}


def weights(model: MLP) -> tuple[np.ndarray, np.ndarray]:
    """Rows w₁ᵢ of the first layer, (width, 2), and the output weights w₂ᵢ, (width,)."""
    first, last = model.layers.layers
    return np.asarray(first.weight, np.float64), np.asarray(last.weight, np.float64)[0]


def features(model: MLP) -> list[dict[str, float]]:
    """A row a neuron: the first-layer row, the output weight, the alignment."""
    rows, output = weights(model)
    table = np.column_stack([rows, output, alignments(rows)])
    return [dict(zip(("w1_x", "w1_y", "w2", "alignment"), map(float, row), strict=True)) for row in table]


def alignments(rows: np.ndarray) -> np.ndarray:
    """a(w) = max_c cos(w, c) over c ∈ {±1}² (T eq. 11), of each row w; NaN where w = 0, which has no direction."""
    centres = np.asarray(CENTRES)
    norms = np.linalg.norm(rows, axis=1, keepdims=True) * np.linalg.norm(centres, axis=1)
    with np.errstate(invalid="ignore"):
        return np.max(rows @ centres.T / norms, axis=1)
