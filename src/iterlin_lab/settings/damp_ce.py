"""The section of params.yaml of E-DAMPCE."""

from iterlin_lab.settings.base import Dampings
from iterlin_lab.settings.solved import Solved


class DampCE(Solved):
    """E-DAMPCE: lazy problems with cross-entropy + λ‖θ − θ_s‖², each solved to a certificate."""

    dampings: Dampings
