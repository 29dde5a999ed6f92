"""L-DECAY (L Lemma 1): the training loss along gradient flow, against the exponential bound.

If d(γf)/dt = −Q(t)(γf − y)/n with Q(t) ≥ nλ I for all t, then L(t) ≤ L(0) e^{−2λt}. For γf_lin, Q = γ²J₀J₀ᵀ, so that
nλ = γ²σ_min(J₀)²: L drops the square. For the network itself Q(t) = γ²J_tJ_tᵀ changes along its trajectory, and λ is
the smallest that it comes to. With L's ½ sum in place of ½ mean, λ is n times as much, as time is.
"""

from itertools import product

import numpy as np
import pandas as pd

from iterlin import Linearised
from iterlin.two_layer.networks import TwoLayer
from iterlin_lab.experiments.decay.settings import Decay, Scope
from iterlin_lab.runs.two_layer_flows import (
    Predict,
    draw,
    every_seed,
    flow,
    kernel,
    network,
    run_keys,
    start_network,
)

LATE = 0.75  # of the time, after which the rate is measured


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """The tables `runs` and `curves` of all seeds."""
    return every_seed(scale, "decay", f"{__name__}:{follow.__name__}")


def follow(seed: int, section: Decay, run: int) -> dict[str, pd.DataFrame]:
    """The tables of one seed, from one θ₀, on the first so many of its examples.

    Of each number of them, f_lin with γ = 1/√N, on which nothing depends in units of γ²N; then f for every γ.
    """
    data_key, init_key = run_keys(seed, "decay", run)
    examples = draw(max(section.sizes), section.dimension, data_key)
    start = start_network(section.width, section.dimension, section.activation, init_key)
    cells = [("linearised", Linearised(network, start), 0.5)]
    cells += [(f"γ = N^−{exponent:g}", network, exponent) for exponent in section.exponents]
    rows, curves = [], []
    for size, (cell, predict, exponent) in product(section.sizes, cells):
        x, y = (values[:size] for values in examples)
        curve = follow_along(section, start, predict, section.width**-exponent, x, y)
        named = {"cell": cell, "size": size, "run": run}
        rows.append(named | summary(curve))
        curves.append(curve.assign(**named))
    return {"runs": pd.DataFrame(rows), "curves": pd.concat(curves)}


def follow_along(
    section: Decay, start: TwoLayer, predict: Predict, scale: float, x: np.ndarray, y: np.ndarray
) -> pd.DataFrame:
    """A row a record: time and rates in units of γ²N, the loss relative to the first, and λ(t) = γ²σ_min(J_t)²/n."""
    unit, target = scale**2 * section.width, np.ravel(y)

    def smallest(kernels: np.ndarray) -> np.ndarray | np.floating:
        return np.linalg.eigvalsh(kernels)[..., 0] / (section.width * len(x))

    initial = float(smallest(np.asarray(kernel(start, x, x))))
    times = section.horizon / (2 * initial) * np.linspace(0, 1, section.num_records)[1:]
    path = flow(predict, start, scale, (x, y), x, times / unit, section.tolerance)
    loss = np.mean((scale * path.outputs - target) ** 2, axis=1)
    return pd.DataFrame(
        {
            "time": times,
            "log_loss": np.log(loss / np.mean(target**2)),  # of f = 0 at the start
            "smallest": smallest(path.kernels) if predict is network else initial,
            "initial": initial,
        }
    )


def summary(curve: pd.DataFrame) -> dict[str, float]:
    """The bound's λ, the largest log L(t)/L(0) + 2λt, which is to be at most 0, and the rate at which L falls at last.

    λ is the smallest of the records and of the start.
    """
    smallest = float(curve[["initial", "smallest"]].min().min())
    late = curve[curve["time"] > LATE * curve["time"].max()]
    return {
        "initial": float(curve["initial"].iloc[0]),
        "smallest": smallest,
        "excess": float((curve["log_loss"] + 2 * smallest * curve["time"]).max()),
        "rate": -float(np.polyfit(late["time"], late["log_loss"], 1)[0]),
    }
