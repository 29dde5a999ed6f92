"""NET-LENET, the papers' "simple CNN" (T C.2.1), in params.yaml."""

from typing import Annotated, Literal

from pydantic import Field

from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.base import Count, KernelSize


class Settings(Network):
    """Two convolutions, and dense layers of these widths before the outputs."""

    sizes = ("channels", "widths")
    width_names = ("channels", "widths")
    name: Literal["lenet"]
    channels: Annotated[list[Count], Field(min_length=2, max_length=2)]
    kernel: KernelSize
    padding: Literal["VALID", "SAME"]
    widths: Annotated[list[Count], Field(max_length=100)]

    @property
    def num_layers(self) -> int:
        return len(self.channels) + len(self.widths) + 1
