"""The section of params.yaml for E-XOR."""

from typing import Annotated, Any

from pydantic import Field

from iterlin_lab.settings.base import Count, Numbers, Periods, Positive, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared

PURPOSE = 3  # of its random keys: no other experiment has this number


class XOR(Strict):
    """E-XOR: its data, its network, and the two dials K and λ.

    The weights are He-normal, times `initial_scale`. Gradient descent takes explicit steps for K ≤ `explicit_up_to`,
    and each phase in closed form beyond. It has `num_steps` steps, or `num_phases` phases where these are longer;
    damped Gauss–Newton has `num_updates` steps. A run ends before that once its training loss is at most `fit_loss`.
    `runs_at_once` seeds train in one program, unless in closed form.
    """

    num_train: Count
    num_test: Count
    noise_variance: Positive
    width: Count
    initial_scale: Positive
    learning_rate: Positive
    explicit_up_to: Count
    num_steps: Steps
    num_phases: Count
    num_updates: Steps
    fit_loss: Positive
    divergence_factor: Annotated[float, Field(gt=1, allow_inf_nan=False)]
    periods: Periods
    dampings: Numbers
    runs_at_once: Count
    num_seeds: Seeds

    @property
    def net(self) -> dict[str, Any]:
        """Its network, w₂σ(w₁ᵀx + b) (T fig. 7)."""
        return {"name": "mlp", "width": self.width, "depth": 1, "output_bias": False, "initialisation": "he_normal"}


class Scope(Shared):
    """What E-XOR may depend on: what all share, and its section."""

    xor: XOR


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    if "1" not in scale.xor.periods:
        raise ValueError('xor.periods must contain "1": every K is compared with K = 1')
