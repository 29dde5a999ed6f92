"""Gradient flow: many tiny steps of gradient descent at once.

K steps of gradient descent with a learning rate far below the bound of stability follow the flow dθ/dτ = −∇L for the
time τ = ηK, up to O(η). The flow is integrated by the stabilised Runge–Kutta–Chebyshev method of second order (RKC;
Sommeijer, Shampine and Verwer, 1998, J. Comput. Appl. Math. 88): with s stages its step is stable up to
0.65 s²/ρ, where ρ is the largest curvature, so that stages grow as the square root of what explicit steps would need.
"""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, PyTree

from iterlin._lazy import Lazy
from iterlin._solvers.stepwise import Stepwise, Taken

Params = PyTree[Array]
Scalar = Float[Array, ""]
Count = Int[Array, ""]
Gradient = Callable[[Params], Params]

MAX_STAGES = 60  # rounding grows as s²
SAFETY = 1.2  # power iteration finds ρ from below
SHORT = 0.03  # of the path so far: errors of shorter steps are judged against this
EPSILON = 2 / 13  # damping of the Chebyshev polynomials, as published
EVERY = 3  # so many attempts share an estimate of ρ
MAX_ITERATIONS, CONVERGED = 30, 0.05  # of the power method, whose last iteration changes ρ by no more than 5 %


class FlowState(NamedTuple):
    """What is carried from step to step."""

    step_size: Scalar  # the next h; 0 before the first
    curvature: Scalar  # the last estimate of ρ; 0 before the first
    direction: Params  # its direction
    attempts: Count  # since that estimate
    max_curvature: Scalar  # the largest estimate of ρ so far
    error: Scalar  # the sum of the estimated errors of all steps, in ‖θ‖
    path: Scalar  # the sum of their lengths


class Flow(Stepwise):
    """Gradient flow of a full-batch problem, for the time of the steps that it stands for.

    **Arguments**: `learning_rate` is η, so that t steps are the time ηt. `tolerance` bounds the estimated error of a
    step relative to its length (or to 3 % of the path so far, if that is longer: at the kinks of a ReLU network
    the error falls no faster than the length), and so the error of the whole, where the flow contracts, relative to the
    length of its path.

    Where the flow does not contract, as it leaves a saddle from small weights, errors grow with the network and the
    estimate is too small: by two to six times as seen. The change of the result under a second tolerance, 0.3 of the
    first, is then about half of the error.

    A step of the method has a whole number of explicit steps in it, and at least one. Its report: `error_estimate`, the
    sum of the estimated errors over the length of the path, and `eta_lambda_max`, the largest ηρ met. Where the latter
    is 2 or more, explicit descent would be unstable: the flow is then not those steps.
    """

    takes_network: ClassVar[bool] = True

    learning_rate: Scalar = eqx.field(converter=lambda value: jnp.asarray(value, float))
    tolerance: Scalar = eqx.field(converter=lambda value: jnp.asarray(value, float), default=0.1)

    def __check_init__(self):
        for name, value in (("learning rate η", self.learning_rate), ("tolerance", self.tolerance)):
            if not isinstance(value, Tracer) and not 0 < value < jnp.inf:
                raise ValueError(f"the {name} must be positive and finite, got {value}")

    def check(self, setup):
        setup.require_full_batches("gradient flow")
        setup.require_32_bits("gradient flow")
        setup.require_no_draws("gradient flow")

    def init(self, params: Params) -> FlowState:
        zero = jnp.zeros((), jnp.result_type(*jax.tree.leaves(params)))
        direction = jax.tree.map(jnp.zeros_like, params)
        return FlowState(zero, zero, direction, jnp.zeros((), int), zero, zero, zero)

    def relinearise(self, params: Params, state: FlowState) -> FlowState:
        """What was known is a good guess for the next phase; where it is not, the first step is refused."""
        return state

    def in_any_basis(self) -> bool:
        return True

    def in_new_basis(self, params: Params, state: FlowState) -> FlowState:
        return state._replace(direction=jax.tree.map(jnp.zeros_like, params))

    def report(self, state: FlowState) -> dict[str, Scalar]:
        learning_rate = self.learning_rate.astype(state.path.dtype)
        return {
            "error_estimate": state.error / jnp.maximum(state.path, jnp.finfo(state.path.dtype).tiny),
            "eta_lambda_max": learning_rate * state.max_curvature,
        }

    def step(self, lazy: Lazy, gradient: Params, params: Params, state: FlowState, limit: Count) -> Taken:
        """One attempt: accepted if its estimated error is within the tolerance, otherwise no step is taken."""
        gradient_at = lazy.gradient
        dtype = state.step_size.dtype
        learning_rate = self.learning_rate.astype(dtype)
        due = (state.curvature == 0) | (state.attempts >= EVERY)
        curvature, direction, iterations = _curvature(gradient_at, params, gradient, state, due)
        radius = SAFETY * curvature

        h = jnp.where(state.step_size == 0, 0.25 / radius, state.step_size)
        num_steps = _whole_steps(jnp.minimum(h, 0.65 * (MAX_STAGES**2 - 1) / radius) / learning_rate, limit)
        h = learning_rate * num_steps.astype(dtype)
        num_stages = jnp.maximum(2, jnp.ceil(jnp.sqrt(1 + 1.54 * h * radius))).astype(int)
        change = _chebyshev(gradient_at, params, gradient, h, num_stages)
        end = optax.tree.add(params, change)

        error, length = _error(gradient_at, gradient, end, change, h), optax.tree.norm(change)
        ratio = error / (self.tolerance.astype(dtype) * jnp.maximum(length, SHORT * state.path))
        accepted = (ratio <= 1) | (num_steps == 1)
        factor = jnp.where(jnp.isfinite(ratio), jnp.clip(0.8 * ratio ** (-1 / 3), 0.1, 5), 0.1)
        state = FlowState(
            step_size=h * factor,
            curvature=curvature,
            direction=direction,
            # A refused step may have met a larger curvature.
            attempts=jnp.where(accepted, jnp.where(iterations > 0, 0, state.attempts + 1), EVERY),
            max_curvature=jnp.maximum(state.max_curvature, curvature),
            error=state.error + jnp.where(accepted, error, 0),
            path=state.path + jnp.where(accepted, length, 0),
        )
        reached = jax.tree.map(lambda a, b: jnp.where(accepted, a, b), end, params)
        # One evaluation before this method was called, s − 1 in the stages, one at the end, and the power iterations.
        return Taken(reached, state, jnp.where(accepted, num_steps, 0), num_stages + 1 + iterations)


def _whole_steps(wanted: Scalar, limit: Count) -> Count:
    """A whole number of explicit steps; the last two attempts before the limit are of equal length, up to one step.

    It is never more than wanted, unless that is less than one: an attempt that was refused would be made again.
    """
    wanted = jnp.clip(wanted, 1, limit.astype(wanted.dtype))
    parts = jnp.ceil(limit.astype(wanted.dtype) / wanted)
    return jnp.where(parts <= 1, limit, jnp.where(parts <= 2, limit // 2, wanted.astype(limit.dtype)))


def _error(gradient_at: Gradient, gradient: Params, end: Params, change: Params, h: Scalar) -> Scalar:
    """The published estimate of the error of a step, from the slopes at both of its ends."""
    difference = jax.tree.map(lambda d, g0, g1: 0.8 * d + 0.4 * h * (g0 + g1), change, gradient, gradient_at(end))
    return optax.tree.norm(difference)


def _chebyshev(gradient_at: Gradient, params: Params, gradient: Params, h: Scalar, num_stages: Count) -> Params:
    """The change of the parameters over a step of size h.

    T_j, T'_j, T''_j at w0 follow three-term recursions, and so do the stages, here as differences d_j from `params`.
    """
    s = num_stages.astype(h.dtype)
    w0 = 1 + EPSILON / s**2
    one, zero = jnp.ones_like(h), jnp.zeros_like(h)

    def next_polynomials(t1, t2):  # from degrees j − 1 and j − 2, each as (T, T', T'')
        value = 2 * w0 * t1[0] - t2[0]
        first = 2 * t1[0] + 2 * w0 * t1[1] - t2[1]
        second = 4 * t1[1] + 2 * w0 * t1[2] - t2[2]
        return value, first, second

    t0, t1 = (one, zero, zero), (w0, one, zero)
    last = jax.lax.fori_loop(2, num_stages + 1, lambda _, t: (next_polynomials(*t), t[0]), (t1, t0))[0]
    w1 = last[1] / last[2]

    t2 = next_polynomials(t1, t0)
    b_2 = t2[2] / t2[1] ** 2  # and b_0 = b_1 = b_2
    a_1 = 1 - b_2 * w0
    d_1 = optax.tree.scale(-h * b_2 * w1, gradient)

    def stage(_, loop):
        t1, t2, b1, b2, a1, d1, d2 = loop
        t = next_polynomials(t1, t2)
        b = t[2] / t[1] ** 2
        mu, nu, mu_tilde = 2 * b * w0 / b1, -b / b2, 2 * b * w1 / b1
        g = gradient_at(optax.tree.add(params, d1))
        d = jax.tree.map(lambda d1, d2, g, g0: mu * d1 + nu * d2 - mu_tilde * h * (g - a1 * g0), d1, d2, g, gradient)
        return t, t1, b, b1, 1 - b * t[0], d, d1

    start = t1, t0, b_2, b_2, a_1, d_1, jax.tree.map(jnp.zeros_like, params)
    return jax.lax.fori_loop(2, num_stages + 1, stage, start)[5]


def _curvature(
    gradient_at: Gradient, params: Params, gradient: Params, state: FlowState, due: Bool[Array, ""]
) -> tuple[Scalar, Params, Count]:
    """If `due`, a new estimate from below of the largest curvature; its direction, and the iterations that it took.

    Power iteration on the Hessian, which starts between the last direction and the gradient.
    """
    start = optax.tree.add(_unit(gradient), _unit(state.direction))

    def unfinished(loop):
        old, new, _, iteration = loop
        return due & (iteration < MAX_ITERATIONS) & ((iteration == 0) | (jnp.abs(new - old) > CONVERGED * new))

    def iterate(loop):
        _, old, direction, iteration = loop
        product = jax.jvp(gradient_at, (params,), (_unit(direction),))[1]
        return old, jnp.maximum(optax.tree.norm(product), 1e-12), product, iteration + 1

    first = (state.curvature, state.curvature, start, jnp.zeros((), int))
    _, curvature, direction, iterations = jax.lax.while_loop(unfinished, iterate, first)
    return curvature, direction, iterations


def _unit(v: Params) -> Params:
    norm = optax.tree.norm(v)
    return optax.tree.scale(1 / jnp.maximum(norm, jnp.finfo(norm.dtype).tiny), v)
