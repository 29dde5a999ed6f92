"""Layers of equinox that know their batch, or that draw at random: BatchNorm's statistics in a lazy phase, dropout."""

from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from equinox.nn import BatchNorm
from jaxtyping import Array, PyTree

from iterlin._batch_model import BatchModel, fresh
from iterlin._blocks import num_examples

Statistics = Literal["batch", "frozen", "running"]


class EquinoxModel(BatchModel):
    """A module `module(x, state, key=key) → output, state` of one example, as equinox writes it, for whole batches.

    Without a state it is `module(x, key=key) → output`, and unless it is `random` it gets no key. Each example has a
    key of its own. Records switch dropout off.

    **Arguments**: `axis_name` is the one that BatchNorm was given. `statistics` says which mean and variance BatchNorm
    divides by in a lazy phase:

    - `"batch"`: those of the step's batch. They depend on θ, and the expansion goes through them.
    - `"frozen"`: those of the step's batch at θ_s, as numbers: the expansion does not see that they depend on θ.
    - `"running"`: the running ones, as numbers. They move with K: at each feature update, by the first batch of the
      phase at θ_s, before they are used.

    Plain training with BatchNorm is `"batch"` at K = 1. Records divide by the statistics of the training data (of 2000
    at most) at θ, through which the expansion goes or does not go as in training; for `"running"` by the running ones.

    **Raises**: `ValueError` for a BatchNorm in the mode "ema", whose training divides by running statistics.
    """

    module: Any
    axis_name: str = eqx.field(static=True, default="batch")
    statistics: Statistics = eqx.field(static=True, default="batch")

    def __check_init__(self):
        known = ("batch", "frozen", "running")
        if self.statistics not in known:
            raise ValueError(f"statistics must be one of {', '.join(known)}, got {self.statistics!r}")
        if any(layer.mode != "batch" for layer in _norms(self.module)):
            raise ValueError(
                "a BatchNorm is in the mode 'ema': build it with mode='batch', and choose statistics='running' for "
                "what that mode means"
            )

    def __call__(self, x, state, key):
        if self.statistics == "batch":
            return self._mapped(self.module, x, state, key)
        fixed = _dividing(self.module, by_state=True)
        if self.statistics == "running":
            return self._mapped(fixed, x, state, key)
        at_theta_s = _constant(self.module)
        ours = self._mapped(at_theta_s, x, _forgetful(self.module, state, always=True), key)[1]
        return self._mapped(fixed, x, ours, key)[0], self._mapped(at_theta_s, x, state, key)[1]

    def at_feature_update(self, x, state, key):
        if self.statistics != "running":
            return state
        return self._mapped(self.module, x, _forgetful(self.module, state, always=False), key)[1]

    def calibrated(self, x, state):
        if self.statistics == "running":
            return state
        module = _dividing(eqx.nn.inference_mode(self.module), by_state=False)
        module = module if self.statistics == "batch" else _constant(module)
        return self._mapped(module, x, _forgetful(module, state, always=True), None)[1]

    def inference(self, x, state):
        return self._mapped(eqx.nn.inference_mode(self.module), x, state, None)[0]

    def _mapped(self, module: Any, x: PyTree[Array], state: Any, key: Array | None) -> tuple[PyTree[Array], Any]:
        """The outputs for all examples, which share the state, and the state after them."""
        keys = None if key is None else jax.random.split(key, num_examples(x))

        def of_example(x, state, key):
            given = {} if key is None else {"key": key}
            return (module(x, **given), None) if state is None else module(x, state, **given)

        return jax.vmap(of_example, (0, None, 0), (0, None), axis_name=self.axis_name)(x, state, keys)


def _is_norm(node: Any) -> bool:
    return isinstance(node, BatchNorm)


def _norms(module: Any) -> list[BatchNorm]:
    return [node for node in jax.tree.leaves(module, is_leaf=_is_norm) if _is_norm(node)]


def _dividing(module: Any, by_state: bool) -> Any:
    """The module whose BatchNorm divides by the statistics of its state, or by those of the batch."""
    return eqx.tree_at(
        lambda module: [layer.inference for layer in _norms(module)], module, replace_fn=lambda _: by_state
    )


def _constant(module: Any) -> Any:
    """The module as it is, without a derivative."""
    return jax.tree.map(lambda leaf: jax.lax.stop_gradient(leaf) if eqx.is_array(leaf) else leaf, module)


def _forgetful(module: Any, state: Any, always: bool) -> Any:
    """The state in which BatchNorm knows nothing, or nothing that no batch has told it: its statistics are zero.

    Equinox corrects running statistics for a start at zero, so the next ones are then those of one batch; but it starts
    variances at one.
    """
    state = fresh(state)
    for layer in _norms(module):
        count = state.get(layer.batch_counter)
        kept = (count > 0) & (not always)
        for index in (layer.batch_counter, layer.batch_state_index):
            values = jax.tree.map(lambda value, kept=kept: jnp.where(kept, value, 0), state.get(index))
            state = state.set(index, values)
    return state
