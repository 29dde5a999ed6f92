"""The section of params.yaml of E-PART."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.settings.base import Compared, Count, PerDecade, Positive, Seed, Seeds, Steps, Strict, distinct
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solvers import PhaseSolver


class Parts(Strict):
    """E-PART: every K trains the last layers alone, as many as each of `layers` says, and then all of them.

    Runs draw their keys from a `seed` of their own.
    """

    seed: Seed
    layers: Annotated[list[Count], Field(min_length=1), distinct(int)]
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    first_record: Count
    records_per_decade: PerDecade
    periods: Compared
    num_seeds: Seeds


class Scope(Shared):
    """What E-PART may depend on: what all share, and its section."""

    parts: Parts


def counts(scale: Scope) -> list[int]:
    """How many of the last layers each part has, in rising order; the last part is the whole network."""
    return [*sorted(scale.parts.layers), scale.net.num_layers]


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own, num_layers = scale.parts, scale.net.num_layers
    if max(own.layers) >= num_layers:
        raise ValueError(
            f"parts.layers has {max(own.layers)}, but net has {num_layers} layers, all of which are trained besides: "
            "each must be below that"
        )
    if scale.training.batch_size is not None and not own.solver.mini_batches:
        raise ValueError(f"training.batch_size must be null: parts.solver {own.solver.name} needs full batches")
