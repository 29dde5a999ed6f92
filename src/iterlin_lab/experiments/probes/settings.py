"""The section of params.yaml for E-PROBE."""

from iterlin_lab.experiments.augmentation.settings import Augmented
from iterlin_lab.settings.base import Count, Numbers, Positive, Strict
from iterlin_lab.settings.shared import Shared


class Probes(Strict):
    """E-PROBE: a linear classifier on each layer of the networks that E-AUG keeps.

    Each minimises its mean cross-entropy + λ/2 ‖W‖² with each λ of `strengths`, until no component of the gradient
    exceeds `tolerance`, or for `max_iterations`. Besides the networks at the start, after the first step and at the
    ends of phases, every `every`-th that is kept has its probes.
    """

    strengths: Numbers
    tolerance: Positive
    max_iterations: Count
    every: Count


class Scope(Shared):
    """What E-PROBE may depend on: what all share, and its section, and the sections that it reads."""

    probes: Probes
    augmentation: Augmented
