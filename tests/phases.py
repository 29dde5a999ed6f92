"""Phases of a small problem with squared error, and how far rounding takes two ways to compute them apart."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree

from iterlin import ClosedForm, Linearised, Never, functional, squared_error, train
from iterlin._records import measure
from tests.problems import dense_jacobian, mlp, regression

KEYS = jax.random.key(0), jax.random.key(1)
RATE, EPS = 0.05, np.finfo(float).eps


def trained(solver, model=None, data=None, **settings):
    """The flat parameters after training."""
    model, data = model or mlp(KEYS[0]), data or regression(KEYS[1])
    defaults = {"loss": squared_error, "schedule": Never(), "num_steps": 30}
    result = train(model, {"train": data}, solver=solver, **(defaults | settings))
    return parameters(result), result


def dense(n=12, data=None):
    """φ, θ_0, the residual f_0 − y, and the data."""
    x, y = data or regression(KEYS[1], n=n)
    jacobian, theta0, unflatten, fn = dense_jacobian(mlp(KEYS[0]), x)
    return np.asarray(jacobian), np.asarray(theta0), np.asarray(fn(unflatten(theta0), x) - y).ravel(), (x, y)


def rounding(time, n=12, data=None, rate=RATE):
    """How far rounding takes θ from where a phase of this time ends.

    θ − θ_0 = −φᵀg(Θ/n)r/n, where g(s) falls from τ to 1/s within s = 1/τ. So √s|g(s) − g(s')| ≤ τ^{3/2}|s − s'|, and
    an error ε‖Θ‖ in Θ makes one of ε‖H‖τ^{3/2}‖r‖/√n in θ, with H = φᵀφ/n. Explicit steps round θ each time.
    """
    jacobian, theta0, residual, (x, _) = dense(n, data)
    sharpest = np.linalg.norm(jacobian, 2) ** 2 / len(x)
    moved = sharpest * time**1.5 * np.linalg.norm(residual) / np.sqrt(len(x))
    return EPS * (moved + (1 + time / rate) * np.linalg.norm(theta0))


def parameters(result):
    return ravel_pytree(result.state.params)[0]


def initial_norm(result):
    return np.asarray(result.state.initial_norm)


def growth(solver, read=parameters, **settings):
    """What a run makes of an error in θ_0: ‖∂θ_T/∂θ_0‖ in the Frobenius norm, from one random direction.

    Or the derivative of what else is `read` of the result.
    """
    model = mlp(KEYS[0])
    theta0, unflatten = ravel_pytree(eqx.filter(model, eqx.is_inexact_array))
    change = 1e-9 * jax.random.normal(KEYS[1], theta0.shape)
    moved = eqx.combine(unflatten(theta0 + change), model)
    return np.linalg.norm(read(trained(solver, moved, **settings)[1]) - read(trained(solver, **settings)[1])) / 1e-9


def steepest(damping, **settings):
    """The largest norm of the gradient in θ of each number of a record, over the records of a phase."""
    data, (theta0, fn) = regression(KEYS[1]), functional(mlp(KEYS[0]))
    found = {}

    @eqx.filter_jit
    def gradients(params):
        values = partial(measure, Linearised(fn, theta0), squared_error, origin=theta0, splits={"train": data})
        return jax.jacrev(lambda params: values(params, damping=jnp.asarray(damping), train="train"))(params)

    def look(step, model):
        if step > 0:  # at step 0 distances have none
            for name, gradient in gradients(eqx.filter(model, eqx.is_inexact_array)).items():
                norm = float(optax.tree.norm(gradient))
                found[name] = max(found.get(name, 0.0), norm)

    trained(ClosedForm(RATE), damping=damping, on_model=look, **settings)
    return found


def time_of(num_steps, damping=0.0):
    """ηt, or 1/2λ, after which a damped phase has ended."""
    return min(RATE * num_steps, 1 / (2 * damping) if damping else np.inf)
