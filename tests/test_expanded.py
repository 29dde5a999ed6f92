"""The expansion of a network to the first and the second order."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.experimental.jet import jet

from iterlin import BatchModel, EquinoxModel, Expanded, Linearised, functional
from tests.problems import dense_jacobian, mlp, regression, same

KEYS = jax.random.key(0), jax.random.key(1)
X, _ = regression(KEYS[1], n=5)


class Quadratic(eqx.Module):
    """A model that is quadratic in its parameters, with a product of two leaves, a square and a linear part."""

    left: jax.Array
    right: jax.Array

    def __call__(self, x):
        return (self.left @ jnp.sin(x)) * (self.right @ x) + jnp.square(self.left @ x) + self.right @ jnp.cos(x)


def quadratic():
    return Quadratic(jax.random.normal(KEYS[0], (2, 3)), jax.random.normal(KEYS[1], (2, 3)))


def relu(depth):
    """`depth` layers of ReLUs and a linear one; at `X` no ReLU is as near to its kink as a change of 10⁻³."""
    return eqx.nn.MLP(3, 2, width_size=7, depth=depth, activation=jax.nn.relu, key=KEYS[0])


def like(params, seed=2):
    return optax.tree.random_like(jax.random.key(seed), params)


def away(params, size=1.0):
    return optax.tree.add_scale(params, size, like(params))


@pytest.mark.parametrize("model", [mlp(KEYS[0]), quadratic()])
def test_the_first_order_is_the_linearised_network(model):
    params0, fn = functional(model)
    expanded, linearised = Expanded(fn, params0, 1), Linearised(fn, params0)
    params = away(params0)
    same(expanded(params, X), linearised(params, X))
    same(expanded.on(X)(params), linearised(params, X))
    same(expanded.with_state(X)(params)[0], linearised(params, X))


@pytest.mark.parametrize("order", [1, 2])
def test_at_the_point_of_expansion_it_is_the_network(order):
    params0, fn = functional(mlp(KEYS[0]))
    assert jnp.array_equal(Expanded(fn, params0, order)(params0, X), fn(params0, X))


def dense():
    """f, φ and ∂²f/∂θ² as arrays at θ_s, for outputs as one vector."""
    jacobian, theta0, unflatten, fn = dense_jacobian(mlp(KEYS[0]), X)
    hessian = jax.hessian(lambda theta: fn(unflatten(theta), X).ravel())(theta0)
    return fn, unflatten, theta0, fn(unflatten(theta0), X).ravel(), jacobian, hessian


def test_the_second_order_has_the_dense_hessian_and_its_gradient():
    fn, unflatten, theta0, outputs0, jacobian, hessian = dense()
    expanded = Expanded(fn, unflatten(theta0), 2)
    delta, u = jax.random.normal(KEYS[0], theta0.shape), jax.random.normal(KEYS[1], outputs0.shape)
    found, pull = jax.vjp(lambda theta: expanded(unflatten(theta), X).ravel(), theta0 + delta)
    same(found, outputs0 + jacobian @ delta + jnp.einsum("ijk,j,k->i", hessian, delta, delta) / 2)
    same(pull(u)[0], u @ jacobian + jnp.einsum("i,ijk,k->j", u, hessian, delta))


def test_its_terms_are_those_of_taylor_mode():
    params0, fn = functional(mlp(KEYS[0]))
    delta = like(params0)
    zero = optax.tree.zeros_like(delta)
    leaves, structure = jax.tree.flatten(params0)

    def outputs(*leaves):
        return fn(jax.tree.unflatten(structure, leaves), X)

    series = [[*pair] for pair in zip(*map(jax.tree.leaves, (delta, zero)), strict=True)]
    outputs0, (first, second) = jet(outputs, leaves, series)
    same(Expanded(fn, params0, 2)(optax.tree.add(params0, delta), X), outputs0 + first + second / 2)


@pytest.mark.parametrize("order", [1, 2])
def test_the_error_is_of_the_next_order(order):
    params0, fn = functional(mlp(KEYS[0]))
    expanded, sizes = Expanded(fn, params0, order), np.logspace(-3, -2, 5)
    points = [away(params0, size) for size in sizes]
    errors = [jnp.linalg.norm(fn(point, X) - expanded(point, X)) for point in points]
    # The next term is smaller by a factor of the order of the size, which moves the slope by as much.
    assert np.polyfit(np.log(sizes), np.log(np.array(errors)), 1)[0] == pytest.approx(order + 1, abs=0.02)


def test_a_model_quadratic_in_its_parameters_is_its_own_expansion():
    params0, fn = functional(quadratic())
    params = away(params0)
    same(Expanded(fn, params0, 2)(params, X), fn(params, X))
    assert jnp.linalg.norm(Expanded(fn, params0, 1)(params, X) - fn(params, X)) > 0.1


def signs(model, params):
    """Which ReLUs are active, layer by layer."""
    patterns, h = [], X
    for layer in eqx.combine(params, model).layers[:-1]:
        h = jax.nn.relu(jax.vmap(layer)(h))
        patterns.append(h > 0)
    return jnp.stack(patterns)


def test_two_layers_of_relus_are_quadratic_as_long_as_the_same_ones_are_active():
    model = relu(depth=1)
    params0, fn = functional(model)
    params = away(params0, 1e-3)
    assert jnp.array_equal(signs(model, params), signs(model, params0))
    # Products of two changes of 10⁻³ are some 10⁻⁶, far above rounding.
    assert jnp.linalg.norm(Expanded(fn, params0, 1)(params, X) - fn(params, X)) > 1e-7
    np.testing.assert_allclose(Expanded(fn, params0, 2)(params, X), fn(params, X), rtol=0, atol=1e-14)


def test_three_layers_of_relus_are_cubic_there_and_one_layer_alone_is_linear():
    model = relu(depth=2)
    params0, fn = functional(model)
    expanded = Expanded(fn, params0, 2)
    near, far = away(params0, 1e-3), away(params0, 2e-3)
    assert jnp.array_equal(signs(model, near), signs(model, far))
    assert jnp.array_equal(signs(model, near), signs(model, params0))
    error, larger = (fn(params, X) - expanded(params, X) for params in (near, far))
    # A cubic in δ: errors of some 10⁻⁹ with roundings of some 10⁻¹⁶ are in the ratio 2³ to seven digits.
    np.testing.assert_allclose(larger, 8 * error, rtol=0, atol=1e-5 * float(jnp.abs(larger).max()))
    moved = eqx.tree_at(lambda p: p.layers[1], params0, near.layers[1])
    same(expanded(moved, X), fn(moved, X))
    same(expanded(moved, X), Linearised(fn, params0)(moved, X))


def test_it_is_compiled_and_batched():
    params0, fn = functional(mlp(KEYS[0]))
    expanded = Expanded(fn, params0, 2)
    points = [away(params0, size) for size in (0.5, 1.0)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *points)
    found = eqx.filter_jit(eqx.filter_vmap(lambda params: expanded(params, X)))(stacked)
    same(found, jnp.stack([expanded(point, X) for point in points]))
    starts = eqx.filter_vmap(lambda params0: Expanded(fn, params0, 2)(points[0], X))(stacked)
    same(starts, jnp.stack([Expanded(fn, point, 2)(points[0], X) for point in points]))


def test_a_batch_in_blocks_has_the_outputs_of_the_whole():
    params0, whole = functional(mlp(KEYS[0]))
    _, blocks = functional(mlp(KEYS[0]), block_bytes=1)
    params = away(params0)
    assert "scan" in str(jax.make_jaxpr(blocks)(params0, X))
    same(Expanded(blocks, params0, 2)(params, X), Expanded(whole, params0, 2)(params, X))


class Pair(eqx.Module):
    """A model with a tree of outputs."""

    network: eqx.nn.MLP

    def __call__(self, x):
        outputs = self.network(x["a"])
        return {"sum": outputs.sum(), "squares": outputs**2}


def test_outputs_and_inputs_may_be_trees():
    params0, fn = functional(Pair(mlp(KEYS[0])))
    plain, outputs = functional(mlp(KEYS[0]))
    params = away(params0)
    found = Expanded(fn, params0, 2)(params, {"a": X})
    same(found["sum"], Expanded(outputs, plain, 2)(params.network, X).sum(axis=1))
    same(found["squares"], Expanded(lambda p, x: outputs(p, x) ** 2, plain, 2)(params.network, X))


class Counting(BatchModel):
    """A network that counts its batches, and whose outputs depend on the count."""

    network: eqx.nn.MLP

    def __call__(self, x, state, key):
        return state * jax.vmap(self.network)(x), state + 1


@pytest.mark.parametrize("order", [1, 2])
def test_the_state_is_that_of_the_network_at_the_point_of_expansion(order):
    params0, fn = functional(Counting(mlp(KEYS[0])))
    fn = fn.at(params0, X, jnp.asarray(3.0), None, jnp.asarray(False))
    params = away(params0)
    outputs, state = Expanded(fn, params0, order).with_state(X)(params)
    assert state == 4
    plain, network = functional(mlp(KEYS[0]))
    same(outputs, 3 * Expanded(network, plain, order)(params.network, X))


class Normed(eqx.Module):
    """A network with BatchNorm."""

    first: eqx.nn.Linear
    norm: eqx.nn.BatchNorm

    def __call__(self, x, state):
        return self.norm(self.first(x), state)


def test_running_statistics_move_as_those_of_the_network_do():
    module = Normed(eqx.nn.Linear(3, 2, key=KEYS[0]), eqx.nn.BatchNorm(2, "batch", mode="batch"))
    state = eqx.nn.State(module)
    params0, fn = functional(EquinoxModel(eqx.nn.delete_init_state(module), statistics="batch"))
    fn = fn.at(params0, X, state, None, jnp.asarray(True))
    after = Expanded(fn, params0, 2).with_state(X)(away(params0))[1]
    assert jax.tree.leaves(after)
    jax.tree.map(same, after, fn.with_state(params0, X)[1])


@pytest.mark.parametrize("order", [0, 3])
def test_another_order_is_refused(order):
    params0, fn = functional(mlp(KEYS[0]))
    with pytest.raises(ValueError, match=rf"^order must be 1 or 2, got {order}$"):
        Expanded(fn, params0, order)


def test_complex_parameters_are_refused():
    with pytest.raises(ValueError, match="the parameter θ is complex128: parameters must be real"):
        Expanded(lambda p, x: x @ p, jnp.ones((3, 2), complex), 2)
