"""L-RELU (L theorem 4, fig. 3): one ReLU neuron by gradient descent, against kernels and lazy training."""

import math
import zlib
from itertools import chain, product
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import pandas as pd
from jaxtyping import Array, Float

from iterlin import Every, Result, Run, sgd, squared_error, train_many
from iterlin.two_layer.growing import growing_ridge
from iterlin.two_layer.limits import nt_limit, rf_limit
from iterlin.two_layer.networks import nt_kernel, rf_kernel, two_layer
from iterlin_lab.experiments.one_neuron.settings import OneNeuron, Scope
from iterlin_lab.runs.workers import side_by_side

ENERGY = 0.5  # E y², as |w*| = 1


class Neuron(eqx.Module):
    """f_w(x) = ReLU(⟨w, x⟩): its output weight is one, and is not trained."""

    weight: Float[Array, " d"]

    def __call__(self, x: Float[Array, " d"]) -> Float[Array, " 1"]:
        return jax.nn.relu(x @ self.weight)[None]


class Data(NamedTuple):
    """Gaussian inputs with the labels ReLU(⟨w*, x⟩), for training up to the largest n, and for testing."""

    x: Float[Array, "n d"]
    y: Float[Array, " n"]
    x_test: Float[Array, "m d"]
    y_test: Float[Array, " m"]


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a learner, dimension d, run and n, with the test error; and the test error of descents along training."""
    section, threads = scale.one_neuron, scale.threads
    shared = scale.seed, section
    descents = [(*shared, dimension) for dimension in sorted(section.dimensions, reverse=True)]
    runs = product(range(section.num_seeds), section.dimensions)  # runs of one d stand apart: it is compiled once
    kernels = [(*shared, dimension, run) for run, dimension in runs]
    curves = side_by_side(f"{__name__}:{descend.__name__}", descents, threads, "one neuron", "d")
    errors = side_by_side(f"{__name__}:{regress.__name__}", kernels, threads, "kernels", "run")
    order = ["dimension", "ratio", "run"]
    table = pd.DataFrame(list(chain.from_iterable(errors))).sort_values(["learner", *order], ignore_index=True)
    return {"errors": table, "descent": pd.concat(curves).sort_values([*order, "step"], ignore_index=True)}


def draw(seed: int, section: OneNeuron, dimension: int, run: int) -> tuple[Data, Array]:
    """The data of a run, and the key of its initialisations. All n take the first of the same examples."""
    key = jax.random.fold_in(jax.random.key(seed), zlib.crc32(b"one_neuron"))
    key = jax.random.fold_in(jax.random.fold_in(key, dimension), run)
    of_teacher, of_train, of_test, of_init = jax.random.split(key, 4)
    teacher = jax.random.normal(of_teacher, (dimension,))
    teacher /= jnp.linalg.norm(teacher)
    largest = round(max(*section.ratios, *section.descent.ratios) * dimension)
    x, x_test = (jax.random.normal(k, (n, dimension)) for k, n in ((of_train, largest), (of_test, section.num_test)))
    return Data(x, jax.nn.relu(x @ teacher), x_test, jax.nn.relu(x_test @ teacher)), of_init


def regress(task: tuple[int, OneNeuron, int, int]) -> list[dict[str, Any]]:
    """The errors of kernel regression in one run, with the limits K^RF and K^NT, and by lazy training.

    Lazy training to its end is regression without a ridge, up to rounding, with the network's own tangent kernel
    K_N^RF + d K_N^NT: in antisymmetric pairs it starts at f = 0.
    """
    seed, section, dimension, run = task
    with jax.enable_x64(True):
        data, key = draw(seed, section, dimension, run)
        net = two_layer(section.width, dimension, 1 / math.sqrt(section.width), jax.nn.relu, key)
        kernels = {
            "RF": lambda x, x2: rf_limit(jax.nn.relu, x, x2),
            "NT": lambda x, x2: nt_limit(jax.nn.relu, x, x2),
            "lazy": lambda x, x2: rf_kernel(net, x, x2) + dimension * nt_kernel(net, x, x2),
        }
        rows = []
        for learner, kernel in kernels.items():
            matrices = kernel(data.x, data.x), kernel(data.x_test, data.x)
            predictions = growing_ridge(*matrices, data.y, section.ridge)
            for ratio in section.ratios:
                n = round(ratio * dimension)
                error = jnp.mean(jnp.square(predictions[n - 1] - data.y_test)) / ENERGY
                row = {"learner": learner, "dimension": dimension, "ratio": ratio, "n": n, "run": run}
                rows.append(row | {"test_error": float(error)})
    return rows


def descend(task: tuple[int, OneNeuron, int]) -> pd.DataFrame:
    """The test error along gradient descent on one neuron, for all n/d and runs of one dimension, in one program.

    Each trains on as many examples as the largest: those beyond its n are zeros with the label zero, which the neuron
    fits whatever its weights are. They lower the mean loss by a factor, and η is larger by the same.
    """
    seed, section, dimension = task
    settings = section.descent
    largest = round(max(settings.ratios) * dimension)
    with jax.enable_x64(True):
        cells = list(product(settings.ratios, range(section.num_seeds)))
        runs = [padded(seed, section, dimension, round(ratio * dimension), largest, run) for ratio, run in cells]
        results = train_many(
            runs,
            loss=squared_error,
            schedule=Every(1),
            num_steps=settings.num_steps,
            fit_loss=settings.fit_loss,
            records_per_decade=settings.records_per_decade,
        )
    tables = [_curve(dimension, *cell, result) for cell, result in zip(cells, results, strict=True)]
    return pd.concat(tables, ignore_index=True)


def padded(seed: int, section: OneNeuron, dimension: int, n: int, largest: int, run: int) -> Run:
    """A run on the first n examples of a draw, with zeros for the others up to the largest n."""
    data, key = draw(seed, section, dimension, run)
    start = section.descent.initial_norm / math.sqrt(dimension) * jax.random.normal(key, (dimension,))
    known = jnp.arange(largest) < n
    train = jnp.where(known[:, None], data.x[:largest], 0), jnp.where(known, data.y[:largest], 0)[:, None]
    splits = {"train": train, "test": (data.x_test, data.y_test[:, None])}
    return Run(Neuron(start), splits, sgd(section.descent.learning_rate * largest / n))


def _curve(dimension: int, ratio: float, run: int, result: Result) -> pd.DataFrame:
    """A row a record. The loss is half the mean square."""
    curve = pd.DataFrame(result.records)[["step", "network_test_loss"]]
    error = 2 * curve["network_test_loss"] / ENERGY
    cell = {"dimension": dimension, "ratio": ratio, "n": round(ratio * dimension), "run": run}
    return pd.DataFrame({**cell, "outcome": result.outcome.name, "step": curve["step"], "test_error": error})
