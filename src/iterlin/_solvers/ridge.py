"""A lazy phase with squared error solved exactly: the Gauss–Newton step, and the damped one (T Algorithm 1, eq. 10)."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.core import Tracer
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PyTree

from iterlin._blocks import num_examples
from iterlin._kernels import BUDGET, gram
from iterlin._lazy import Lazy
from iterlin._linearise import Linearised
from iterlin._losses import is_squared_error
from iterlin._solvers.stepwise import Stepwise, Taken

Space = Literal["kernel", "parameter"]
Factorisation = Literal["cholesky", "eigh", "qr"]
ITEMSIZE = 8  # bytes of a number in float64
COPIES = {"cholesky": 3, "eigh": 5, "qr": 4}  # of the largest array, at once


class Ridge(Stepwise):
    """One step to the minimiser of ½ mean ‖f_lin(θ, x) − y‖² + λ‖θ − θ_s‖², or a part of the way there.

    With r = f_s(x) − y, n examples and μ = 2λn (T's λ, see `Problem`), the minimiser is θ_s + s,

        s = −φᵀ (φφᵀ + μI)⁻¹ r      in kernel space, a system of n·out equations,
        s = −(φᵀφ + μI)⁻¹ φᵀ r      in parameter space, one of p equations.

    Without damping s is the step of least norm, −φ⁺r. `Every(1)` with this solver is the Gauss–Newton algorithm.

    **Arguments**:

    - `step_size`: α of θ ← θ + α(θ_s + s − θ), the other form of damping (T §2.3).
    - `space`: the smaller one if None. In kernel space with `"cholesky"` or `"eigh"` φ itself is never stored.
    - `factorisation`: `"cholesky"` of the damped system is the cheapest. It squares the condition number of φ, so it
      needs λ well above εσ_max²/(2n), with ε of the dtype and σ_max of φ; where it breaks down, the run diverges.
      `"eigh"` of the same matrix leaves out eigenvalues that are zero up to rounding, so it takes any λ, and squares
      the condition number too. `"qr"` of φ itself, and then singular values of its triangle, does not: it takes any λ,
      and directions with σ > max(n·out, p)·εσ_max count. It costs some ten times as much as `"cholesky"`.
    - `max_bytes`: the most memory that the system may take.

    **Raises**: `ValueError` for a step size outside (0, 1], and names that are not known.
    """

    step_size: Float[Array, ""] = eqx.field(converter=lambda value: jnp.asarray(value, float), default=1.0)
    space: Space | None = eqx.field(static=True, default=None)
    factorisation: Factorisation = eqx.field(static=True, default="cholesky")
    max_bytes: int = eqx.field(static=True, default=BUDGET)

    def __check_init__(self):
        if not isinstance(self.step_size, Tracer) and not 0 < self.step_size <= 1:
            raise ValueError(f"the step size α must lie in (0, 1], got {self.step_size}")
        for name, value, known in (
            ("space", self.space, (None, "kernel", "parameter")),
            ("factorisation", self.factorisation, tuple(COPIES)),
        ):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, got {value!r}")

    def check(self, setup):
        if not is_squared_error(setup.loss):
            raise ValueError("the ridge solver is for squared_error: use `truncated` for other losses")
        setup.require_full_batches("the ridge solver")
        setup.require_linear("the ridge solver")
        setup.require_32_bits("the ridge solver")
        setup.require_one_example("the ridge solver")
        if setup.damping == 0 and self.factorisation == "cholesky":
            raise ValueError("without damping the system is singular: use the factorisation 'qr' or 'eigh'")
        m, p = setup.num_outputs, setup.num_params
        entries = m * p if self.factorisation == "qr" else m**2 if self._space(m, p) == "kernel" else p * max(m, p)
        needed = ITEMSIZE * COPIES[self.factorisation] * entries
        if needed > self.max_bytes:
            raise ValueError(
                f"the exact solution for n·out = {m} outputs and p = {p} parameters takes {needed:.2g} bytes, more "
                f"than max_bytes = {self.max_bytes:.2g}: raise max_bytes, or use `truncated`, which stores no matrix"
            )

    def in_any_basis(self):
        return True

    def init(self, params):
        return None

    def relinearise(self, params, state):
        return None

    def step(self, lazy, gradient, params, state, limit):
        assert isinstance(lazy.model, Linearised)  # as `check` has seen
        minimiser = optax.tree.add(lazy.params0, self._change(lazy, lazy.model))
        way = optax.tree.sub(minimiser, params)
        rate = self.step_size.astype(jnp.result_type(*jax.tree.leaves(params)))
        one = jnp.ones_like(limit)
        return Taken(optax.tree.add_scale(params, rate, way), state, steps=one, evaluations=one)

    def _space(self, num_outputs: int, num_params: int) -> Space:
        return self.space or ("kernel" if num_outputs <= num_params else "parameter")

    def _change(self, lazy: Lazy, model: Linearised) -> PyTree[Array]:
        """The step s."""
        outputs, transpose = jax.vjp(lazy.predict, lazy.params0)
        residual = (outputs - lazy.y).ravel()
        flat, unravel = ravel_pytree(lazy.params0)
        kernel = self._space(residual.size, flat.size) == "kernel"
        mu = 2 * num_examples(lazy.x) * lazy.damping
        if self.factorisation == "qr":
            return unravel(-_by_qr(model.jacobian(lazy.x), residual, mu, kernel))
        solve = SYSTEMS[self.factorisation]
        if kernel:
            dual = solve(gram(model.fn, model.params0, lazy.x), residual, mu)
            return transpose(-dual.reshape(outputs.shape))[0]
        phi = model.jacobian(lazy.x)
        return unravel(-solve(_product(phi.T, phi), _product(phi.T, residual), mu))


def _by_qr(phi: Float[Array, "m p"], residual: Float[Array, " m"], mu: Array, kernel: bool) -> Float[Array, " p"]:
    """(φᵀφ + μI)⁻¹φᵀr from the singular values of the triangle of φᵀ or φ, whichever is to be the tall one."""
    q, triangle = jnp.linalg.qr(phi.T if kernel else phi)
    left, s, right = jnp.linalg.svd(triangle, full_matrices=False)
    kept = s**2 + mu > (max(phi.shape) * jnp.finfo(s.dtype).eps * s[0]) ** 2
    gain = jnp.where(kept, s / jnp.where(kept, s**2 + mu, 1), 0)
    if kernel:  # φ = RᵀQᵀ
        return _product(q, _product(left, gain * _product(right, residual)))
    return _product(right.T, gain * _product(left.T, _product(q.T, residual)))


def _by_cholesky(matrix: Float[Array, "m m"], vector: Float[Array, " m"], mu: Array) -> Float[Array, " m"]:
    """(M + μI)⁻¹v."""
    factor = jax.scipy.linalg.cho_factor(matrix + mu * jnp.eye(len(matrix), dtype=matrix.dtype))
    return jax.scipy.linalg.cho_solve(factor, vector)


def _by_eigh(matrix: Float[Array, "m m"], vector: Float[Array, " m"], mu: Array) -> Float[Array, " m"]:
    """The solution of (M + μI)u = r without the directions in which M + μI vanishes up to rounding."""
    eigenvalues, vectors = jnp.linalg.eigh(matrix)
    kept = eigenvalues + mu > len(matrix) * jnp.finfo(matrix.dtype).eps * eigenvalues[-1]
    gain = jnp.where(kept, 1 / jnp.where(kept, eigenvalues + mu, 1), 0)
    return _product(vectors, gain * _product(vectors.T, vector))


SYSTEMS = {"cholesky": _by_cholesky, "eigh": _by_eigh}


def _product(a: Array, b: Array) -> Array:
    return jnp.matmul(a, b, precision="highest")
