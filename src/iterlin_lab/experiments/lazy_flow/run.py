"""L-LAZY (L Theorem 3): the flow of a two-layer network against the flow of its linearisation, over N and γ.

The time is τ = γ²Nt. In it f_lin moves at a pace that no γ enters, dγf_lin/dτ = −(JJᵀ/N)(γf_lin − y)/n, and with
f_{θ₀} = 0 it is one trajectory for all γ. It is known in closed form.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float

from iterlin import ClosedForm
from iterlin._solvers.closed_form import eigenbasis
from iterlin.two_layer.networks import TwoLayer
from iterlin_lab.experiments.lazy_flow.settings import LazyFlow, Scope
from iterlin_lab.runs.two_layer_flows import Path as FlowPath
from iterlin_lab.runs.two_layer_flows import (
    draw,
    every_seed,
    first_pairs,
    flow,
    kernel,
    network,
    run_keys,
    start_network,
)

RESOLUTION = 1000  # the first record is at this part of the duration, or later


class Examples(NamedTuple):
    """The n training examples, and their inputs followed by the test inputs."""

    x: Float[np.ndarray, "n d"]
    y: Float[np.ndarray, "n 1"]
    inputs: Float[np.ndarray, "m d"]


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """The tables `runs` and `curves` of all seeds."""
    return every_seed(scale, "lazy_flow", f"{__name__}:{follow.__name__}")


def follow(seed: int, section: LazyFlow, run: int) -> dict[str, pd.DataFrame]:
    """The tables of one seed: the same examples for all N, whose networks are parts of the widest one."""
    data_key, init_key = run_keys(seed, "lazy_flow", run)
    n = section.num_train
    inputs, targets = draw(n + section.num_test, section.dimension, data_key)
    examples = Examples(inputs[:n], targets[:n], inputs)
    widest = start_network(max(section.widths), section.dimension, section.activation, init_key)
    steps = np.unique(np.geomspace(1, RESOLUTION, section.num_records).round().astype(int))
    rows, curves = [], []
    for width in section.widths:
        start = first_pairs(widest, width)
        linear = linear_flow(start, examples, section.duration, steps)
        for exponent in section.exponents:
            curve = follow_along(section, start, width**-exponent, examples, linear, steps)
            named = {"exponent": exponent, "width": width, "run": run}
            rows.append(named | summary(curve))
            curves.append(curve.assign(**named))
    return {"runs": pd.DataFrame(rows), "curves": pd.concat(curves)}


def linear_flow(start: TwoLayer, examples: Examples, duration: float, steps: np.ndarray) -> FlowPath:
    """γf_lin on all inputs, at these of `RESOLUTION` equal parts of the duration γ²Nt; and its kernel JJᵀ."""
    n, width = len(examples.x), len(start.outputs)
    rows = np.asarray(kernel(start, examples.inputs, examples.x)) / width
    num_params = start.weights.size + start.outputs.size
    basis = eigenbasis(rows[:n], -np.ravel(examples.y), n, num_params, damping=0.0)  # f = 0 at the start
    solver = ClosedForm(duration / RESOLUTION, continuous=True)
    outputs = np.stack([rows @ (basis.vectors @ solver.dual(basis, int(step))) for step in steps])
    return FlowPath(outputs, width * rows[None, :n])


def follow_along(
    section: LazyFlow, start: TwoLayer, scale: float, examples: Examples, linear: FlowPath, steps: np.ndarray
) -> pd.DataFrame:
    """A row a record: the losses, the RMS distances of γf and γf_lin, and ‖K_t − K₀‖/‖K₀‖ on the training inputs."""
    n, y, times = len(examples.x), np.ravel(examples.y), section.duration * steps / RESOLUTION
    train, unit = (examples.x, examples.y), scale**2 * len(start.outputs)
    path = flow(network, start, scale, train, examples.inputs, times / unit, section.tolerance)
    outputs = scale * path.outputs
    apart = (outputs - linear.outputs) ** 2
    moved = np.linalg.norm(path.kernels - linear.kernels, axis=(1, 2)) / np.linalg.norm(linear.kernels)
    return pd.DataFrame(
        {
            "time": times,
            "network_loss": np.mean((outputs[:, :n] - y) ** 2, axis=1) / 2,
            "linear_loss": np.mean((linear.outputs[:, :n] - y) ** 2, axis=1) / 2,
            "train_distance": np.sqrt(np.mean(apart[:, :n], axis=1)),
            "test_distance": np.sqrt(np.mean(apart[:, n:], axis=1)),
            "kernel_movement": moved,
        }
    )


def summary(curve: pd.DataFrame) -> dict[str, float]:
    """How far the trajectories were apart at their farthest, how far the kernel moved, and the losses at the end."""
    farthest = curve[["train_distance", "test_distance", "kernel_movement"]].max()
    return {**farthest, **curve[["network_loss", "linear_loss"]].iloc[-1]}
