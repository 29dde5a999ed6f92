"""What a training run is made from. Nothing here imports jax."""

import json
import math
from typing import Any, NamedTuple

from iterlin_lab.layout import Layout
from iterlin_lab.nets.contract import Network
from iterlin_lab.settings.shared import Shared
from iterlin_lab.settings.solved import Solved
from iterlin_lab.settings.solvers import solver_of

# The purposes of random keys; experiments with keys of their own have higher numbers.
RESULT, REGIME, SCHEDULE = 0, 1, 4

Damping = float | tuple[float, float, int]  # λ; or those of the first phases and of later ones, and how many are first


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
    learning_rate: float | None  # None if the solver has none
    period: float | None  # K; None for another schedule, or without one to re-linearise on convergence
    tolerance: float | None
    damping: Damping
    augmentation: str | None = None  # of mini-batches
    snapshots: bool = False  # whether the network is kept at every record
    form: str = "primal"  # of lazy phases
    devices: int = 1  # over which its examples are spread, in sums that round differently for another number of them
    layers: list[int] | None = None  # the numbers, from 0, of those that are trained; None trains all
    schedule: dict[str, Any] | None = None  # one that is no K, its name and its numbers
    damping_change: float | None = None  # λ is multiplied or divided by it after a phase; None keeps λ
    order: int = 1  # of the expansion of the network that a phase trains
    output_scale: float | None = None  # α of outputs that start at zero; None leaves the network as it is


def may_have_dual(recipe: Recipe) -> bool:
    """Whether the dual is asked for, lazy problems stay as they are for a phase, and the solver takes any basis."""
    fixed = recipe.augmentation is None and recipe.runs_at_once == 1 and recipe.schedule is None
    plain = recipe.damping_change is None and recipe.order == 1 and recipe.output_scale is None
    return recipe.form != "primal" and fixed and plain and solver_of(recipe.solver).any_basis


def make_recipe(
    scale: Shared,
    run: int,
    *,
    solver: dict[str, Any],
    learning_rate: float | None,
    num_steps: int,
    first_record: int = 1,
    seed: int | None = None,
    period: float | None = None,
    tolerance: float | None = None,
    damping: Damping = 0.0,
    sizes: dict[str, int] | None = None,
    net: Network | None = None,
    augmentation: str | None = None,
    snapshots: bool = False,
    layers: list[int] | None = None,
    schedule: dict[str, Any] | None = None,
    damping_change: float | None = None,
    order: int = 1,
    output_scale: float | None = None,
    **training: Any,
) -> Recipe:
    """Run number `run` of a cell, with what the scale says where `seed`, `sizes`, `net` and `training` say nothing."""
    steps = {"num_steps": num_steps, "first_record": first_record}
    return Recipe(
        seed=scale.seed if seed is None else seed,
        run=run,
        threads=scale.threads,
        runs_at_once=scale.runs_at_once,
        precision=scale.precision,
        form=scale.form,
        devices=scale.devices,
        sizes=sizes or scale.data.sizes,
        net=(net or scale.net).model_dump(),
        training=scale.training.model_dump() | steps | training,
        solver=solver,
        learning_rate=learning_rate,
        period=period,
        tolerance=tolerance,
        damping=damping,
        augmentation=augmentation,
        snapshots=snapshots,
        layers=layers,
        schedule=schedule,
        damping_change=damping_change,
        order=order,
        output_scale=output_scale,
    )


def solved_recipe(scale: Shared, run: int, solved: Solved, damping: Damping = 0.0) -> Recipe:
    """Truncated Gauss–Newton: every lazy problem to a certificate (T Algorithm 2).

    On full batches: a gradient of part of the data certifies nothing.
    """
    solver = solved.solver
    return make_recipe(
        scale,
        run,
        solver=solver.values(),
        learning_rate=solver.own_rate,
        num_steps=solved.num_steps,
        tolerance=solver.tolerance,
        damping=damping,
        records_per_decade=solved.records_per_decade,
        batch_size=None,
    )


def learning_rate(scale: Shared) -> float:
    """The η that the rule has set; NaN as long as it has not, when cells can be listed and not trained."""
    path = Layout(scale.name).regime
    return json.loads(path.read_text())["learning_rate"] if path.exists() else math.nan
