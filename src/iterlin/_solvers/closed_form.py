"""Gradient descent on the squared error of a lazy phase, in closed form: any number of steps at one price."""

from typing import NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PyTree

from iterlin._losses import squared_error
from iterlin._schedules import Every
from iterlin._solvers.solver import Setup, Solver

Vector = Float[np.ndarray, " m"]
BUDGET = 4 * 2**30
BYTES_PER_ENTRY = 64  # of Θ: itself, V, the last phase's V, LAPACK's copy and workspace; 50 measured in float32


class Eigenbasis(NamedTuple):
    """A lazy phase with squared error in the eigenbasis of its kernel, Θ = φφᵀ = VΛVᵀ, with m = n·out outputs."""

    eigenvalues: Vector  # Λ
    vectors: Float[np.ndarray, "m m"]  # V
    residual: Vector  # Vᵀ r_0
    num_examples: int
    damping: float  # λ
    error_estimate: float = 0.0

    @property
    def known(self) -> bool:
        """Whether it has been computed."""
        return self.vectors.size > 0

    @property
    def rates(self) -> Vector:
        """s = Λ/n + 2λ: the eigenvalues of the Hessian of the lazy problem."""
        return self.eigenvalues / self.num_examples + 2 * self.damping


class ClosedForm(Solver):
    """t steps of gradient descent on ½ mean ‖f_lin(θ, x) − y‖² + λ‖θ − θ_s‖², in the eigenbasis of Θ = φφᵀ = VΛVᵀ.

    With r_0 = f_s(x) − y and the rates s = Λ/n + 2λ (T eq. 19 in discrete time, and damped):

        θ_t = θ_s + φᵀ V α_t,    α_t = −g_t Vᵀ r_0 / n,    g_t = (1 − (1 − ηs)ᵗ) / s,

    and g_t = (1 − e^{−ηst}) / s in continuous time: gradient flow for the time ηt. Discrete steps with ηs > 2 grow
    without bound and end as diverged, as explicit steps do; the flow is always stable. A run counts t as steps.

    **Arguments**: `learning_rate` is η. `max_bytes` bounds the memory for Θ and its eigendecomposition, about 64 m²
    bytes for m = n·out; a phase costs some 10 m³ operations besides Θ.

    **Raises**: `ValueError` for a learning rate that is not positive.
    """

    learning_rate: float
    continuous: bool = eqx.field(static=True, default=False)
    max_bytes: int = eqx.field(static=True, default=BUDGET)

    def __check_init__(self):
        if not 0 < self.learning_rate < float("inf"):
            raise ValueError(f"the learning rate η must be positive and finite, got {self.learning_rate}")

    def check(self, setup: Setup) -> None:
        """Whether the closed form exists, and fits.

        **Raises**: `ValueError` if not.
        """
        if setup.loss is not squared_error:
            raise ValueError("the closed form is that of squared_error: use another solver for other losses")
        if not isinstance(setup.schedule, Every):
            raise ValueError("the closed form jumps to the end of a phase, so it must be known: use Every or Never")
        if setup.batch_size is not None:
            raise ValueError("the closed form is that of full batches: leave batch_size out")
        needed = BYTES_PER_ENTRY * setup.num_outputs**2
        if needed > self.max_bytes:
            raise ValueError(
                f"the closed form for n·out = {setup.num_outputs} takes {needed:.2g} bytes, more than max_bytes = "
                f"{self.max_bytes:.2g}: raise max_bytes, or use the flow solver, which stores no kernel"
            )

    def init(self, params: PyTree[Array]) -> Eigenbasis:
        """No phase has its eigenbasis yet."""
        return Eigenbasis(np.zeros(0), np.zeros((0, 0)), np.zeros(0), num_examples=0, damping=0.0)

    def relinearise(self, params: PyTree[Array], state: Eigenbasis) -> Eigenbasis:
        """The next phase has a kernel of its own."""
        return self.init(params)

    def explicit_rate(self) -> float | None:
        """The flow is stable at any η."""
        return None if self.continuous else self.learning_rate

    def dual(self, basis: Eigenbasis, steps: int) -> Vector:
        """α_t. Directions with Λ = 0 do not move θ."""
        moving = (basis.eigenvalues > 0) & (basis.residual != 0)
        with np.errstate(over="ignore"):
            gain = self._share(basis.rates, steps) / np.where(moving, basis.rates, 1)
            return np.where(moving, -gain * basis.residual / basis.num_examples, 0)

    def _share(self, rates: Vector, steps: int) -> Vector:
        """s·g_t: how much of the way to the minimum is done."""
        z = self.learning_rate * rates
        if self.continuous:
            return -np.expm1(-z * steps)
        small = np.minimum(z, 0.5)  # where 1 − z would lose digits of z
        return np.where(z < 0.5, -np.expm1(steps * np.log1p(-small)), 1 - (1 - z) ** steps)

    def report(self, state: Eigenbasis) -> dict[str, float]:
        """How the last phase was solved; empty before its first step.

        - `error_estimate`: ‖φφᵀVα_t − VΛα_t‖ / ‖r_0‖, where φ is the network's own: the error of the predicted
          f_lin(θ_t) that rounding in Θ and in its eigendecomposition makes.
        - `eta_lambda_max`: ηs for the largest rate s. Explicit steps are unstable above 2.
        """
        if not state.known:
            return {}
        return {
            "error_estimate": state.error_estimate,
            "eta_lambda_max": self.learning_rate * float(state.rates.max()),
        }


def eigenbasis(gram: Float[np.ndarray, "m m"], residual: Vector, num_examples: int, damping: float) -> Eigenbasis:
    """The phase with kernel Θ = `gram` and r_0 = `residual`, in float64. Eigenvalues below zero are rounding.

    What is not finite has no eigenbasis: its residual stays as it is, and the phase diverges at once.
    """
    residual = residual.astype(np.float64)
    if not (np.isfinite(gram).all() and np.isfinite(residual).all()):
        return Eigenbasis(np.zeros(len(gram)), gram, np.full(len(gram), np.nan), num_examples, damping)
    eigenvalues, vectors = np.linalg.eigh(gram.astype(np.float64, copy=False))
    return Eigenbasis(np.maximum(eigenvalues, 0), vectors, vectors.T @ residual, num_examples, damping)


def objective(basis: Eigenbasis, dual: Vector) -> tuple[float, float]:
    """The lazy problem's objective and its gradient's norm at θ_s + φᵀVα."""
    n, damping, eigenvalues = basis.num_examples, basis.damping, basis.eigenvalues
    with np.errstate(over="ignore", invalid="ignore"):
        residual = basis.residual + eigenvalues * dual
        value = 0.5 * np.sum(residual**2) / n + damping * np.sum(eigenvalues * dual**2)
        gradient = residual / n + 2 * damping * dual
        return float(value), float(np.sqrt(np.sum(eigenvalues * gradient**2)))
