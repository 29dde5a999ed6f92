"""The section of params.yaml of E-DAMPCE."""

from pydantic import model_validator

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import Count, Dampings, Strict
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solved import Solved


class Switch(Strict):
    """Damping early, with λ = `damping` in the first `after` phases and 0 later; and late, the other way round."""

    damping: str
    after: Count


class DampCE(Solved):
    """E-DAMPCE: lazy problems with cross-entropy + λ‖θ − θ_s‖², each solved to a certificate."""

    dampings: Dampings
    switch: Switch

    @model_validator(mode="after")
    def _among(self) -> "DampCE":
        own = self.switch.damping
        if own not in self.dampings or float(own) == 0:
            raise ValueError(f"switch.damping must be one of dampings, and above 0, got {own!r}")
        if not any(float(label) == 0 for label in self.dampings):
            raise ValueError('dampings must contain "0": what damping in some phases does is compared with none')
        return self

    @property
    def early(self) -> str:
        """The cell with damping in the first phases alone."""
        return f"{self.switch.damping}-then-0"

    @property
    def late(self) -> str:
        """The cell with damping in all but the first phases."""
        return f"0-then-{self.switch.damping}"


class Scope(Shared):
    """What E-DAMPCE may depend on: what all share, and its section, and the sections that it reads."""

    damp_ce: DampCE
    k_sweep: KSweep


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_as_many("damp_ce", scale.damp_ce.num_seeds, scale.k_sweep)
