"""E-FILTER (T fig. 6) and B-NTK: first-layer filters and tangent kernels of the networks of E-AUG, run by run."""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from iterlin import functional
from iterlin._records import log_spaced_steps
from iterlin._similarity import kernel_alignment, kernel_distance, linear_cka
from iterlin_lab.experiments.augmentation.settings import compared
from iterlin_lab.experiments.filters.settings import Scope
from iterlin_lab.layout import Layout
from iterlin_lab.nets.shared.saved import load
from iterlin_lab.runs.results import snapshots
from iterlin_lab.runs.splits import draw_splits, read_data
from iterlin_lab.runs.training import keys
from iterlin_lab.runs.workers import side_by_side
from iterlin_lab.settings import parse_period

DRAWN_RUN = 0  # the run whose filters are drawn
INTERVAL = (0.025, 0.975)  # of the permutations
NTK_PARTS = ("layer1", "layer2", "rest")  # whose parts add up to the NTK
Rows = list[dict[str, Any]]


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """The tables `similarity`, `filters` and `kernels`."""
    layout = Layout(scale.name)
    networks, runs = layout.results / "augmentation", range(scale.augmentation.num_seeds)
    tasks = [(scale, layout.data, networks, run) for run in runs]
    answers = side_by_side(f"{__name__}:{measure.__name__}", tasks, scale.threads, "E-FILTER", "run")
    return {name: pd.DataFrame([row for answer in answers for row in answer[name]]) for name in answers[0]}


def measure(task: tuple[Scope, Path, Path, int]) -> dict[str, Rows]:
    """The rows of one run, at K = 1 and at the large K."""
    scale, data, networks, run = task
    files = {period: snapshots(networks / period, run) for period in compared(scale.augmentation)}
    changes = {period: filter_changes(steps) for period, steps in files.items()}
    drawn = drawn_filters(scale, changes) if run == DRAWN_RUN else []
    similar = similarities(changes, scale.filters.num_permutations, (scale.seed, run))
    kernels = [
        {"cell": period, "run": run} | row
        for period, steps in files.items()
        for row in movement(scale, data, run, {step: steps[step] for step in kernel_steps(scale, period, steps)})
    ]
    return {"similarity": [{"run": run} | row for row in similar], "filters": drawn, "kernels": kernels}


def filter_changes(files: dict[int, Path]) -> dict[int, np.ndarray]:
    """By step, the filters of the first layer minus those at step 0, (size, size, channels, filters)."""
    weights = {step: np.asarray(load(file).model.filters, float) for step, file in files.items()}
    return {step: weight - weights[0] for step, weight in weights.items()}


def similarities(changes: dict[str, dict[int, np.ndarray]], num_permutations: int, seed: tuple[int, ...]) -> Rows:
    """A row a snapshot of K = 1: how similar its change is to the final one of the large K.

    That is their cosine, `similarity`; `size` is the length of the first relative to the second. The null is the cosine
    with the large K's filters in another order: its mean and interval over permutations; and `null_largest`, the mean
    over permutations of the largest one along training, as the largest similarity is looked for too.
    """
    one, large = changes.values()
    final = large[max(large)]
    count = final.shape[-1]
    draw = np.random.default_rng(seed)
    orders = np.stack([np.arange(count), *(draw.permutation(count) for _ in range(num_permutations))])
    moved = np.stack([change.reshape(-1, count) for change in one.values()])[1:]  # at step 0 there is no direction
    cross = np.einsum("sqi,qj->sij", moved, final.reshape(-1, count))  # of every filter with every other
    size = np.linalg.norm(moved, axis=(1, 2)) / np.linalg.norm(final)
    cosines = cross[:, np.arange(count), orders].sum(axis=-1) / (size[:, None] * np.sum(final**2))
    actual, permuted = cosines[:, 0], cosines[:, 1:]
    low, high = np.quantile(permuted, INTERVAL, axis=1)
    columns = {"step": list(one)[1:], "similarity": actual, "size": size}
    columns |= {"null": permuted.mean(axis=1), "null_low": low, "null_high": high}
    columns["null_largest"] = np.full(len(moved), permuted.max(axis=0, initial=-1).mean())
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def drawn_filters(scale: Scope, changes: dict[str, dict[int, np.ndarray]]) -> Rows:
    """A row a pixel of the first filters at equally spaced steps; between two snapshots it is interpolated linearly."""
    columns = np.linspace(0, scale.augmentation.num_steps, scale.filters.num_columns + 1)[1:]
    rows = []
    for period, at in changes.items():
        values = np.stack([at[step][..., : scale.filters.num_drawn] for step in at])
        for place, line in zip(np.ndindex(values.shape[1:]), values.reshape(len(at), -1).T, strict=True):
            where = dict(zip(("row", "column", "channel", "filter"), place, strict=True))
            drawn = zip(columns, np.interp(columns, list(at), line, right=math.nan), strict=True)
            rows += [{"cell": period, "step": step} | where | {"change": value} for step, value in drawn]
    return rows


def kernel_steps(scale: Scope, period: str, available: Iterable[int]) -> list[int]:
    """The snapshots nearest to log-spaced steps for K = 1, and those at feature updates for a larger K; the last one.

    Of updates that follow each other faster than records do, not every one has a snapshot.
    """
    known = sorted(available)
    if period != "1":
        return [step for step in known if step % parse_period(period) == 0 or step == known[-1]]
    wanted = log_spaced_steps(scale.augmentation.num_steps, scale.filters.kernels_per_decade)
    return sorted({min(known, key=lambda step: abs(step - target)) for target in wanted})


def movement(scale: Scope, data: Path, run: int, files: dict[int, Path]) -> Rows:
    """A row a snapshot: how far its kernels are from the kernels of the first, on a few training inputs of the run.

    The NTK is traced over the outputs. It is a sum over the layers' parameters, and each part is compared too; its
    centred alignment is with the labels. CKA compares activations with the activations of the first snapshot.
    """
    splits, _ = draw_splits(read_data(data), scale.data.sizes, keys(scale.seed, run)[0])
    x, y = (part[: scale.filters.num_examples] for part in splits["train"])
    same_class = (y[:, None] == y[None]).astype(x.dtype)  # the kernel of one-hot labels
    first, rows = None, []
    for step, file in files.items():
        model = load(file).model
        kernels, layers = traced_ntk(model, x), _activations(model, x)
        first = first or (kernels, layers)
        row = {f"distance_{name}": kernel_distance(kernel, first[0][name]) for name, kernel in kernels.items()}
        row["alignment"] = kernel_alignment(kernels["ntk"], same_class)
        pairs = zip(layers, first[1], strict=True)
        row |= {f"cka_layer{i}": linear_cka(*pair) for i, pair in enumerate(pairs, 1)}
        rows.append({"step": step} | {name: float(value) for name, value in row.items()})
    return rows


@eqx.filter_jit  # one program for all snapshots
def traced_ntk(model: Any, x: jax.Array) -> dict[str, jax.Array]:
    """Σ_o Θ(x, x)_{·o·o}, of shape (n, n), and its parts by layers: `ntk`, `layer1`, `layer2` and `rest`."""
    params, fn = functional(model)
    jacobian = jax.vmap(jax.jacrev(lambda params, example: fn(params, example[None])[0]), (None, 0))(params, x)
    parts = {}
    for name, part in zip(NTK_PARTS, jacobian.parts, strict=True):
        rows = jnp.concatenate([leaf.reshape(len(x), -1) for leaf in jax.tree.leaves(part)], axis=1)
        parts[name] = jnp.matmul(rows, rows.T, precision="highest")  # the trace: outputs and parameters in one sum
    return {"ntk": parts["layer1"] + parts["layer2"] + parts["rest"]} | parts


@eqx.filter_jit
def _activations(model: Any, x: jax.Array) -> list[jax.Array]:
    """The activations of the first two layers, (n, p)."""
    return [layer.reshape(len(x), -1) for layer in jax.vmap(model.activations)(x)]
