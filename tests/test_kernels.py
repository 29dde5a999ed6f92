import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin import empirical_ntk, empirical_ntk_by_leaf, functional
from iterlin._exact_kernel import exact_kernel
from iterlin._kernels import BUDGET, factors
from iterlin_lab.nets.lenet.module import LeNet
from iterlin_lab.nets.mlp.module import MLP
from tests.problems import affine, dense_jacobian, mlp, same


class Twice(eqx.Module):
    """The same layer used twice, as W a and again as W b."""

    layer: eqx.nn.Linear
    out: eqx.nn.Linear

    def __call__(self, x):
        return self.out(jnp.tanh(self.layer(jnp.tanh(self.layer(x)))))


class Odd(eqx.Module):
    """A scalar, a layer over several positions, a row vector, a layer inside jit, and a leaf that has no use."""

    scale: jax.Array
    over: eqx.nn.Linear
    row: jax.Array
    jitted: eqx.nn.Linear
    unused: jax.Array

    def __call__(self, x):
        positions = jax.vmap(self.over)(jnp.outer(x, jnp.arange(1.0, 4.0)))
        hidden = self.scale * (jnp.tanh(positions).ravel() @ self.row)
        return eqx.filter_jit(lambda layer, h: layer(h))(self.jitted, jnp.tanh(hidden))


class Tied(eqx.Module):
    """A layer whose weight is also read on its own."""

    layer: eqx.nn.Linear

    def __call__(self, x):
        return self.layer(x) @ self.layer.weight


def odd(key):
    a, b, c = jax.random.split(key, 3)
    over, jitted = eqx.nn.Linear(3, 2, key=a), eqx.nn.Linear(4, 2, use_bias=False, key=b)
    return Odd(jnp.asarray(1.5), over, jax.random.normal(c, (6, 4)), jitted, jnp.ones((2, 2)))


def twice(key):
    return Twice(eqx.nn.Linear(3, 3, key=key), eqx.nn.Linear(3, 2, key=jax.random.fold_in(key, 1)))


MODELS = {
    "eqx": mlp,
    "mlp": lambda key: MLP((3,), 2, width=5, depth=2, key=key),
    "affine": lambda key: affine(key, inputs=3),
    "twice": twice,
    "tied": lambda key: Tied(eqx.nn.Linear(3, 2, key=key)),
    "odd": odd,
    "lenet": lambda key: LeNet((8, 8, 1), 3, channels=(2, 3), kernel=3, padding="SAME", widths=(5, 4), key=key),
}


def problem(name, n=5, seed=1):
    model = MODELS[name](jax.random.key(0))
    x = jax.random.normal(jax.random.key(seed), (n, 8, 8, 1) if name == "lenet" else (n, 3))
    return model, *functional(model), x


@pytest.mark.parametrize("name", MODELS)
def test_the_kernel_is_the_jacobian_times_its_transpose_leaf_by_leaf(name):
    model, params, fn, x = problem(name)
    parts = empirical_ntk_by_leaf(fn, params, x)
    jacobian, *_ = dense_jacobian(model, x)
    starts = np.cumsum([leaf.size for leaf in jax.tree.leaves(params)])[:-1]
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    for path, phi in zip(paths, jnp.split(jacobian, starts, axis=1), strict=True):
        part = parts.pop(path)
        assert part.shape == (5, len(phi) // 5, 5, len(phi) // 5)
        same(part.reshape(len(phi), -1), phi @ phi.T)
    assert not parts


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_sum_to_the_whole(name):
    _, params, fn, x = problem(name, n=2)
    whole = empirical_ntk(fn, params, x)
    same(sum(empirical_ntk_by_leaf(fn, params, x).values()), whole)


def test_between_two_sets_of_inputs():
    _, params, fn, x = problem("eqx", n=8)
    cross = empirical_ntk(fn, params, x[:5], x[5:])
    same(cross, empirical_ntk(fn, params, x)[:5, :, 5:])


@pytest.mark.parametrize("kernel", [empirical_ntk, empirical_ntk_by_leaf])
@pytest.mark.parametrize("m", [None, 7])
def test_blocks_within_a_small_budget_give_the_same(kernel, m):
    _, params, fn, x = problem("eqx", n=11)
    x2 = None if m is None else problem("eqx", n=m, seed=2)[-1]
    whole = kernel(fn, params, x, x2)
    result = sum(leaf.nbytes for leaf in jax.tree.leaves(whole))
    blocks = kernel(fn, params, x, x2, max_bytes=result + 9000)
    jax.tree.map(same, blocks, whole)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("rows", [5, 8192])
def test_in_blocks_of_rows_the_kernel_with_all_digits_is_that_of_the_jacobian(name, rows, monkeypatch):
    monkeypatch.setattr("iterlin._exact_kernel.ROWS", rows)
    model, params, fn, x = problem(name, n=6)
    jacobian, *_ = dense_jacobian(model, x)
    same(np.tril(exact_kernel(fn, params, x, BUDGET, "a test")), np.tril(jacobian @ jacobian.T))


def test_more_examples_than_are_differentiated_at_once():
    model, params, fn, x = problem("eqx", n=70)
    jacobian, *_ = dense_jacobian(model, x)
    gram = empirical_ntk(fn, params, x).reshape(140, 140)
    same(gram, jacobian @ jacobian.T)


def test_a_budget_that_does_not_hold_the_kernel_is_refused():
    _, params, fn, x = problem("eqx", n=11)
    with pytest.raises(
        ValueError, match=r"the NTK of 11 × 11 examples with 2 outputs takes .*e\+03 bytes \(3.9e\+03 of"
    ):
        empirical_ntk(fn, params, x, max_bytes=4000)


@pytest.mark.parametrize(
    ("name", "structured"),
    [
        ("eqx", {".layers[0].weight", ".layers[1].weight", ".layers[2].weight"}),
        ("affine", {".weight"}),
        ("twice", {".out.weight"}),
        ("tied", set()),
        ("odd", {".row"}),
        ("lenet", {".dense[0].weight", ".dense[1].weight", ".dense[2].weight"}),
    ],
)
def test_matrices_that_are_used_once_need_no_jacobian(name, structured):
    _, params, fn, x = problem(name)
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    found = zip(paths, eqx.filter_eval_shape(factors, fn, params, x), strict=True)
    assert {path for path, factor in found if factor.vectors is not None} == structured


def test_float32_agrees_with_float64_to_rounding():
    model, params, fn, x = problem("lenet")
    half = functional(jax.tree.map(lambda leaf: leaf.astype(jnp.float32) if eqx.is_array(leaf) else leaf, model))
    gram = empirical_ntk(half[1], half[0], x.astype(jnp.float32))
    exact = empirical_ntk(fn, params, x)
    assert gram.dtype == np.float32
    np.testing.assert_allclose(gram, exact, atol=2e-6 * np.abs(exact).max())
