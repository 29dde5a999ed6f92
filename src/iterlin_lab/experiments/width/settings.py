"""The section of params.yaml of E-WIDTH."""

from typing import Annotated

from pydantic import Field, ValidationError

from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.base import Compared, Count, Positive, Seeds, Steps, Strict, distinct
from iterlin_lab.settings.shared import Shared, require_no_more
from iterlin_lab.settings.solvers import PhaseSolver


class Width(Strict):
    """E-WIDTH: every K on full batches, with the scale's network at these numbers of channels.

    Kernels are computed on `num_examples` training inputs.
    """

    channels: Annotated[list[Count], Field(min_length=2), distinct(int)]
    solver: PhaseSolver
    learning_rate: Positive
    num_steps: Steps
    first_record: Count
    periods: Compared
    num_examples: Annotated[int, Field(ge=2)]
    num_seeds: Seeds


class Scope(Shared):
    """What E-WIDTH may depend on: what all share, and its section."""

    width: Width


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own = scale.width
    require_no_more("width.num_examples", own.num_examples, scale.data.num_train)
    if not isinstance(getattr(scale.net, "channels", None), list):
        raise ValueError(f"width: net {scale.net.name} has no list of channels that could be changed")
    for channels in own.channels:
        try:
            with_channels(scale.net, channels)
        except ValidationError as error:
            raise ValueError(f"width.channels: net cannot have {channels}: {error.errors()[0]['msg']}") from None


def with_channels(net: Network, channels: int) -> Network:
    """The network with so many channels in every convolution; its dense layers keep their widths."""
    values = net.model_dump()
    return net.model_validate(values | {"channels": [channels] * len(values["channels"])})
