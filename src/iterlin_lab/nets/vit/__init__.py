"""NET-VIT, a small vision transformer, in params.yaml."""

from typing import Literal

from pydantic import model_validator

from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.base import Count, Depth, KernelSize

IN_BLOCK = 6  # layers: queries, keys, values, outputs, and two of the MLP


class Settings(Network):
    """`depth` blocks on tokens of `width` numbers, one for each square of `patch` × `patch` pixels.

    A block has `heads` of attention, and an MLP with one hidden layer of `hidden` neurons.
    """

    sizes = ("patch", "width", "heads", "hidden", "depth")
    width_names = ("width", "hidden")
    name: Literal["vit"]
    patch: KernelSize
    width: Count
    heads: Count
    hidden: Count
    depth: Depth

    @model_validator(mode="after")
    def _heads_of_one_width(self) -> "Settings":
        if self.width % self.heads:
            raise ValueError(f"width is {self.width}, which {self.heads} heads do not divide: each has a part of it")
        return self

    @property
    def num_layers(self) -> int:
        return 2 + IN_BLOCK * self.depth + 1
