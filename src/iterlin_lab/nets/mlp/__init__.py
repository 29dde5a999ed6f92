"""A multilayer perceptron, in params.yaml."""

from typing import Literal

from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.base import Count, Depth


class Settings(Network):
    """`depth` hidden layers of `width` neurons."""

    sizes = ("width", "depth")
    width_names = ("width",)
    name: Literal["mlp"]
    width: Count
    depth: Depth

    @property
    def num_layers(self) -> int:
        return self.depth + 1
