"""Full batches, seeded mini-batches and streamed batches of the lazy problem."""

from collections.abc import Callable
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, PyTree

from iterlin._batch_model import ByBatch
from iterlin._blocks import rows
from iterlin._devices import spread_here
from iterlin._expanded import Expanded
from iterlin._linearise import Forward, Linearised, Network, recomputed, stateless

HOIST_BYTES = 2 * 2**30  # of what a phase keeps at least: more is computed again by every step
HOIST_SHARE = 8  # or so much of a device's own memory; what a step computes from it takes some five times as much

# A key and a batch of inputs ↦ as many inputs, changed at random.
Augment = Callable[[Array, PyTree[Array]], PyTree[Array]]
Chosen = tuple[PyTree[Array], PyTree[Array], Array | None]  # x and y of a batch, and the epoch's order


def hoist_bytes(at_once: int = 1, memory: int | None = None) -> int:
    """What a phase may keep where so many runs share a device with so many bytes; by default one of this process."""
    own = (jax.local_devices()[0].memory_stats() or {}).get("bytes_limit") if memory is None else memory
    return max(HOIST_BYTES, (own or 0) // (HOIST_SHARE * at_once))


class FullBatch(eqx.Module):
    """Every step sees all data, so one linearisation serves a whole phase: with `hoist` its primal is computed once.

    What the derivatives need of it is then kept throughout. Otherwise each step computes it again; chunk by chunk where
    the network maps one example, so that no output depends on the others.
    """

    hoist: bool = eqx.field(static=True, default=True)

    def init(self) -> None:
        return None

    def choose(self, x: PyTree[Array], y: PyTree[Array], step: Int[Array, ""], order: Any) -> Chosen:
        """All examples."""
        return x, y, order

    def forward(self, model: Linearised | Expanded | Network, x: PyTree[Array]) -> Forward:
        """θ ↦ f(θ, x), for one step."""
        return model.with_state(x) if isinstance(model.fn, ByBatch) else stateless(recomputed(model, x))


class MiniBatch(eqx.Module):
    """Batches of `size` from a fresh permutation of the n examples each epoch, which leaves n mod `size` examples out.

    The permutation of an epoch follows from the key and the epoch alone.

    With `augment` step t sees a(x) in place of x, where a is drawn from the second of two keys and t alone: so the lazy
    problem of that step is ℓ(f_lin(θ, a(x)), y), with f_lin expanded about θ_s at the very inputs a(x). The expansion
    point stays for the phase; the inputs at which φ_s is taken are new at every step, and nothing of them can be kept.
    """

    hoist: ClassVar[bool] = False

    key: Array
    num_examples: int = eqx.field(static=True)
    size: int = eqx.field(static=True)
    augment: Augment | None = eqx.field(static=True, default=None)

    def __check_init__(self):
        if not 1 <= self.size <= self.num_examples:
            raise ValueError(f"batch_size must lie between 1 and the {self.num_examples} examples, got {self.size}")

    def init(self) -> Int[Array, " n"]:
        return jnp.arange(self.num_examples, dtype=jnp.int32)

    def choose(self, x: PyTree[Array], y: PyTree[Array], step: Int[Array, ""], order: Any) -> Chosen:
        """The batch of a step, and the order of its epoch."""
        num_batches = self.num_examples // self.size
        epoch, batch = step // num_batches, step % num_batches
        # A loop of one turn or none: of `cond` both branches are computed where runs are trained at once. The
        # turn's number enters, or XLA would move the permutation out of the loop and draw it at every step.
        after = epoch + (batch == 0).astype(epoch.dtype)
        order = jax.lax.fori_loop(epoch, after, lambda epoch, _: self._permutation(epoch), order)
        chosen = jax.lax.dynamic_slice_in_dim(order, batch * self.size, self.size)
        inputs = rows(x, chosen)
        if self.augment is not None:
            inputs = self.augment(jax.random.fold_in(jax.random.split(self.key)[1], step), inputs)
        return *spread_here((inputs, rows(y, chosen))), order

    def forward(self, model: Linearised | Expanded | Network, x: PyTree[Array]) -> Forward:
        """θ ↦ f(θ, x), for one step."""
        return model.with_state(x)

    def _permutation(self, epoch):
        key = self.key if self.augment is None else jax.random.split(self.key)[0]
        return jax.random.permutation(jax.random.fold_in(key, epoch), self.init())


class Streamed(eqx.Module):
    """The batch of a step is all the data that the lazy problem has then: it comes from outside (see `Stream`)."""

    hoist: ClassVar[bool] = False

    def init(self) -> None:
        return None

    def choose(self, x: PyTree[Array], y: PyTree[Array], step: Int[Array, ""], order: Any) -> Chosen:
        """The batch that is there."""
        return x, y, order

    def forward(self, model: Linearised | Expanded | Network, x: PyTree[Array]) -> Forward:
        """θ ↦ f(θ, x), for one step."""
        return model.with_state(x)
