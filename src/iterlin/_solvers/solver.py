"""What the training loop asks of a solver."""

import dataclasses
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PyTree

from iterlin._batch_model import BatchModel
from iterlin._losses import Loss
from iterlin._problem import Problem
from iterlin._schedules import Schedule
from iterlin._state import State, Stop


class Setup(NamedTuple):
    """What a run asks of its solver.

    `streamed` says whether the batches come from a stream, and `augmented` whether their inputs are changed at random.
    """

    loss: Loss
    schedule: Schedule
    batch_size: int | None  # None for full batches
    damping: float  # the smallest λ of any phase
    num_outputs: int  # n·out
    params: PyTree[Array | np.ndarray]
    model: Any
    streamed: bool
    augmented: bool

    @property
    def num_params(self) -> int:
        """p."""
        return optax.tree.size(self.params)

    def require_full_batches(self, solver: str) -> None:
        """**Raises**: `ValueError` for mini-batches: the solver takes all data for one problem."""
        if self.streamed:
            raise ValueError(
                f"{solver} takes full batches, which a stream has not: use a first-order solver such as sgd"
            )
        if self.batch_size is not None:
            raise ValueError(f"{solver} takes full batches: leave batch_size out")

    def require_linear(self, solver: str) -> None:
        """**Raises**: `ValueError` for phases that train no linear proxy."""
        if self.schedule.order != 1:
            raise ValueError(
                f"{solver} is made for proxies that are linear in θ, and {type(self.schedule).__name__} trains "
                "another: use sgd, adam or Flow"
            )

    def require_32_bits(self, solver: str) -> None:
        """**Raises**: `ValueError` that names the first parameter with fewer bits: its rounding is in no estimate."""
        for path, leaf in jax.tree_util.tree_leaves_with_path(self.params):
            if leaf.dtype.itemsize < 4:
                name = jax.tree_util.keystr(path)
                raise ValueError(
                    f"{solver} takes parameters of 32 bits or 64, and {name} is {leaf.dtype}: cast the model to "
                    "float32, or use a first-order solver such as sgd"
                )

    def require_one_example(self, solver: str) -> None:
        """**Raises**: `ValueError` for a model whose examples may meet: a kernel takes each of them by itself."""
        if isinstance(self.model, BatchModel):
            raise ValueError(f"{solver} takes models that map one example: the examples of a BatchModel may meet")

    def require_no_draws(self, solver: str) -> None:
        """**Raises**: `ValueError` for a model that draws at random: its lazy problem is new at every step."""
        if isinstance(self.model, BatchModel) and self.model.random:
            raise ValueError(
                f"{solver} looks at a lazy problem more than once: a model that draws is new at every step"
            )


class Solver(eqx.Module):
    """Solves the lazy problems of a run. The loop calls these methods and knows nothing else of it.

    Subclass `Stepwise` for a solver whose steps are compiled. Subclass this class for one that computes on the host:
    it sets `on_host`, and its `advance` calls `relinearised` itself where a phase is due.
    """

    on_host: ClassVar[bool] = False
    # Whether phases of one step may be taken on the network itself: nothing but the gradient at θ_s enters a step, or
    # steps follow each other so closely that they are the network's flow.
    takes_network: ClassVar[bool] = False

    @abstractmethod
    def init(self, params: PyTree[Array]) -> Any:
        """The state at the start of training."""

    @abstractmethod
    def relinearise(self, params: PyTree[Array], state: Any) -> Any:
        """The state with which the next phase starts."""

    @abstractmethod
    def advance(self, problem: Problem, schedule: Schedule, state: State, stop: Stop) -> State:
        """Train towards the next record, to divergence or to a pause, after which the same call goes on."""

    def check(self, setup: Setup) -> None:
        """Whether it can train like this.

        **Raises**: `ValueError` if not.
        """

    def report(self, state: Any) -> dict[str, Any]:
        """What is worth knowing about how the problems were solved, as numbers by name."""
        return {}

    def explicit_rate(self) -> Float[Array, ""] | float | None:
        """η, if this is plain gradient descent, whose phases are stable for ηλ_max < 2."""
        return None

    def relinearised(self, state: State, schedule: Schedule) -> State:
        """The feature update: θ_s ← θ_t."""
        return dataclasses.replace(
            state,
            params0=state.params,
            solver_state=self.relinearise(state.params, state.solver_state),
            phase_step=jnp.zeros_like(state.phase_step),
            schedule_state=schedule.next_phase(state.schedule_state),
            feature_updates=state.feature_updates + schedule.updates(state.phase_step),
            due=jnp.asarray(False),
        )
