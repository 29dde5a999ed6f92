"""The section of params.yaml of E-VIT."""

from typing import Annotated

from pydantic import Field

from iterlin_lab.nets.vit import Settings as ViT
from iterlin_lab.settings.base import Compared, PerDecade, Positive, Seed, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared, require_no_more


class VisionTransformer(Strict):
    """E-VIT: gradient descent on full batches for every K, with a network and a `seed` of its own.

    Kernels are computed on `num_examples` training inputs.
    """

    seed: Seed
    net: ViT
    learning_rate: Positive
    num_steps: Steps
    periods: Compared
    records_per_decade: PerDecade
    num_examples: Annotated[int, Field(ge=2)]
    num_seeds: Seeds


class Scope(Shared):
    """What E-VIT may depend on: what all share, and its section."""

    vit: VisionTransformer


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    require_no_more("vit.num_examples", scale.vit.num_examples, scale.data.num_train)
