"""The arithmetic of a network's derivatives, counted in what jax traces: nothing is computed or compiled.

Products of matrices and convolutions are counted, two operations for a multiplication and an addition. What lies
between them moves memory, and its arithmetic is left out.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from iterlin import BatchModel, Linearised, cross_entropy, functional
from iterlin._batch_model import fresh
from iterlin._linearise import residual_bytes
from iterlin_lab.experiments.experiment import Built
from iterlin_lab.nets.shared.build import build_with_state

TRACED = 64  # examples, beside which what belongs to the parameters alone is little
ONE_BLOCK = 2**62  # bytes: as on a GPU, which takes all examples at once


class Operations(NamedTuple):
    """Of one example: operations of f, and of the gradient of f_lin; and the numbers that derivatives keep.

    For f_lin they are those of f, and twice those of φv, as φᵀu takes as many: about 5 times those of f, less what the
    first layer saves, which needs no derivative in its inputs.
    """

    forward: float
    linearised: float
    kept: float

    @property
    def hoisted(self) -> float:
        """The gradient of f_lin where a phase keeps f and what its derivatives need: φv and φᵀu, about 4 times."""
        return self.linearised - self.forward

    @property
    def plain(self) -> float:
        """The gradient of the network: f and φᵀu, about 3 times."""
        return self.forward + self.hoisted / 2


def count(built: Built) -> Operations:
    """Trace a network and its derivatives."""
    model, state = eqx.filter_eval_shape(
        build_with_state,
        **built.net,
        input_shape=built.input_shape,
        num_classes=built.num_outputs,
        key=jax.random.key(0),
    )
    dtype = jnp.result_type(float)
    x: Any = jax.ShapeDtypeStruct((TRACED, *built.input_shape), dtype)
    y: Any = jax.ShapeDtypeStruct((TRACED,), jnp.int32)
    programs = _forward, _linearised
    operations = [products(eqx.filter_make_jaxpr(program)(model, state, x, y)[0].jaxpr) for program in programs]
    kept = eqx.filter_eval_shape(lambda model, state, x: residual_bytes(*_function(model, state), x), model, state, x)
    return Operations(*(number / TRACED for number in (*operations, kept / dtype.itemsize)))


def _function(model: Any, state: Any) -> tuple[Callable, Any]:
    if not isinstance(model, BatchModel):
        params, fn = functional(model, block_bytes=ONE_BLOCK)
        return fn, params
    params, rest = eqx.partition(model, eqx.is_inexact_array)
    return (lambda params, x: eqx.combine(params, rest)(x, fresh(state), None)[0]), params


def _forward(model: Any, state: Any, x: Any, y: Any) -> Any:
    fn, params = _function(model, state)
    return fn(params, x)


def _linearised(model: Any, state: Any, x: Any, y: Any) -> Any:
    fn, params = _function(model, state)
    return jax.grad(lambda at: cross_entropy(Linearised(fn, params)(at, x), y))(params)


def products(jaxpr: Any) -> int:
    """The operations of all products in a program; a loop's as often as it runs."""
    total = 0
    for eqn in jaxpr.eqns:
        times = eqn.params.get("length", 1) if eqn.primitive.name == "scan" else 1
        total += _own(eqn) + times * sum(map(products, _inner(eqn.params.values())))
    return total


def _own(eqn: Any) -> int:
    shapes = [variable.aval.shape for variable in (*eqn.invars, *eqn.outvars)]
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return 2 * math.prod(shapes[-1]) * math.prod(shapes[0][axis] for axis in contracted)
    if eqn.primitive.name == "conv_general_dilated":
        out, *_ = eqn.params["dimension_numbers"].rhs_spec
        return 2 * math.prod(shapes[-1]) * math.prod(shapes[1]) // shapes[1][out]
    return 0


def _inner(values: Any) -> Iterator[Any]:
    """The programs within a step of a program."""
    for value in values:
        if isinstance(value, tuple | list):
            yield from _inner(value)
        elif hasattr(inner := getattr(value, "jaxpr", value), "eqns"):
            yield inner
