"""The one-dimensional regression task of T §C.2.3."""

import numpy as np
from jaxtyping import Float

DOMAIN = (-4.0, 4.0)  # on which the quintic reaches −9 and 7; T's [−4, 4] holds for |x| ≲ 3.6


def quintic(x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """x⁵/32 − x³/2 + 2x − 1."""
    return x**5 / 32 - x**3 / 2 + 2 * x - 1


def points(num: int) -> tuple[Float[np.ndarray, "n 1"], Float[np.ndarray, "n 1"]]:
    """Uniformly spaced inputs, the ends of the domain included, and their targets."""
    x = np.linspace(*DOMAIN, num)[:, None]
    return x, quintic(x)
