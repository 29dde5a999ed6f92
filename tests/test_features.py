"""Measures of how far features move, against what they are in closed form."""

import jax
import jax.numpy as jnp
import pytest

from iterlin._similarity import centred, cosine, kernel_alignment, kernel_distance, linear_cka

A, B = jax.random.split(jax.random.key(0))
X = jax.random.normal(A, (6, 4)) + 3
Y = jax.random.normal(B, (6, 5))


def kernel(x):
    return x @ x.T


def test_known_values():
    assert cosine(jnp.asarray([1.0, 0.0]), jnp.asarray([1.0, 1.0])).item() == pytest.approx(2**-0.5)
    # ⟨I, 11ᵀ⟩ = n, with lengths √n and n.
    assert kernel_distance(jnp.eye(4), jnp.ones((4, 4))).item() == pytest.approx(0.5)
    # Two balanced classes: the centred identity has ⟨H, yyᵀ⟩ = n, with lengths √(n − 1) and n.
    labels = jax.nn.one_hot(jnp.arange(6) % 2, 2, dtype=X.dtype)
    assert kernel_alignment(jnp.eye(6), kernel(labels)).item() == pytest.approx(5**-0.5)
    assert kernel_alignment(kernel(labels), kernel(labels)).item() == pytest.approx(1)
    assert jnp.isnan(kernel_alignment(jnp.ones((3, 3)), jnp.eye(3)))


def test_centring_a_kernel_is_centring_its_features():
    assert jnp.allclose(centred(kernel(X)), kernel(X - jnp.mean(X, axis=0, keepdims=True)))


def test_nothing_changes_with_the_scale():
    for measure in (kernel_distance, kernel_alignment):
        expected = measure(kernel(X), kernel(Y))
        assert 0 < expected < 1
        assert jnp.isclose(measure(3 * kernel(X), kernel(Y)), expected)
        assert jnp.isclose(measure(kernel(Y), kernel(X)), expected)
    assert jnp.isclose(kernel_distance(kernel(X), 2 * kernel(X)), 0)


def test_cka_keeps_under_orthogonal_maps_shifts_and_scales_but_not_under_others():
    rotation, _ = jnp.linalg.qr(jax.random.normal(A, (4, 4)))
    moved = 2 * X @ rotation + 1
    assert jnp.isclose(linear_cka(X, moved), 1)
    assert jnp.isclose(linear_cka(moved, Y), linear_cka(X, Y))
    assert linear_cka(X, X @ jnp.diag(jnp.asarray([1.0, 2.0, 3.0, 4.0]))) < 0.99
