"""The section of params.yaml for E-DAMP1D."""

from typing import Annotated

from pydantic import Field, model_validator

from iterlin_lab.nets.mlp import Settings as MLP
from iterlin_lab.settings.base import Count, Depth, Fractions, Numbers, Positive, Seeds, Steps, Strict
from iterlin_lab.settings.shared import Shared

PURPOSE = 2  # of its random keys: no other experiment has this number


class Shallower(Strict):
    """The same network with fewer hidden layers, with some λ from fewer initialisations: T's "5 layer" may count so."""

    depth: Depth
    dampings: Annotated[Numbers, Field(min_length=3)]
    num_seeds: Seeds


class Damp1D(Strict):
    """E-DAMP1D: damped Gauss–Newton on a quintic, from `num_seeds` initialisations.

    They are those of each λ, of λ = 0, and of each step size at λ = 0. A run whose train RMSE ends above
    `max_train_rmse` has failed. Of each λ in `drawn`, the first `num_drawn` functions are drawn. `runs_at_once` runs
    train in one program.
    """

    net: MLP
    num_train: Annotated[int, Field(ge=2)]
    num_test: Annotated[int, Field(ge=3)]
    dampings: Annotated[Numbers, Field(min_length=3)]
    step_sizes: Fractions
    num_steps: Steps
    num_seeds: Seeds
    shallower: Shallower
    runs_at_once: Count
    max_train_rmse: Positive
    drawn: Numbers
    num_drawn: Count

    @model_validator(mode="after")
    def _consistent(self) -> "Damp1D":
        if not set(self.drawn) <= set(self.dampings):
            raise ValueError(f"drawn must be among dampings, got {self.drawn}")
        if self.shallower.depth >= self.net.depth:
            raise ValueError(f"shallower.depth must be below net.depth = {self.net.depth}, got {self.shallower.depth}")
        if self.num_drawn > self.num_seeds:
            raise ValueError(f"num_drawn is {self.num_drawn}, but there are only {self.num_seeds} seeds")
        return self

    def with_fewer_layers(self) -> "Damp1D":
        """The section of the shallower network, of which no function is drawn."""
        net = self.net.model_copy(update={"depth": self.shallower.depth})
        return self.model_copy(update=self.shallower.model_dump(exclude={"depth"}) | {"net": net, "drawn": []})


class Scope(Shared):
    """What E-DAMP1D may depend on: what all share, and its section."""

    damp1d: Damp1D
