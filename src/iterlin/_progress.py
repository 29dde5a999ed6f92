"""What is kept of runs while they train, so that another process can go on where one was stopped."""

import struct
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from iterlin._devices import from_first
from iterlin._schedules import forever
from iterlin._state import State


class Progress(NamedTuple):
    """Where runs that train at once have come to: their states, records and outcomes (a name, or none yet).

    `fingerprint` names what the runs depend on.
    """

    state: State
    records: list[list[dict[str, float]]]
    outcomes: list[str | None]
    fingerprint: str


@runtime_checkable
class Checkpoints(Protocol):
    """Keeps the progress of the runs of one call: when it is made again, they go on from there."""

    interval: float  # seconds between two checkpoints

    def restore(self, like: State) -> Progress | None:
        """The progress that was kept last, its state with the structure of `like`; none if there is nothing yet."""
        ...

    def save(self, progress: Progress) -> None:
        """Keep it in place of what was kept before."""
        ...


class Keeper:
    """Says how long to train between two looks at the clock, and keeps the progress when it is time.

    On several hosts all go by the clock of the first, for all have to pause at once.
    """

    SMALLEST: int = 64  # evaluations, beside which a pause costs little: a linearisation of the training data
    SHARE: float = 0.01  # of all time at most goes into keeping

    def __init__(self, checkpoints: Checkpoints | None, on_hosts: bool = False):
        self._checkpoints, self._on_hosts = checkpoints, on_hosts
        self._budget = self.SMALLEST
        self._looked = self._clock() if checkpoints else 0.0
        self._next = self._looked + (checkpoints.interval if checkpoints else 0)

    @property
    def budget(self) -> int:
        """The evaluations of the gradient to train for; where nothing is kept there is no pause."""
        return self._budget if self._checkpoints else forever()

    def restore(self, like: State, fingerprint: str) -> Progress | None:
        """The progress that was kept last.

        **Raises**: `ValueError` if other runs have kept it.
        """
        kept = self._checkpoints.restore(like) if self._checkpoints else None
        if kept is not None and kept.fingerprint != fingerprint:
            raise ValueError(
                "checkpoints: what is kept there belongs to another call, which differed in its model, data, solver, "
                "schedule or settings: give each call a place of its own, or remove what is there"
            )
        return kept

    def look(self, progress: Callable[[], Progress]) -> None:
        """After a pause or a record: no byte of a result depends on what happens here."""
        if self._checkpoints is None:
            return
        now = self._clock()
        affordable = self._budget * (self._checkpoints.interval / 4) / max(now - self._looked, 1e-9)
        self._budget = int(max(self.SMALLEST, min(affordable, 4 * self._budget, forever() // 4)))
        if now >= self._next:
            self._checkpoints.save(progress())
            took = self._clock() - now
            self._next = now + took + max(self._checkpoints.interval, took / self.SHARE)
        self._looked = self._clock()

    def _clock(self) -> float:
        if not self._on_hosts:
            return time.monotonic()
        (seconds,) = struct.unpack("d", from_first(struct.pack("d", time.monotonic())))
        return seconds
