"""Gradient flows of the lecture's two-layer networks and of their linearisations, seed by seed.

γ stands beside f, as in L §2: what is trained is γf, the kernel JJᵀ is without γ, and one program serves all γ. There L
has the loss ½‖γf − y‖²; here it is the mean of it over the n examples, so that all rates are 1/n of L's.

Flows are integrated by scipy's DOP853. Of order eight, it resolves distances of 10⁻⁵, which `Flow`, of order two, does
not.
"""

from collections.abc import Callable
from importlib.metadata import version
from pkgutil import resolve_name
from typing import Any, NamedTuple
from zlib import crc32

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from scipy.integrate import solve_ivp

from iterlin import squared_error
from iterlin.two_layer.networks import TwoLayer, nt_kernel, rf_kernel, two_layer
from iterlin_lab.runs.store import joined, kept_tables
from iterlin_lab.runs.workers import side_by_side
from iterlin_lab.settings.shared import Shared

CODE = ("iterlin", "iterlin_lab/runs/two_layer_flows.py")
Predict = Callable[[TwoLayer, Any], Array]  # (θ, x) ↦ outputs (n, 1), without γ
Inputs = Float[np.ndarray, "n d"]
Times = Float[np.ndarray, " times"]


def run_keys(seed: int, experiment: str, run: int) -> tuple[Array, Array]:
    """The keys of run i: for its examples, and its initialisation."""
    key = jax.random.fold_in(jax.random.key(seed), crc32(experiment.encode()))
    data, init = jax.random.split(jax.random.fold_in(key, run))
    return data, init


def draw(num: int, dimension: int, key: Array) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n 1"]]:
    """Inputs x ~ N(0, I), and labels |x₁| = ReLU(x₁) + ReLU(−x₁), whose mean square is one.

    L §1.3 has one ReLU neuron, which may be zero on all of a few examples.
    """
    x = np.asarray(jax.random.normal(key, (num, dimension)))
    return x, np.abs(x[:, :1])


def network(model: TwoLayer, x: Any) -> Float[Array, "n 1"]:
    """f_θ on inputs (n, d), where a linearised network is `Linearised(network, θ₀)`."""
    return model(x)


class Path(NamedTuple):
    """What is known along a flow: the outputs, without γ, and the kernels JJᵀ on the training inputs."""

    outputs: Float[np.ndarray, "times m"]
    kernels: Float[np.ndarray, "times n n"]


@eqx.filter_jit
def start_network(width: int, dimension: int, activation: str, key: Array) -> TwoLayer:
    """θ₀ in antisymmetric pairs, so that f = 0, with γ left out; the activation is one of jax.nn."""
    return two_layer(width, dimension, 1.0, getattr(jax.nn, activation), key)


def first_pairs(model: TwoLayer, width: int) -> TwoLayer:
    """The narrower network of the first pairs: one draw serves all widths."""
    half = np.arange(width // 2)
    pairs = np.concatenate([half, len(model.outputs) // 2 + half])
    return jax.tree.map(lambda leaf: np.asarray(leaf)[pairs], model)


@eqx.filter_jit
def kernel(model: TwoLayer, x: Any, x2: Any) -> Float[Array, "n m"]:
    """The empirical NTK JJᵀ = K^RF + d K^NT on inputs (n, d) and (m, d)."""
    return rf_kernel(model, x, x2) + x.shape[1] * nt_kernel(model, x, x2)


def flow(
    predict: Predict,
    start: TwoLayer,
    scale: float,
    train: tuple[Inputs, Float[np.ndarray, "n 1"]],
    inputs: Float[np.ndarray, "m d"],
    times: Times,
    tolerance: float,
) -> Path:
    """Along dθ/dt = −∇ ½ mean ‖γf_θ(x) − y‖² with γ = `scale`, at rising positive `times`; the outputs are on `inputs`.

    `tolerance` bounds the error of a step, relative to each entry of θ, and to 0.01 where an entry is smaller.

    **Raises**: `ArithmeticError` if the integration breaks down.
    """
    initial, _ = ravel_pytree(start)
    factor = jnp.asarray(scale)  # an array, so that no program is compiled for it alone

    def descent(_, theta):
        return np.asarray(_descent(predict, start, theta, factor, *train))

    span, first = (0, times[-1]), np.asarray(initial)
    path = solve_ivp(descent, span, first, method="DOP853", t_eval=times, rtol=tolerance, atol=tolerance / 100)
    if not path.success:
        raise ArithmeticError(f"the flow broke down at t = {path.t[-1]:.3g}: {path.message}")
    return Path(*map(np.asarray, _along(predict, start, path.y.T, train[0], inputs)))


@eqx.filter_jit
def _descent(predict: Predict, start: TwoLayer, theta: Array, scale: Array, x: Any, y: Any) -> Array:
    _, unravel = ravel_pytree(start)
    return -jax.grad(lambda theta: squared_error(scale * predict(unravel(theta), x), y))(theta)


@eqx.filter_jit
def _along(predict: Predict, start: TwoLayer, path: Array | np.ndarray, x: Any, inputs: Any) -> tuple[Array, Array]:
    _, unravel = ravel_pytree(start)

    def at(theta):
        model = unravel(theta)
        return predict(model, inputs)[:, 0], kernel(model, x, x)

    return jax.lax.map(at, path)


def every_seed(scale: Shared, experiment: str, follow: str) -> dict[str, pd.DataFrame]:
    """The tables of all seeds; the function `follow`, "module:name", makes the tables of one."""
    tasks = [(scale, experiment, follow, run) for run in range(getattr(scale, experiment).num_seeds)]
    return joined(side_by_side(f"{__name__}:{seed_kept.__name__}", tasks, scale.threads, experiment, "seed"))


def seed_kept(task: tuple[Shared, str, str, int]) -> dict[str, pd.DataFrame]:
    """The tables of one seed, computed in float64. What is kept already is not computed again."""
    scale, experiment, follow, run = task
    section = getattr(scale, experiment)
    what = {"experiment": experiment, "seed": scale.seed, "threads": scale.threads, "run": run}
    what |= {"settings": section.model_dump(exclude={"num_seeds"}), "scipy": version("scipy")}

    def compute() -> dict[str, pd.DataFrame]:
        with jax.enable_x64(True):
            return resolve_name(follow)(scale.seed, section, run)

    return kept_tables(what, (*CODE, f"iterlin_lab/experiments/{experiment}/run.py"), compute)
