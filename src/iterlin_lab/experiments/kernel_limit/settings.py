"""The section of params.yaml for L-KERNEL."""

from typing import Annotated

from pydantic import Field, model_validator

from iterlin_lab.settings.base import Count, Seeds, Strict, distinct
from iterlin_lab.settings.shared import Shared

Counts = Annotated[list[Count], Field(min_length=3), distinct(int)]


class KernelLimit(Strict):
    """L-KERNEL: kernels of ReLU networks on the sphere in `dimension` d, against their limits.

    They have each of `widths` N on `num_examples` inputs, and the width `width` on each number of inputs in `sizes`.
    """

    dimension: Annotated[int, Field(ge=2)]
    widths: Counts
    num_examples: Count
    sizes: Counts
    width: Count
    num_seeds: Seeds

    @model_validator(mode="after")
    def _wide(self) -> "KernelLimit":
        for n, width in ((self.num_examples, min(self.widths)), (max(self.sizes), self.width)):
            if width < n:
                raise ValueError(f"{width} neurons are too few for {n} examples: K_N^RF has no more rank than neurons")
        return self


class Scope(Shared):
    """What L-KERNEL may depend on: what all share, and its section."""

    kernel_limit: KernelLimit
