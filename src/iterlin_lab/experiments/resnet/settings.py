"""The section of params.yaml of E-RESNET."""

from typing import Annotated

from pydantic import Field, field_validator

from iterlin_lab.nets.resnet import Blocks, Norm, Settings
from iterlin_lab.settings.base import (
    Augmentation,
    Compared,
    Count,
    Initialisation,
    Numbers,
    PerDecade,
    Positive,
    Seed,
    Seeds,
    Steps,
    Strict,
    distinct,
    parse_period,
)
from iterlin_lab.settings.shared import Shared, require_no_more


class Panel(Strict):
    """A panel of T fig. 10: K = 1 and a large K, with BatchNorm or without, on augmented batches or others."""

    seed: Seed
    norm: Norm
    augmentation: Augmentation | None
    batch_size: Count | None
    learning_rate: Positive
    periods: Compared
    num_steps: Steps

    @field_validator("periods")
    @classmethod
    def _two(cls, periods: list[str]) -> list[str]:
        if len(periods) != 2 or "inf" in periods:
            raise ValueError(f'must be "1" and a finite K, which are compared, got {periods}')
        return periods


class Grid(Strict):
    """How many runs diverge for every norm, η and K, on mini-batches that are not augmented."""

    seed: Seed
    norms: Annotated[list[Norm], Field(min_length=2), distinct(str)]
    batch_size: Count
    learning_rates: Numbers
    periods: Compared
    num_steps: Steps


class ResNet(Strict):
    """E-RESNET: its network, the panels of T fig. 10 by their names, and the grid. Each has a seed of its own."""

    channels: Count
    blocks: Blocks
    initialisation: Initialisation
    plain: Panel
    normalised: Panel
    grid: Grid
    records_per_decade: PerDecade
    num_seeds: Seeds

    @property
    def panels(self) -> dict[str, Panel]:
        """The panels by their names."""
        return {"plain": self.plain, "normalised": self.normalised}


class Scope(Shared):
    """What E-RESNET may depend on: what all share, and its section."""

    resnet: ResNet


def network(scale: Scope, norm: Norm) -> Settings:
    """The network with this norm."""
    own = scale.resnet
    return Settings(
        name="resnet", channels=own.channels, blocks=own.blocks, norm=norm, initialisation=own.initialisation
    )


def large(panel: Panel) -> str:
    """The K of a panel besides 1, as it is spelt."""
    return max(panel.periods, key=parse_period)


def check(scale: Scope) -> None:
    """**Raises**: `ValueError` if the section does not fit what it is run with."""
    own = scale.resnet
    for name, part in {**own.panels, "grid": own.grid}.items():
        require_no_more(f"resnet.{name}.batch_size", part.batch_size, scale.data.num_train)
    for name, panel in own.panels.items():
        if panel.augmentation and panel.batch_size is None:
            raise ValueError(f"resnet.{name}.batch_size must be a number: augmentation takes mini-batches")
