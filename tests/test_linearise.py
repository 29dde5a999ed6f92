import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from iterlin import Linearised, cross_entropy, functional, ggn_max_eigenvalue, squared_error
from iterlin._linearise import residual_bytes
from tests.problems import affine, classification, dense_jacobian, mlp, regression

# Bounds of 10⁻¹² are those of some 10³ rounded operations on numbers of order 1.


@pytest.fixture
def linearised():
    params, fn = functional(mlp(jax.random.key(0)))
    return Linearised(fn, params)


def like(params, seed):
    return optax.tree.random_like(jax.random.key(seed), params)


def test_value_at_the_expansion_point_is_that_of_the_network(linearised):
    x, _ = regression(jax.random.key(1))
    assert jnp.array_equal(linearised(linearised.params0, x), linearised.fn(linearised.params0, x))


def test_equals_the_expansion_with_a_dense_jacobian():
    x, _ = regression(jax.random.key(1))
    jacobian, theta0, unflatten, fn = dense_jacobian(mlp(jax.random.key(0)), x)
    theta = theta0 + jax.random.normal(jax.random.key(2), theta0.shape)
    params0 = unflatten(theta0)
    expected = fn(params0, x).ravel() + jacobian @ (theta - theta0)
    np.testing.assert_allclose(Linearised(fn, params0)(unflatten(theta), x).ravel(), expected, rtol=1e-12, atol=1e-12)


def test_vjp_is_the_adjoint_of_jvp(linearised):
    x, u = regression(jax.random.key(1))
    v = like(linearised.params0, 2)
    left = jnp.vdot(linearised.jvp(v, x), u)
    np.testing.assert_allclose(left, optax.tree.vdot(v, linearised.vjp(u, x)), rtol=1e-12)


def test_error_is_of_second_order(linearised):
    x, _ = regression(jax.random.key(1))
    direction = like(linearised.params0, 2)
    sizes = np.logspace(-4, -2, 5)
    errors = []
    for size in sizes:
        params = optax.tree.add_scale(linearised.params0, size, direction)
        errors.append(jnp.linalg.norm(linearised.fn(params, x) - linearised(params, x)))
    slope = np.polyfit(np.log(sizes), np.log(np.array(errors)), 1)[0]
    assert slope == pytest.approx(2, abs=0.02)


def test_a_model_linear_in_its_parameters_is_its_own_linearisation():
    params, fn = functional(affine(jax.random.key(0)))
    x = jax.random.normal(jax.random.key(1), (5, 2))
    other = like(params, 2)
    np.testing.assert_allclose(Linearised(fn, params)(other, x), fn(other, x), rtol=1e-12, atol=1e-12)


def test_a_batch_in_blocks_has_the_outputs_and_derivatives_of_the_whole():
    params, fn = functional(mlp(jax.random.key(0)))
    x, u = regression(jax.random.key(1))
    v = like(params, 2)
    whole = Linearised(fn, params)
    expected = fn(params, x), whole.jvp(v, x), whole.vjp(u, x)
    _, fn = functional(mlp(jax.random.key(0)), block_bytes=residual_bytes(fn, params, x) // 2)
    assert "scan" in str(jax.make_jaxpr(fn)(params, x))
    blocks = Linearised(fn, params)
    np.testing.assert_allclose(fn(params, x), expected[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(blocks.jvp(v, x), expected[1], rtol=1e-12, atol=1e-14)
    difference = optax.tree.sub(blocks.vjp(u, x), expected[2])
    assert optax.tree.norm(difference) <= 1e-12 * optax.tree.norm(expected[2])
    linear = jax.linearize(lambda params: fn(params, x), params)[1]
    (transposed,) = jax.linear_transpose(linear, params)(u)
    assert optax.tree.norm(optax.tree.sub(transposed, expected[2])) <= 1e-12 * optax.tree.norm(expected[2])


def test_where_jax_computes_is_not_asked_while_tracing(monkeypatch):
    """So that one function has one meaning, whatever the backend is when it is traced."""
    params, fn = functional(mlp(jax.random.key(0)))
    x, _ = regression(jax.random.key(1))
    traced = str(jax.make_jaxpr(fn)(params, x))
    monkeypatch.setattr(jax, "default_backend", lambda: pytest.fail("it was asked"))
    assert str(jax.make_jaxpr(lambda params, x: fn(params, x))(params, x)) == traced


def test_a_device_that_is_no_processor_has_the_whole_batch(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    params, fn = functional(mlp(jax.random.key(0)))
    many = jnp.zeros((100_000, 3))
    assert "scan" not in str(jax.make_jaxpr(fn)(params, many))
    _, fn = functional(mlp(jax.random.key(0)), block_bytes=2**19)
    assert "scan" in str(jax.make_jaxpr(fn)(params, many))


def test_losses_are_means_with_the_known_closed_forms():
    _, y = regression(jax.random.key(0))
    np.testing.assert_allclose(squared_error(y + 1, y), 0.5 * y.shape[1])
    logits, labels = classification(jax.random.key(1), inputs=4, classes=4)
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = -np.log(shares[np.arange(len(labels)), labels]).mean()
    np.testing.assert_allclose(cross_entropy(logits, labels), expected, rtol=1e-12)


def test_the_residual_is_the_derivative_of_the_squared_error():
    f, y = regression(jax.random.key(0), inputs=2)
    np.testing.assert_allclose(jax.grad(squared_error)(f, y), (f - y) / len(f), rtol=1e-12, atol=1e-14)


def test_max_eigenvalue_is_that_of_the_dense_ggn():
    x, labels = classification(jax.random.key(1))
    jacobian, theta, unflatten, fn = dense_jacobian(mlp(jax.random.key(0)), x)
    outputs = fn(unflatten(theta), x)
    hessian = jax.hessian(lambda f: cross_entropy(f.reshape(outputs.shape), labels))(outputs.ravel())
    expected = jnp.linalg.eigvalsh(jacobian.T @ hessian @ jacobian)[-1]
    found = ggn_max_eigenvalue(fn, unflatten(theta), x, labels, cross_entropy, jax.random.key(2), num_iterations=500)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
