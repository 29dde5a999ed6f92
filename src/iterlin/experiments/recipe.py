"""What a training run is made from. Nothing here imports jax."""

from typing import Any, NamedTuple


class Recipe(NamedTuple):
    """What a run depends on besides its data, in plain values."""

    seed: int
    run: int  # its key is folded into the seed's, so that more runs leave the old ones as they are
    threads: int
    runs_at_once: int  # in one program, which rounds differently for another number of them
    precision: str
    sizes: dict[str, int]
    net: dict[str, Any]
    training: dict[str, Any]
    solver: dict[str, Any]  # its name, and what it needs besides η
    learning_rate: float
    period: float | None  # K, or None to re-linearise on convergence
    tolerance: float | None
