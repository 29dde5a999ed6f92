"""How types are checked in tests: by beartype, for which an int is a float too, as it is for type checkers."""

from collections.abc import Callable
from typing import Any

import jaxtyping._typeguard
from beartype import BeartypeConf, beartype
from beartype.door import is_bearable

CONF = BeartypeConf(is_pep484_tower=True)
checked = beartype(conf=CONF)


def _leaf_checked(accepts_leaf: Callable[[Any], None]) -> Callable[[Any], None]:
    """What jaxtyping asks of every leaf of a `PyTree[...]`: its own checker inspects a signature anew for each."""
    (hint,) = accepts_leaf.__annotations__.values()

    def accepts(leaf: Any) -> None:
        if not is_bearable(leaf, hint, conf=CONF):
            raise TypeError

    return accepts


jaxtyping._typeguard.typechecked = _leaf_checked
