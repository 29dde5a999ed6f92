"""NET-RESNET, ResNet-18 in its form for CIFAR (T C.2.2), of any width and depth, in params.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.base import Count

Blocks = Annotated[list[Annotated[int, Field(ge=1, le=100)]], Field(min_length=1, max_length=6)]
Norm = Literal["none", "batch", "frozen", "running"]


class Settings(Network):
    """`blocks` says how many residual blocks each stage has. The first has `channels`, each other twice as many.

    `norm` is `none`, or BatchNorm and what it divides by in a lazy phase (`iterlin.EquinoxModel`): the statistics of
    the batch, these frozen at θ_s, or the running ones.
    """

    sizes = ("channels", "blocks")
    width_names = ("channels",)
    name: Literal["resnet"]
    channels: Count
    blocks: Blocks
    norm: Norm

    @property
    def num_layers(self) -> int:
        """The stem, two convolutions a block, one more where a stage begins with a stride, and the outputs."""
        return 2 + 2 * sum(self.blocks) + len(self.blocks) - 1
