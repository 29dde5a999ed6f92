"""The section of params.yaml of E-STABLE."""

from iterlin_lab.settings.base import Compared, Count, Initialisation, Numbers, PerDecade, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared, require_no_more

TENTH = 10  # W: a tenth of η is stable at far larger K


class Grid(Strict):
    """Every pair of these η and K, from an initialisation that is not the network's own."""

    initialisation: Initialisation
    learning_rates: Numbers
    periods: Compared


class Stability(Strict):
    """E-STABLE: which pairs of η and K diverge within `num_steps`, also from an `other` initialisation.

    The smallest η and ten times that are drawn as learning curves, with SGD on mini-batches of `batch_size` beside
    them.
    """

    learning_rates: Numbers
    periods: Compared
    other: Grid
    batch_size: Count
    num_steps: Steps
    records_per_decade: PerDecade
    num_seeds: Seeds


class Scope(Shared):
    """What E-STABLE may depend on: what all share, and its section."""

    stability: Stability


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own = scale.stability
    require_no_more("stability.batch_size", own.batch_size, scale.data.num_train)
    if not any(abs(rate / min(own.learning_rates) - TENTH) < 1e-6 for rate in own.learning_rates):
        raise ValueError("stability.learning_rates must contain ten times the smallest of them: W compares the two")
    if own.other.initialisation == scale.net.initialisation:
        raise ValueError("stability.other.initialisation must not be that of net: the two are compared")
