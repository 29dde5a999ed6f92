"""Estimates of kernels from random probes, against the dense kernels."""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from iterlin import Estimate, empirical_ntk, functional, kernel_cosine, kernel_norm, kernel_trace
from iterlin._kernel_estimates import cosine_of, features, moments
from iterlin._similarity import kernel_distance
from tests.problems import mlp, regression, same

KEYS = tuple(jax.random.split(jax.random.key(0), 4))


def problem(n=4):
    """A network at θ and at another θ', and n inputs."""
    params, fn = functional(mlp(KEYS[0]))
    other = optax.tree.add_scale(params, 0.3, optax.tree.random_like(KEYS[1], params))
    return fn, params, other, regression(KEYS[2], n)[0]


def dense(fn, params, x):
    kernel = empirical_ntk(fn, params, x)
    m = kernel.shape[0] * kernel.shape[1]
    return kernel.reshape(m, m)


def exact(fn, params, other, x):
    """Trace, norm and cosine of the dense kernels."""
    kernel, other_kernel = (jnp.asarray(dense(fn, at, x)) for at in (params, other))
    return jnp.trace(kernel), jnp.linalg.norm(kernel), 1 - kernel_distance(kernel, other_kernel)


@eqx.filter_jit
def estimates(fn, params, other, x, key, num_probes):
    return (
        kernel_trace(fn, params, x, key, num_probes),
        kernel_norm(fn, params, x, key, num_probes),
        kernel_cosine(fn, params, other, x, key, num_probes),
    )


def test_products_are_those_of_the_dense_kernel():
    fn, params, _, x = problem()
    phi, kernel = features(fn, params, x), dense(fn, params, x)
    u = jax.random.normal(KEYS[3], (4, 2))
    same(phi.kernel(u).ravel(), kernel @ u.ravel())


def test_over_all_vectors_of_signs_the_moments_are_exact():
    fn, params, other, x = problem(3)
    probes = jnp.asarray([*itertools.product([-1.0, 1.0], repeat=6)]).reshape(-1, 3, 2)
    assert len(probes) == 64
    phi, other_phi = features(fn, params, x), features(fn, other, x)
    products, squares, others = jax.lax.map(lambda u: moments(phi, other_phi, u), probes)
    kernel, other_kernel = dense(fn, params, x), dense(fn, other, x)
    traces = jax.lax.map(lambda u: optax.tree.norm(phi.transposed(u), squared=True), probes)
    same(jnp.mean(traces), np.trace(kernel))
    same(jnp.mean(squares) / np.sum(kernel**2), 1)
    same(jnp.mean(others) / np.sum(other_kernel**2), 1)
    same(jnp.mean(products) / np.sum(kernel * other_kernel), 1)
    same(cosine_of(products, squares, others).value, exact(fn, params, other, x)[2])
    # The variance of Hutchinson's estimate from vectors of signs.
    same(jnp.var(traces) / (2 * (np.sum(kernel**2) - np.sum(np.diag(kernel) ** 2))), 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_values_lie_within_four_standard_errors(seed):
    fn, params, other, x = problem()
    found = estimates(fn, params, other, x, jax.random.key(seed), 200)
    for (value, error), expected in zip(found, exact(fn, params, other, x), strict=True):
        assert abs(value - expected) < 4 * error
        assert 0 < error < 0.2 * expected


def test_standard_errors_are_those_of_many_estimates_and_fall_as_the_root_of_the_probes():
    fn, params, other, x = problem()
    truth = jnp.stack(exact(fn, params, other, x))
    repeated = eqx.filter_vmap(estimates, in_axes=(None, None, None, None, 0, None))
    found = {m: repeated(fn, params, other, x, jax.random.split(KEYS[3], 100), m) for m in (50, 800)}
    for each in found.values():
        # The mean of 100 squares of mean 1 and variance 2 is 1 ± 0.14; four of these, and the bias of order 1/m.
        scores = jnp.stack([(one.value - true) / one.error for one, true in zip(each, truth, strict=True)])
        np.testing.assert_allclose(jnp.mean(scores**2, axis=1), 1, rtol=0, atol=0.6)
    for few, many in zip(*found.values(), strict=True):
        assert jnp.mean(few.error) / jnp.mean(many.error) == pytest.approx(4, rel=0.1)


def test_a_kernel_and_itself_have_the_cosine_one_without_error():
    fn, params, _, x = problem()
    for cosine in (kernel_cosine, eqx.filter_jit(kernel_cosine)):
        assert cosine(fn, params, params, x, KEYS[3], 10) == Estimate(jnp.asarray(1.0), jnp.asarray(0.0))


def test_a_multiple_of_a_kernel_has_the_cosine_one_and_no_scale_enters():
    fn, params, other, x = problem()

    def scaled(leaves, x):
        return leaves["scale"] * fn(leaves["network"], x)

    def at(network, scale):
        return {"scale": scale, "network": network}

    def network_alone(leaves, x):  # the scale is a constant, so φ is a multiple
        return scaled({"scale": jax.lax.stop_gradient(leaves["scale"]), "network": leaves["network"]}, x)

    found = kernel_cosine(network_alone, at(params, jnp.asarray(1.0)), at(params, jnp.asarray(5.0)), x, KEYS[3])
    same(found.value, 1)
    assert found.error < 1e-12
    plain = kernel_cosine(fn, params, other, x, KEYS[3])
    far = kernel_cosine(network_alone, at(params, jnp.asarray(1e3)), at(other, jnp.asarray(1e-3)), x, KEYS[3])
    same(far.value, plain.value)
    same(far.error, plain.error)


def test_scaled_outputs_have_a_scaled_trace_and_norm():
    fn, params, _, x = problem()
    for estimate in (kernel_trace, kernel_norm):
        plain = estimate(fn, params, x, KEYS[3], 20)
        scaled = estimate(lambda p, x: 3 * fn(p, x), params, x, KEYS[3], 20)
        same(scaled.value / plain.value, 9)
        same(scaled.error / plain.error, 9)


def test_the_cosine_is_symmetric():
    fn, params, other, x = problem()
    one, swapped = (kernel_cosine(fn, *pair, x, KEYS[3], 20) for pair in ((params, other), (other, params)))
    same(one.value, swapped.value)
    same(one.error, swapped.error)


def test_the_trace_of_a_diagonal_kernel_is_exact():
    """Inputs that are orthogonal to each other, for a linear map to one output."""
    x = jnp.diag(jnp.arange(1.0, 6.0))
    value, error = kernel_trace(lambda p, x: x @ p, jnp.ones((5, 1)), x, KEYS[3], 7)
    assert value == 1 + 4 + 9 + 16 + 25
    assert error == 0


def test_a_kernel_of_rank_one_has_its_trace_as_norm():
    fn, params, x = (lambda p, x: x @ p), jnp.ones((3, 1)), jnp.outer(jnp.arange(1.0, 5.0), jnp.ones(3))
    expected = 3.0 * (1 + 4 + 9 + 16)
    for estimate in (kernel_trace, kernel_norm):
        value, error = estimate(fn, params, x, KEYS[3], 400)
        assert abs(value - expected) < 4 * error


def test_outputs_may_be_trees():
    fn, params, other, x = problem()

    def tree(params, x):
        f = fn(params, x)
        return {"first": f[:, 0], "second": f[:, 1:]}

    found = estimates(tree, params, other, x, KEYS[3], 400)
    for (value, error), expected in zip(found, exact(fn, params, other, x), strict=True):
        assert abs(value - expected) < 4 * error


def test_single_precision_does_not_overflow():
    fn, params, other, x = problem()
    theta, theirs, inputs = (jax.tree.map(lambda leaf: leaf.astype(jnp.float32), tree) for tree in (params, other, x))

    def large(params, x):  # ‖Θu‖² of some 10²⁴, whose square is no number in single precision
        return 1e5 * fn(params, x)

    phi, u = features(large, theta, inputs), jnp.ones((4, 2), jnp.float32)
    assert jnp.isinf(jnp.square(optax.tree.norm(phi.kernel(u), squared=True)))
    for estimate in (kernel_trace, kernel_norm):
        assert jnp.isfinite(jnp.stack(estimate(large, theta, inputs, KEYS[3], 20))).all()
    value, error = kernel_cosine(large, theta, theirs, inputs, KEYS[3], 200)
    assert value.dtype == error.dtype == jnp.float32
    assert abs(value - exact(fn, params, other, x)[2].astype(jnp.float32)) < 4 * error < 0.1


def test_one_probe_is_refused():
    fn, params, other, x = problem()
    for use in (
        lambda: kernel_trace(fn, params, x, KEYS[3], 1),
        lambda: kernel_norm(fn, params, x, KEYS[3], 1),
        lambda: kernel_cosine(fn, params, other, x, KEYS[3], 1),
    ):
        with pytest.raises(ValueError, match=r"^num_probes must be at least 2, which a standard error takes, got 1$"):
            use()


def test_complex_parameters_are_refused():
    with pytest.raises(ValueError, match="the parameter θ is complex128: parameters must be real"):
        kernel_trace(lambda p, x: jnp.abs(x @ p), jnp.ones((3, 2), complex), jnp.ones((2, 3)), KEYS[3])
