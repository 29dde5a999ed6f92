"""What a network is: a folder of this package, called as params.yaml calls the network. No other file names it.

Its `__init__.py` has its `Settings`, a `Network`, and imports no jax. Its `module.py` names an equinox module `MODULE`,
which is built from the shape of an example, the number of outputs, the settings besides `initialisation`, and a key:

- Called on one example it gives a vector with that many outputs. A network that knows its batch is an
  `iterlin.BatchModel` instead, built by equinox's `make_with_state`; `net` of a scale is none of these.
- Its parameters are those of layers that `initialise` knows, and of norms. It holds the layers in the order in which an
  example meets them.
- An experiment may ask for more (`needs`): for what is in `PARTS`. Others can do without it.

The stage `check` traces all of that, before anything trains.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from pydantic import ValidationError

from iterlin_lab.settings.base import Initialisation, Strict

PARTS = {
    "filters": "the weights of the first layer, with the axes of an example and then one for the filters",
    "parts": "the parameters of the first layer, of the second and of the rest, which are all that there are",
    "activations": "a function of an example: a list of what leaves the first layer and what leaves the second",
}


class Network(Strict, ABC):
    """The settings of a network in params.yaml.

    `sizes` are the names of those that say how large it is, and `width_names` of those that say how wide: numbers,
    or lists of numbers. A network without the latter has one width alone.
    """

    sizes: ClassVar[tuple[str, ...]]
    width_names: ClassVar[tuple[str, ...]] = ()
    name: Any  # a literal in each network
    initialisation: Initialisation

    @property
    @abstractmethod
    def num_layers(self) -> int:
        """How many layers have parameters."""

    def widened(self, factor: float) -> "Network":
        """The network with `factor` times as many channels and neurons in each hidden layer, at least one.

        **Raises**: `ValueError` where there is no such network.
        """
        widths = {name: _times(getattr(self, name), factor) for name in self.width_names}
        try:
            return self.model_validate(self.model_dump() | widths)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _times(width: int | list[int], factor: float) -> Any:
    return [_times(each, factor) for each in width] if isinstance(width, list) else max(1, round(factor * width))
