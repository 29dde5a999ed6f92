"""Small problems that several tests share."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from iterlin import Every, functional, sgd, squared_error, train
from iterlin._batches import FullBatch
from iterlin._problem import Problem
from iterlin._start import initial_state


class Affine(eqx.Module):
    """A model that is linear in its parameters, with fixed nonlinear features."""

    weight: jax.Array

    def __call__(self, x):
        return self.weight @ jnp.concatenate([jnp.sin(x), jnp.cos(x), jnp.ones(1)])


def affine(key, inputs=2, out=3):
    return Affine(jax.random.normal(key, (out, 2 * inputs + 1)))


def mlp(key, inputs=3, out=2, activation=jnp.tanh):
    return eqx.nn.MLP(inputs, out, width_size=7, depth=2, activation=activation, key=key)


def regression(key, n=12, inputs=3, out=2):
    x_key, y_key = jax.random.split(key)
    return jax.random.normal(x_key, (n, inputs)), jax.random.normal(y_key, (n, out))


def classification(key, n=12, inputs=3, classes=2):
    x_key, y_key = jax.random.split(key)
    x = jax.random.normal(x_key, (n, inputs))
    return x, jax.random.randint(y_key, (n,), 0, classes)


def noise_digits(number):
    """Noise in the shape of digits, of four classes in turn, as data sets hold it."""
    images = np.random.default_rng(0).uniform(size=(number, 8, 8, 1))
    return {"images": images, "labels": np.arange(number) % 4, "official_test": np.zeros(number, bool)}


def dense_jacobian(model, x):
    """φ of shape (n·out, p), and the parameters as one vector with its inverse map."""
    params, fn = functional(model)
    flat, unflatten = ravel_pytree(params)
    jacobian = jax.jacobian(lambda theta: fn(unflatten(theta), x).ravel())(flat)
    return jacobian, flat, unflatten, fn


def same(found, expected):
    """Numbers of order 1 that two programs come to in float64, with up to 10⁴ roundings each: 10⁴ε = 2·10⁻¹²."""
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def lazy_problem(model, data, loss=squared_error, damping=0.0):
    """The lazy problem about a model, full batch, and θ_s."""
    (params, fn), (x, y) = functional(model), data
    problem = Problem(fn, loss, FullBatch(), x, y, jnp.asarray(damping), jnp.asarray(jnp.inf))
    lazy, _ = problem.phase(params, Every(1))(initial_state(problem, params, sgd(1.0), Every(1)))
    return lazy, params


def one_step(solver, model, data, loss=squared_error, damping=0.0):
    """The flat θ and the solver's state after its first step from θ_s, without a training loop around it."""

    @eqx.filter_jit
    def step(solver, model, data, damping):
        lazy, params = lazy_problem(model, data, loss, damping)
        taken = solver.step(lazy, lazy.gradient(params), params, solver.init(params), jnp.asarray(1, jnp.int32))
        return ravel_pytree(taken.params)[0], taken.state

    return step(solver, model, data, jnp.asarray(damping, data[0].dtype))


def trained(model, data, **settings):
    """The flat parameters after training with defaults that suit these small problems."""
    defaults = {"loss": squared_error, "solver": sgd(0.05), "schedule": Every(1), "num_steps": 30}
    result = train(model, {"train": data}, **(defaults | settings))
    return ravel_pytree(result.state.params)[0], result
