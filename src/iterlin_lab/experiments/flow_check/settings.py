"""The section of params.yaml of B-FLOW."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import Fraction, Positive, Runs, Steps, Strict
from iterlin_lab.settings.shared import Shared


class FlowCheck(Strict):
    """Gradient flow with these tolerances against `num_steps` explicit steps with each of these η, and with η/2."""

    learning_rates: Annotated[list[Positive], Field(min_length=1)]
    num_steps: Steps
    tolerances: Annotated[list[Fraction], Field(min_length=1)]
    num_seeds: Runs


class Scope(Shared):
    """What B-FLOW may depend on: what all share, and its section, and the sections that it reads."""

    flow_check: FlowCheck
    k_sweep: KSweep


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_as_many("flow_check", scale.flow_check.num_seeds, scale.k_sweep)
