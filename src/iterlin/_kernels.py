"""The empirical neural tangent kernel, within a memory budget."""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Var, jaxpr_as_fun
from jax.sharding import Mesh
from jaxtyping import Array, Float, PyTree

from iterlin._blocks import num_examples, rows
from iterlin._devices import by_device, copied, on, one_axis
from iterlin._linearise import as_vector, require_alone, require_real

BATCH = 32  # examples that are differentiated at once
BUDGET = 4 * 2**30  # bytes, wherever a kernel is stored

Tree = PyTree[Array]


def empirical_ntk(
    fn: Callable, params: Tree, x: Tree, x2: Tree | None = None, *, max_bytes: int = BUDGET, mesh: Mesh | None = None
) -> Float[np.ndarray, "n out m out"]:
    """Θ(x, x₂) = φ(x) φ(x₂)ᵀ = Σ_l φ_l(x) φ_l(x₂)ᵀ, the sum over the leaves l of the parameters (T eq. 19).

    For a weight matrix that meets an example in one product z = W a, the gradients of the outputs are ∂f/∂W = g aᵀ
    with g = ∂f/∂z, so φ_l φ_lᵀ = (G Gᵀ) ∘ (A Aᵀ) without φ_l itself (Novak, Sohl-Dickstein and Schoenholz 2022,
    "structured derivatives"). All other leaves take φ_l as it is.

    **Arguments**: `fn(params, x)` maps parameters and n inputs to outputs (n, out), each row from its own input.
    Outputs of more axes, or trees of them, are one vector an example.
    `x2` is x if None. `max_bytes` bounds the result and the blocks that it is made of; the activations of `BATCH`
    examples come on top. With a `mesh` of devices each of them differentiates its share of the examples of a block.

    **Returns**: an array in the dtype of the parameters.

    **Raises**: `ValueError` with the bytes it would take, if the budget does not hold the result and one example's φ;
    if a parameter is complex; if examples meet in the network; or for a mesh of several axes.
    """
    return _in_blocks(fn, params, x, x2, False, max_bytes, mesh)[0]


def empirical_ntk_by_leaf(
    fn: Callable, params: Tree, x: Tree, x2: Tree | None = None, *, max_bytes: int = BUDGET, mesh: Mesh | None = None
) -> dict[str, Float[np.ndarray, "n out m out"]]:
    """The parts φ_l φ_lᵀ of `empirical_ntk`, by the paths of the leaves, in the same way and with the same errors."""
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(params)]
    return dict(zip(paths, _in_blocks(fn, params, x, x2, True, max_bytes, mesh), strict=True))


def gram(fn: Callable, params: PyTree[Array], x: PyTree[Array]) -> Float[Array, "m m"]:
    """Θ(x, x) as a matrix over m = n·out outputs, in one block, for use in compiled code (see `empirical_ntk`)."""
    (theta,) = _gram(fn, params, x, None, False)
    m = theta.shape[0] * theta.shape[1]
    return theta.reshape(m, m)


def _in_blocks(fn, params, x, x2, by_leaf: bool, max_bytes: int, mesh: Mesh | None) -> list[np.ndarray]:
    fn, params, x, x2 = copied((fn, params, x, x2), mesh := one_axis(mesh))
    symmetric, second = x2 is None, x if x2 is None else x2
    shapes = eqx.filter_eval_shape(factors, fn, params, rows(x, slice(1)))
    n, m = num_examples(x), num_examples(second)
    num_parts, (_, out, _) = len(shapes) if by_leaf else 1, shapes[0].gradients.shape
    size = _block_size(shapes, num_parts, out, n, m, max_bytes)
    shape = (n, out, m, out)
    parts = [np.empty(shape, jnp.result_type(*jax.tree.leaves(params))) for _ in range(num_parts)]
    for i in range(0, n, size):
        for j in range(0, i + 1 if symmetric else m, size):
            other = None if symmetric and i == j else rows(second, slice(j, j + size))
            with on(mesh):
                blocks = _block(fn, params, rows(x, slice(i, i + size)), other, by_leaf)
            for part, block in zip(parts, blocks, strict=True):
                part[i : i + size, :, j : j + size] = block
                if symmetric:
                    part[j : j + size, :, i : i + size] = np.transpose(block, (2, 3, 0, 1))
    return parts


class Factors(NamedTuple):
    """What φ_l φ_lᵀ follows from: φ_l itself, or the gradients g and the vectors a of φ_l = g aᵀ."""

    gradients: Float[Array, "n out q"]
    vectors: Float[Array, "n d"] | None


def _block_size(factors: list[Factors], num_parts: int, out: int, n: int, m: int, max_bytes: int) -> int:
    """The number of examples in a block, so that the result, two blocks' factors and three products fit."""
    leaves = jax.tree.leaves(factors)
    itemsize = leaves[0].dtype.itemsize
    result = num_parts * n * m * out**2 * itemsize
    example = sum(math.prod(leaf.shape) for leaf in leaves) * itemsize

    def needed(size):
        return result + 2 * size * example + (num_parts + 2) * (size * out) ** 2 * itemsize

    if needed(1) > max_bytes:
        raise ValueError(
            f"the NTK of {n} × {m} examples with {out} outputs takes {needed(1):.2g} bytes ({result:.2g} of them for "
            f"the result), more than max_bytes = {max_bytes:.2g}: use fewer examples or raise max_bytes"
        )
    blocks = next(count for count in range(1, max(n, m) + 1) if needed(-(-max(n, m) // count)) <= max_bytes)
    return -(-max(n, m) // blocks)


def _gram(fn, params, x, x2, by_leaf: bool) -> list[Float[Array, "n out m out"]]:
    left = factors(fn, params, x)
    right = left if x2 is None else factors(fn, params, x2)
    if by_leaf:
        return [*map(_product, left, right)]
    left, right = _merged(left), _merged(right)
    return [sum(map(_product, left[1:], right[1:]), _product(left[0], right[0]))]


_block = eqx.filter_jit(_gram)


def _merged(factors: list[Factors]) -> list[Factors]:
    """With all leaves whose φ_l are there as one leaf: one matrix product instead of several."""
    whole = [factor.gradients for factor in factors if factor.vectors is None]
    products = [factor for factor in factors if factor.vectors is not None]
    return [*products, *([Factors(jnp.concatenate(whole, axis=-1), None)] if whole else [])]


def _product(left: Factors, right: Factors) -> Float[Array, "n out m out"]:
    gram = jnp.einsum("iaq,jbq->iajb", left.gradients, right.gradients, precision="highest")
    if left.vectors is None or right.vectors is None:
        return gram
    return gram * jnp.einsum("id,jd->ij", left.vectors, right.vectors, precision="highest")[:, None, :, None]


def factors(fn, params, x) -> list[Factors]:
    """The factors of all leaves. Each example is differentiated alone: no other enters its outputs."""
    require_real(params)
    require_alone(fn)
    leaves, structure = jax.tree.flatten(params)

    def of_one(leaves, x):
        return as_vector(rows(fn(jax.tree.unflatten(structure, leaves), jax.tree.map(lambda a: a[None], x)), 0))

    program = jax.make_jaxpr(of_one)(leaves, rows(x, 0))
    products = _products(program, len(leaves))
    places: list[Any] = [products[i].z.aval if i in products else leaf for i, leaf in enumerate(leaves)]

    def outputs(changes, x):  # changes to the leaves, or to the products that they enter
        arguments = [leaf if i in products else leaf + changes[i] for i, leaf in enumerate(leaves)]
        known, vectors = {}, {}
        for i, (z, a) in products.items():
            value, vectors[i] = _evaluate(program, [z, a], known, *arguments, x)
            known[z] = value + changes[i]
        return _evaluate(program, program.jaxpr.outvars, known, *arguments, x)[0], vectors

    def of_example(x):
        zeros = [jnp.zeros(place.shape, place.dtype) for place in places]
        jacobians, vectors = jax.jacrev(outputs, has_aux=True)(zeros, x)
        rows = [jacobian.reshape(len(jacobian), -1) for jacobian in jacobians]
        return [Factors(row, vectors[i].ravel() if i in vectors else None) for i, row in enumerate(rows)]

    return by_device(lambda x: jax.lax.map(of_example, x, batch_size=BATCH), x)


class _Product(NamedTuple):
    """The variables z and a of z = W a."""

    z: Var
    a: Var


def _products(program: ClosedJaxpr, num_leaves: int) -> dict[int, _Product]:
    """The leaves, by index, that are matrices and are used once: in a product with one vector. In the order of use."""
    jaxpr = program.jaxpr
    uses = Counter(v for v in [v for eqn in jaxpr.eqns for v in eqn.invars] + jaxpr.outvars if isinstance(v, Var))
    once = {leaf: i for i, leaf in enumerate(jaxpr.invars[:num_leaves]) if uses[leaf] == 1}
    products = {}
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "dot_general" and all(isinstance(v, Var) for v in eqn.invars):
            contracted, _ = eqn.params["dimension_numbers"]
            for leaf, a, axes in zip(eqn.invars, reversed(eqn.invars), contracted, strict=True):
                if leaf in once and leaf.aval.ndim == 2 and [leaf.aval.shape[i] for i in axes] == [a.aval.size]:
                    products[once[leaf]] = _Product(eqn.outvars[0], a)
    return products


def _evaluate(
    program: ClosedJaxpr, wanted: list[Var], known: dict[Var, Array], *arguments: PyTree[Array]
) -> list[Array]:
    """The values of variables of the program, where some variables have known values."""
    jaxpr = program.jaxpr
    eqns = [eqn for eqn in jaxpr.eqns if eqn.outvars[0] not in known]
    part = jaxpr.replace(invars=[*jaxpr.invars, *known], outvars=wanted, eqns=eqns)
    return jaxpr_as_fun(ClosedJaxpr(part, program.consts))(*jax.tree.leaves(arguments), *known.values())
