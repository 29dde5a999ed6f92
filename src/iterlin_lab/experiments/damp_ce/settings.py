"""The section of params.yaml of E-DAMPCE."""

from iterlin_lab.experiments.k_sweep.settings import KSweep, require_as_many
from iterlin_lab.settings.base import Dampings
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solved import Solved


class DampCE(Solved):
    """E-DAMPCE: lazy problems with cross-entropy + λ‖θ − θ_s‖², each solved to a certificate."""

    dampings: Dampings


class Scope(Shared):
    """What E-DAMPCE may depend on: what all share, and its section, and the sections that it reads."""

    damp_ce: DampCE
    k_sweep: KSweep


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_as_many("damp_ce", scale.damp_ce.num_seeds, scale.k_sweep)
