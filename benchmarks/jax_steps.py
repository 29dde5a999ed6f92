"""Steps of gradient descent in jax: the package's own, and by hand with jax's stock layers."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax

from benchmarks.problems import CLASSES, Problem
from iterlin import (
    ClosedForm,
    Dual,
    Flow,
    Linearised,
    Never,
    OnLinearisationError,
    Schedule,
    Solver,
    cross_entropy,
    functional,
    sgd,
    squared_error,
)
from iterlin._batches import FullBatch, MiniBatch
from iterlin._losses import Loss
from iterlin._problem import Problem as LazyProblem
from iterlin._schedules import OnNetwork
from iterlin._start import initial_state
from iterlin._state import Stop
from iterlin_lab.nets.shared.convolution import DIMENSIONS

RATE = 1e-3
DESCENT, LAZY = sgd(RATE), Never()


def network(problem: Problem):
    """θ, f(θ, x), x and y."""
    return *functional(problem.model(jax.random.key(0))), *map(jnp.asarray, problem.data())


def looped(step: Callable, problem: Problem, *arguments) -> Callable[[], None]:
    """The problem's steps in one compiled loop, as training runs them: their number is data, else XLA unrolls one."""
    run = jax.jit(lambda steps, first, *rest: jax.lax.fori_loop(0, steps, lambda _, p: step(p, *rest), first))
    return lambda: jax.block_until_ready(run(problem.steps, *arguments))


def plain_of(fn: Callable) -> Callable:
    """A step of gradient descent on the network `fn`."""

    def step(params, x, y):
        gradient = jax.grad(lambda params: cross_entropy(fn(params, x), y))(params)
        return optax.tree.add_scale(params, -RATE, gradient)

    return step


def linearised_of(fn: Callable) -> Callable:
    """A step on the network expanded about its parameters θ_s, which the loop carries and leaves as they are."""

    def step(both, x, y):
        params, params_s = both
        gradient = jax.grad(lambda p: cross_entropy(Linearised(fn, params_s)(p, x), y))(params)
        return optax.tree.add_scale(params, -RATE, gradient), params_s

    return step


def plain(problem: Problem) -> Callable[[], None]:
    """Gradient descent with the package's layers."""
    params, fn, x, y = network(problem)
    return looped(plain_of(fn), problem, params, x, y)


def linearised(
    problem: Problem,
    *,
    schedule: Schedule = LAZY,
    hoisted: bool = False,
    solver: Solver = DESCENT,
    loss: Loss = cross_entropy,
) -> Callable[[], None]:
    """The package's own phases: mini-batches as large as the data, or `hoisted` full batches."""
    params, fn, x, y = network(problem)
    size = problem.batch
    batches = FullBatch() if hoisted else MiniBatch(jax.random.key(0), size, size)
    bound = jnp.asarray(jnp.inf, jnp.float32)
    targets = jax.nn.one_hot(y, CLASSES) if loss is squared_error else y
    lazy = LazyProblem(fn, loss, batches, x, targets, jnp.zeros((), jnp.float32), bound)
    state, stop = initial_state(lazy, params, solver, schedule), Stop(problem.steps, problem.steps, problem.steps)
    return lambda: jax.block_until_ready(solver.advance(lazy, schedule, state, stop).params)


def hoisted(problem: Problem) -> Callable[[], None]:
    """Full batches in one phase: the primal is computed once."""
    return linearised(problem, hoisted=True)


def every_step(problem: Problem) -> Callable[[], None]:
    """Full batches with K = 1: a phase a step."""
    return linearised(problem, schedule=OnNetwork(), hoisted=True)


def watched(problem: Problem) -> Callable[[], None]:
    """Full batches in one phase that looks at the linearisation error after every 20 steps, and never ends for it."""
    return linearised(problem, schedule=OnLinearisationError(1e9), hoisted=True)


def flow(problem: Problem) -> Callable[[], None]:
    """Gradient flow in place of the steps of a phase."""
    return linearised(problem, solver=Flow(RATE), hoisted=True)


def dual(problem: Problem) -> Callable[[], None]:
    """The steps of a phase in its dual, with the kernel and its factorisation."""
    return linearised(problem, solver=Dual(DESCENT), hoisted=True)


def squared(problem: Problem) -> Callable[[], None]:
    """The steps of a phase with squared error."""
    return linearised(problem, loss=squared_error, hoisted=True)


def closed_form(problem: Problem) -> Callable[[], None]:
    """The same in closed form, with the kernel and its eigendecomposition."""
    return linearised(problem, loss=squared_error, solver=ClosedForm(RATE), hoisted=True)


def stock(params, x):
    """The network from `lax.conv_general_dilated` and `lax.reduce_window`."""
    for layer in params.convolutions:
        x = jax.lax.conv_general_dilated(x, layer.weight, (1, 1), "VALID", dimension_numbers=DIMENSIONS)
        x = jax.lax.reduce_window(x + layer.bias, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(x)
    x = x.reshape(len(x), -1)
    for layer in params.dense[:-1]:
        x = jax.nn.relu(x @ layer.weight.T + layer.bias)
    return x @ params.dense[-1].weight.T + params.dense[-1].bias


def stock_plain(problem: Problem) -> Callable[[], None]:
    """Gradient descent with stock layers."""
    params, _, x, y = network(problem)
    return looped(plain_of(stock), problem, params, x, y)


def stock_linearised(problem: Problem) -> Callable[[], None]:
    """`jax.linearize` by hand with stock layers."""
    params, _, x, y = network(problem)
    return looped(linearised_of(stock), problem, (params, params), x, y)


def arithmetic(problem: Problem, input_gradients: int, others: int) -> Callable[[], None]:
    """Square matrix products with as many operations as the step's: the floor of its time."""
    size = 4096 if jax.default_backend() == "gpu" else 1024
    products = problem.steps * problem.flops(input_gradients, others) / (2 * size**3)
    whole = max(1, round(products))
    run = jax.jit(lambda a: jax.lax.fori_loop(0, whole, lambda _, b: a @ b, a))
    a = jnp.eye(size, dtype=jnp.float32)
    return lambda: jax.block_until_ready(run(a))
