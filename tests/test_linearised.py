"""Linearised two-layer networks: their maps, kernels and limits, and kernel ridge regression."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import erf
from scipy.integrate import dblquad
from sklearn.kernel_ridge import KernelRidge

from iterlin import ClosedForm, Linearised, Never, empirical_ntk_by_leaf, functional, squared_error, train
from iterlin.two_layer.limits import nt_limit, on_sphere, rf_limit, whitened_error
from iterlin.two_layer.networks import (
    TwoLayer,
    derivative,
    nt_features,
    nt_kernel,
    rf_features,
    rf_kernel,
    two_layer,
)
from iterlin.two_layer.regression import feature_ridge, kernel_ridge
from tests.clone import ROOT

RELU = jax.nn.relu
LIMITS = {"rf": rf_limit, "nt": nt_limit}
PUBLISHED = json.loads((ROOT / "tests/neural_tangents.json").read_text())
GIVEN = {name: jnp.array(PUBLISHED[name]) for name in ("x", "x2", "y")}


def gelu(z):
    return jax.nn.gelu(z, approximate=False)


def leaky_relu(z):
    return jax.nn.leaky_relu(z, 0.01)


ACTIVATIONS = {"relu": RELU, "erf": erf, "gelu": gelu, "leaky_relu": leaky_relu}


def inputs(number=5, dimension=4, key=0):
    return jax.random.normal(jax.random.key(key), (number, dimension))


def network(activation=jnp.tanh, width=6, scale=0.7, dimension=4, antisymmetric=False):
    return two_layer(width, dimension, scale, activation, jax.random.key(3), antisymmetric=antisymmetric)


def close(found, expected, rtol=1e-12, atol=1e-14):
    """Within some 10³ roundings, unless quadrature, a linear system or a draw has an error of its own."""
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def test_the_blocks_of_the_jacobian_are_the_feature_maps():
    """L-DECOMP: the a-block is φ_RF and the W-block is √d φ_NT."""
    model, x = network(), inputs()
    params, fn = functional(model)
    jacobian = Linearised(fn, params).jacobian(x)
    close(jacobian[:, :6], rf_features(model, x))
    close(jacobian[:, 6:], np.sqrt(4) * nt_features(model, x))


def test_the_expansion_is_linear_in_the_two_maps_and_right_to_second_order():
    model, x, change = network(), inputs(), inputs(6, 5, key=1)
    delta_a, delta_w = change[:, 0], change[:, 1:]
    along = rf_features(model, x) @ delta_a + np.sqrt(4) * nt_features(model, x) @ delta_w.ravel()

    def moved(size):
        return TwoLayer(model.outputs + size * delta_a, model.weights + size * delta_w, model.scale, model.activation)

    rest = [np.linalg.norm(moved(size)(x) - model(x) - size * along[:, None]) for size in (1e-3, 5e-4)]
    assert rest[0] / rest[1] == pytest.approx(4, rel=0.01)
    params, fn = functional(model)
    close(Linearised(fn, params)(functional(moved(1.0))[0], x), model(x) + along[:, None])


def test_the_empirical_ntk_is_the_rf_kernel_and_d_times_the_nt_kernel():
    model, x, x2 = network(), inputs(), inputs(3, key=2)
    parts = empirical_ntk_by_leaf(functional(model)[1], functional(model)[0], x, x2)
    close(parts[".outputs"][:, 0, :, 0], rf_kernel(model, x, x2))
    close(parts[".weights"][:, 0, :, 0], 4 * nt_kernel(model, x, x2))
    close(rf_features(model, x) @ rf_features(model, x2).T, rf_kernel(model, x, x2))
    close(nt_features(model, x) @ nt_features(model, x2).T, nt_kernel(model, x, x2))


def test_antisymmetric_pairs_start_at_zero_and_need_an_even_width():
    model = network(antisymmetric=True)
    np.testing.assert_array_equal(model.weights[:3], model.weights[3:])
    close(model(inputs()), 0)
    assert set(np.asarray(network().outputs)) == {-1, 1}
    with pytest.raises(ValueError, match="antisymmetric pairs need an even width, not 5"):
        network(width=5, antisymmetric=True)


def test_weights_have_the_variance_one_over_d():
    weights = two_layer(40_000, 3, 1.0, RELU, jax.random.key(0), antisymmetric=False).weights
    close(np.cov(weights.T), np.eye(3) / 3, atol=0.01)


def with_angles():
    """Pairs of which one is parallel, one opposite, and one orthogonal."""
    x = inputs(3)
    turned = jnp.array([[-x[2, 1], x[2, 0], 0.0, 0.0]])
    return x, jnp.concatenate([2 * x[:1], -0.5 * x[1:2], turned])


@pytest.mark.parametrize("limit", LIMITS)
def test_the_arc_cosine_forms_are_the_integrals(limit):
    """A function that is not `jax.nn.relu` itself is integrated."""
    x, x2 = with_angles()
    close(LIMITS[limit](RELU, x, x2), LIMITS[limit](lambda z: RELU(z), x, x2), rtol=1e-13)
    close(jnp.diag(rf_limit(RELU, x, x)), jnp.sum(x**2, axis=1) / 8)  # E σ(z)² = ½E z²
    close(jnp.diag(nt_limit(RELU, x, x)), jnp.sum(x**2, axis=1) / 8)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_limits_are_those_of_a_published_implementation(limit, name):
    """Its NNGP kernel is K^RF, and its NTK is K^RF + K^NT."""
    published = {kind: np.array(values) for kind, values in PUBLISHED["kernels"][name].items()}
    expected = published["nngp"] if limit == "rf" else published["ntk"] - published["nngp"]
    close(LIMITS[limit](ACTIVATIONS[name], GIVEN["x2"], GIVEN["x"]), expected, rtol=1e-11, atol=1e-12)


def test_the_quadrature_agrees_with_another_library():
    a, b, c = 1.2, -0.4, 0.9  # ⟨w, x₁⟩ = a u and ⟨w, x₂⟩ = b u + c v
    x, x2 = np.sqrt(2) * jnp.array([[a, 0.0]]), np.sqrt(2) * jnp.array([[b, c]])

    def integrand(v, u):
        return np.tanh(a * u) * np.tanh(b * u + c * v) * np.exp(-(u**2 + v**2) / 2) / (2 * np.pi)

    close(rf_limit(jnp.tanh, x, x2)[0, 0], dblquad(integrand, -9, 9, -9, 9, epsabs=1e-9)[0], rtol=1e-7)


def test_kernels_of_wide_networks_are_near_their_limits():
    """Within five standard errors of a mean over neurons."""
    x, x2, width, activation = GIVEN["x"], GIVEN["x2"], 20_000, gelu
    model = network(activation, width, width**-0.5, dimension=3)
    z, z2 = x @ model.weights.T, x2 @ model.weights.T
    for kernel, limit, of in ((rf_kernel, rf_limit, activation), (nt_kernel, nt_limit, derivative(activation))):
        products = np.asarray(of(z))[:, None] * np.asarray(of(z2))
        deviation = products.std(axis=2) * (1 if of is activation else np.abs(x @ x2.T) / 3)
        error = np.abs(kernel(model, x, x2) - np.asarray(limit(activation, x, x2)))
        assert (error < 5 * deviation / np.sqrt(width)).all()


@pytest.mark.parametrize("limit", LIMITS)
def test_on_the_sphere_a_limit_is_a_function_of_the_angle(limit):
    x, x2 = (2 * x / jnp.linalg.norm(x, axis=1, keepdims=True) for x in with_angles())
    close(on_sphere(LIMITS[limit], jnp.tanh)(x, x2), LIMITS[limit](jnp.tanh, x, x2), atol=1e-13)


def test_limits_turn_with_their_inputs():
    x, x2 = inputs(), inputs(key=1)
    turn = np.linalg.qr(inputs(4, key=2))[0]
    for limit in LIMITS.values():
        close(limit(gelu, x @ turn, x2 @ turn), limit(gelu, x, x2), rtol=1e-11)


def test_the_whitened_error_is_that_of_the_symmetric_root():
    model, x = network(RELU, 50, 50**-0.5), inputs()
    kernel, limit = nt_kernel(model, x, x), nt_limit(RELU, x, x)
    values, vectors = np.linalg.eigh(limit)
    root = vectors / np.sqrt(values) @ vectors.T
    close(whitened_error(kernel, limit), np.linalg.norm(root @ kernel @ root - np.eye(5), 2), rtol=1e-9)
    close(whitened_error(1.25 * limit, limit), 0.25, rtol=1e-10)


def test_the_kernel_trick_and_the_feature_space_predict_alike():
    model, x, x2, y = network(), inputs(), inputs(3, key=1), inputs(5, 2, key=2)
    by_features = nt_features(model, x2) @ feature_ridge(nt_features(model, x), y, 1.0)
    close(nt_kernel(model, x2, x) @ kernel_ridge(nt_kernel(model, x, x), y, 1.0), by_features, rtol=1e-10)
    other = KernelRidge(alpha=1, kernel="precomputed").fit(nt_kernel(model, x, x), y)
    close(by_features, other.predict(nt_kernel(model, x2, x)), rtol=1e-10)


def test_without_a_ridge_features_interpolate_with_the_least_norm():
    phi, y = inputs(5, 24), inputs(5, 2, key=1)
    close(feature_ridge(phi, y, 0.0), np.linalg.pinv(phi) @ y, rtol=1e-9)


@pytest.mark.parametrize("kind", ["nngp", "ntk"])
def test_ridge_regression_predicts_as_a_published_implementation(kind):
    def kernel(x, x2):
        return rf_limit(erf, x, x2) + (nt_limit(erf, x, x2) if kind == "ntk" else 0.0)

    x, x2, y = GIVEN.values()
    close(kernel(x2, x) @ kernel_ridge(kernel(x, x), y, 0.1), PUBLISHED["ridge"][kind], rtol=1e-9)


def test_lazy_training_predicts_as_a_published_implementation():
    published = PUBLISHED["network"]
    outputs, weights = (jnp.array(published[name]) for name in ("outputs", "weights"))
    model = TwoLayer(outputs, weights, published["scale"], jnp.tanh)
    x, x2, y = GIVEN.values()
    close(rf_kernel(model, x, x) + 3 * nt_kernel(model, x, x), published["empirical_ntk"])
    solver = ClosedForm(published["time"], continuous=True)
    result = train(model, {"train": (x, y)}, loss=squared_error, solver=solver, schedule=Never(), num_steps=1)
    params, fn = functional(model)
    for name, where in (("train", x), ("test", x2)):
        close(Linearised(fn, params)(functional(result.model)[0], where), published["lazy"][name], rtol=1e-9)
