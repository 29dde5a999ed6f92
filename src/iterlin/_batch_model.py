"""The contract of networks that know their batch: f(θ, x, state, key) → outputs, state."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Bool, PyTree

from iterlin._blocks import CHUNK, rows


class BatchModel(eqx.Module):
    """A network that maps a batch, which is never cut. `train` takes it in place of a module that maps one example.

    Subclass it for examples that meet (BatchNorm), for a state that training carries along, or for a network that draws
    at random; `EquinoxModel` does so for layers of equinox. Inputs, outputs, targets and state may be trees of arrays.

    One step of a lazy phase expands the outputs about θ_s, with the state and the key of that step: f and its tangent
    see the same draws. The state moves by what the network at θ_s says, and is not expanded. With a state or a key,
    nothing of a step serves the next one.

    **Arguments**: `random` says whether it asks for a key; otherwise it gets None.
    """

    random: bool = eqx.field(static=True, default=False, kw_only=True)

    @abstractmethod
    def __call__(self, x: PyTree[Array], state: Any, key: Array | None) -> tuple[PyTree[Array], Any]:
        """The outputs for the batch of a step, and the state after it."""

    def at_feature_update(self, x: PyTree[Array], state: Any, key: Array | None) -> Any:
        """The state with which a phase starts, from its first batch at θ_s."""
        return state

    def calibrated(self, x: PyTree[Array], state: Any) -> Any:
        """The state that a record is made with, from training inputs. An expansion in θ goes through it."""
        return state

    def inference(self, x: PyTree[Array], state: Any) -> PyTree[Array]:
        """The outputs of a record. Here examples must not meet: they come in chunks."""
        return self(x, state, None)[0]


class ByBatch(eqx.Module):
    """A `BatchModel` with its parameters taken out, at the state and the key of a step."""

    rest: Any
    state: Any = None
    key: Array | None = None

    @property
    def random(self) -> bool:
        """Whether it asks for a key."""
        return self.rest.random

    def __call__(self, params, x):
        return self.with_state(params, x)[0]

    def with_state(self, params: PyTree[Array], x: PyTree[Array]) -> tuple[PyTree[Array], Any]:
        """The outputs, and the state after them."""
        return eqx.combine(params, self.rest)(x, fresh(self.state), self.key)

    def at(
        self, params0: PyTree[Array], x: PyTree[Array], state: Any, key: Array | None, first: Bool[Array, ""]
    ) -> "ByBatch":
        """The function of a step in the phase from θ_s. `first` says whether the step begins it."""
        network = eqx.combine(params0, self.rest)

        def begun(state):
            return network.at_feature_update(x, fresh(state), key)

        return ByBatch(self.rest, jax.lax.cond(first, begun, lambda state: state, state), key)

    def recorded(self, x: PyTree[Array], state: Any) -> "Recorded":
        """The function of a record, from the training inputs and the state of the run."""
        return Recorded(self.rest, x, state)


class Recorded(eqx.Module):
    """A `BatchModel` as it is measured, where no example enters the outputs for another.

    `x` are the training inputs by which its state is calibrated: the first `CHUNK` of them at most.
    """

    rest: Any
    x: PyTree[Array]
    state: Any

    def __call__(self, params, x):
        return eqx.combine(params, self.rest).inference(x, self.calibrated(params))

    def calibrated(self, params: PyTree[Array]) -> Any:
        """The state with which the network with these parameters is measured."""
        return eqx.combine(params, self.rest).calibrated(rows(self.x, slice(CHUNK)), fresh(self.state))


def fresh(state: Any) -> Any:
    """A copy: the states of equinox may be used once."""
    return jax.tree.map(lambda leaf: leaf, state)
