import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from iterlin._linearise import residual_bytes
from iterlin_lab.nets import NETS
from iterlin_lab.nets.lenet.module import LeNet
from iterlin_lab.nets.mlp.module import MLP
from iterlin_lab.nets.shared import convolution
from iterlin_lab.nets.shared.build import build
from iterlin_lab.nets.shared.convolution import DIMENSIONS, Conv2d, conv2d, conv2d_by_rows, max_pool
from iterlin_lab.nets.shared.initialise import initialise, layers
from tests.problems import same


def lax_conv(x, kernel, padding, stride=1):
    """Where a stride leaves out rows of SAME padding, they are those of stride 1."""
    whole = jax.lax.conv_general_dilated(x[None], kernel, (1, 1), padding, dimension_numbers=DIMENSIONS)[0]
    return whole[::stride, ::stride]


def lax_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (2, 2, 1), (2, 2, 1), "VALID")


def same_function_and_derivatives(f, g, *arguments):
    """Values, JVP and VJP agree at random tangents and cotangents."""
    keys = jax.random.split(jax.random.key(9), len(arguments) + 1)
    tangents = tuple(jax.random.normal(key, a.shape) for key, a in zip(keys, arguments, strict=False))
    for one, other in zip(jax.jvp(f, arguments, tangents), jax.jvp(g, arguments, tangents), strict=True):
        same(one, other)
    out, vjp = jax.vjp(f, *arguments)
    cotangent = jax.random.normal(keys[-1], out.shape)
    for one, other in zip(vjp(cotangent), jax.vjp(g, *arguments)[1](cotangent), strict=True):
        same(one, other)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
@pytest.mark.parametrize("length", [1, 20, 10000], ids=["rows", "blocks", "at once"])
@pytest.mark.parametrize(
    ("size", "channels", "stride"), [(1, 1, 1), (2, 3, 1), (3, 1, 1), (5, 2, 1), (1, 2, 2), (3, 2, 2)]
)
def test_convolution_by_rows_is_that_of_lax(padding, length, size, channels, stride, monkeypatch):
    monkeypatch.setattr(convolution, "LENGTH", length)
    x_key, kernel_key = jax.random.split(jax.random.key(0))
    x = jax.random.normal(x_key, (7, 6, channels))
    kernel = jax.random.normal(kernel_key, (size, size, channels, 4))
    same_function_and_derivatives(
        lambda x, k: conv2d_by_rows(x, k, padding, stride), lambda x, k: lax_conv(x, k, padding, stride), x, kernel
    )


@pytest.mark.parametrize("size", [1, 3])
def test_convolution_with_a_stride_is_the_same_on_other_devices(size, monkeypatch):
    kernel, x = (
        jax.random.normal(jax.random.key(0), (size, size, 2, 4)),
        jax.random.normal(jax.random.key(1), (8, 8, 2)),
    )
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    same(conv2d(x, kernel, "SAME", 2), conv2d_by_rows(x, kernel, "SAME", 2))


def test_convolution_has_the_second_derivatives_of_lax_also_over_a_batch():
    x = jax.random.normal(jax.random.key(0), (3, 6, 5, 2))
    kernel, direction = jax.random.normal(jax.random.key(1), (2, 3, 3, 2, 4))

    def hessian_vector(convolution):
        loss = jax.grad(lambda kernel: jnp.sum(jax.vmap(lambda x: jnp.tanh(convolution(x, kernel, "SAME")))(x) ** 2))
        return jax.jvp(loss, (kernel,), (direction,))[1]

    same(hessian_vector(conv2d_by_rows), hessian_vector(lax_conv))


def test_convolution_keeps_the_image_and_not_its_patches():
    x, kernel = jnp.zeros((20, 20, 3)), jnp.zeros((5, 5, 3, 4))
    assert residual_bytes(lambda kernel, x: conv2d_by_rows(x, kernel, "VALID"), kernel, x) <= x.nbytes + kernel.nbytes


@pytest.mark.parametrize("shape", [(8, 8, 3), (7, 5, 2)])
def test_pooling_is_that_of_lax(shape):
    same_function_and_derivatives(max_pool, lax_pool, jax.random.normal(jax.random.key(0), shape))


def test_of_equal_values_pooling_counts_the_first_as_lax_does():
    x = jax.random.randint(jax.random.key(0), (8, 8, 20), 0, 2).astype(float)
    cotangent = jax.random.normal(jax.random.key(1), (4, 4, 20))
    (ours,), (lax,) = (jax.vjp(pool, x)[1](cotangent) for pool in (max_pool, lax_pool))
    np.testing.assert_array_equal(ours, lax)


def test_the_papers_lenet_has_1250_values_before_its_dense_layers():
    model = eqx.filter_eval_shape(LeNet, (32, 32, 3), 10, key=jax.random.key(0))
    assert model.dense[0].in_features == 1250
    assert eqx.filter_eval_shape(lambda model, x: model(x), model, jnp.zeros((32, 32, 3))).shape == (10,)


def test_lenet_is_its_layers_in_order():
    settings = {"channels": (3, 4), "kernel": 3, "padding": "SAME", "widths": (6,), "initialisation": "he_normal"}
    model = build("lenet", (8, 8, 1), 10, key=jax.random.key(0), **settings)
    x = jax.random.normal(jax.random.key(1), (8, 8, 1))
    hidden = x
    for layer in model.convolutions:
        hidden = lax_pool(jax.nn.relu(lax_conv(hidden, layer.weight, "SAME") + layer.bias[None, None]))
    hidden = jax.nn.relu(model.dense[0](hidden.ravel()))
    same(model(x), model.dense[1](hidden))


@pytest.mark.parametrize(
    ("name", "sizes", "expected"),
    [
        ("lenet", {"channels": [3, 4], "kernel": 3, "padding": "SAME", "widths": [6]}, [3, 4, 6, 10]),
        ("mlp", {"width": 7, "depth": 2}, [7, 7, 10]),
    ],
)
def test_the_layers_of_a_network_are_in_the_order_of_an_example(name, sizes, expected):
    settings = {"name": name, "initialisation": "he_normal", **sizes}
    model = build(input_shape=(8, 8, 1), num_classes=10, key=jax.random.key(0), **settings)
    found = layers(model)
    assert [len(layer.bias) for layer in found] == expected
    assert sum(map(count, found)) == count(model)
    assert NETS[name].model_validate(settings).num_layers == len(found)


def count(tree):
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(tree, eqx.is_inexact_array)))


@pytest.mark.parametrize("name", ["lenet", "mlp"])
def test_he_normal_has_variance_2_over_fan_in_and_no_biases(name):
    for layer, fan_in in wide_layers(name, "he_normal"):
        assert float(layer.weight.var()) == pytest.approx(2 / fan_in, rel=0.1)
        assert not np.any(layer.bias)


@pytest.mark.parametrize("name", ["lenet", "mlp"])
def test_pytorch_draws_weights_and_biases_alike(name):
    """Its documentation: U(−√k, √k) with k = 1/fan_in, for weights and biases of linear and convolutional layers."""
    for layer, fan_in in wide_layers(name, "pytorch"):
        bound = fan_in**-0.5
        for values in (layer.weight, layer.bias):
            assert 0.9 * bound < float(abs(values).max()) <= bound
        assert float(layer.weight.var()) == pytest.approx(bound**2 / 3, rel=0.1)
        assert not set(np.ravel(layer.weight).tolist()) & set(np.ravel(layer.bias).tolist())


def wide_layers(name, initialisation):
    """The layers that have enough weights for their variance, each with the number of inputs of an output."""
    wide = {"lenet": {"channels": (40, 50), "widths": (300,)}, "mlp": {"width": 300, "depth": 2}}[name]
    model = build(name, (16, 16, 1), 10, initialisation=initialisation, key=jax.random.key(0), **wide)
    found = [layer for layer in jax.tree.leaves(model, is_leaf=is_layer) if is_layer(layer)]
    found = [layer for layer in found if layer.weight.size > 2000 and layer.bias.size > 30]
    assert len(found) >= 2
    for layer in found:
        yield layer, np.prod(layer.weight.shape[:-1]) if isinstance(layer, Conv2d) else layer.weight.shape[1]


def is_layer(node):
    return isinstance(node, eqx.nn.Linear | Conv2d)


def test_unknown_initialisation_names_the_known_ones():
    model = MLP((4,), 2, key=jax.random.key(0))
    with pytest.raises(ValueError, match=r"unknown initialisation 'he'; known are he_normal, .*pytorch"):
        initialise(model, "he", jax.random.key(0))


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        (eqx.nn.Conv2d(1, 2, 3, key=jax.random.key(0)), r"\.layers\[0\]\.weight"),
        (eqx.nn.LayerNorm(4), r"\.layers\[0\]\.weight"),
        (jnp.ones(3), r"\.layers\[0\]"),
    ],
)
def test_a_layer_that_is_not_known_is_refused_by_name(layer, name):
    model = eqx.nn.Sequential([layer, eqx.nn.Linear(4, 2, key=jax.random.key(1))])
    with pytest.raises(ValueError, match=f"and not the layer of the parameter {name}: draw it before, or build it of"):
        initialise(model, "he_normal", jax.random.key(0))


def test_too_small_images_are_refused():
    with pytest.raises(ValueError, match="images of 8×8 are too small for two 5×5 convolutions with VALID padding"):
        LeNet((8, 8, 1), 10, key=jax.random.key(0))


def test_unknown_padding_is_refused():
    with pytest.raises(ValueError, match="padding must be 'VALID' or 'SAME', got 'full'"):
        Conv2d(1, 1, 3, "full", key=jax.random.key(0))
