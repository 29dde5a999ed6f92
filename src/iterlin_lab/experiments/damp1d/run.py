"""E-DAMP1D (T fig. 9, top and centre): damped Gauss–Newton on a quintic, over λ and over step sizes, with many seeds.

In float64, by eigenvalues of the kernel: float32 resolves no λ below 10⁻³ there, and Cholesky's factorisation breaks
down on some networks below λ = 10⁻⁵, where the runs would fail by arithmetic alone.
"""

from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jaxtyping import Array, Float

from iterlin import Every, Result, Ridge, Run, squared_error, train_many
from iterlin_lab.data.quintic import points
from iterlin_lab.experiments.damp1d.settings import PURPOSE, Damp1D, Scope
from iterlin_lab.nets.shared.build import build
from iterlin_lab.runs.store import joined, kept_tables
from iterlin_lab.runs.training import code_of
from iterlin_lab.runs.workers import grouped, side_by_side

CODE = "iterlin_lab/data/quintic.py", "iterlin_lab/experiments/damp1d/run.py"


class Damping(NamedTuple):
    """One way to damp: λ of the lazy problem, and the part of each step that is taken."""

    damping: float
    step_size: float

    @property
    def cell(self) -> str:
        """What it is called in tables."""
        return f"λ = {self.damping:g}" if self.step_size == 1 else f"α = {self.step_size:g}"


def cells(section: Damp1D) -> list[Damping]:
    """λ in rising order from 0 on; then step sizes, which have λ = 0."""
    undamped = [Damping(0.0, size) for size in sorted(section.step_sizes, reverse=True)]
    return [Damping(0.0, 1.0), *damped(section), *undamped]


def damped(section: Damp1D) -> list[Damping]:
    """λ in rising order, with exact steps."""
    return [Damping(damping, 1.0) for damping in sorted(section.dampings)]


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, and a row a point of each function that is to be drawn."""
    own, shallower = scale.damp1d, scale.damp1d.with_fewer_layers()
    tasks = [
        (scale, section, cell, group)
        for section, ways in ((own, cells(own)), (shallower, damped(shallower)))
        for cell, group in product(ways, grouped(range(section.num_seeds), section.runs_at_once))
    ]
    train = f"{__name__}:{train_kept.__name__}"
    return joined(side_by_side(train, tasks, scale.threads, "damped Gauss–Newton", "program"))


def train_kept(task: tuple[Scope, Damp1D, Damping, list[int]]) -> dict[str, pd.DataFrame]:
    """The tables of some runs of one cell. What is kept already is not trained again."""
    scale, section, cell, runs = task
    what = {"seed": scale.seed, "threads": scale.threads, "runs": runs, **cell._asdict()}
    what["settings"] = section.model_dump(exclude={"dampings", "step_sizes", "num_seeds", "shallower"})

    def compute() -> dict[str, pd.DataFrame]:
        with jax.enable_x64(True):
            return dict(zip(("runs", "drawn"), train_runs(scale.seed, section, cell, runs), strict=True))

    return kept_tables(what, code_of(section.net.name, *CODE), compute)


def train_runs(seed: int, section: Damp1D, cell: Damping, runs: list[int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Train some runs of a cell in one program: a row a run, and the functions of runs that are drawn."""
    train, (x, target) = _points(section.num_train), _points(section.num_test)
    solver = Ridge(cell.step_size, space="kernel", factorisation="eigh")
    key = jax.random.fold_in(jax.random.key(seed), PURPOSE)
    models = [_network(section, jax.random.fold_in(key, run)) for run in runs]
    padded = models + models[-1:] * (section.runs_at_once - len(models))  # the program is always the same
    results = train_many(
        [Run(model, {"train": train}, solver, cell.damping) for model in padded],
        loss=squared_error,
        schedule=Every(1),
        num_steps=section.num_steps,
        hoist=True,
        first_record=section.num_steps,
        divergence_factor=1e12,
    )[: len(runs)]
    outputs = [_outputs(result.model, x) for result in results]
    rows = [_row(section, cell, *item, x, target) for item in zip(runs, results, outputs, strict=True)]
    drawn = [run for run in runs if run < section.num_drawn and cell.damping in section.drawn]
    functions = [
        pd.DataFrame({"cell": cell.cell, "damping": cell.damping, "run": run, "x": x[:, 0], "f": output[:, 0]})
        for run, output in zip(runs, outputs, strict=True)
        if run in drawn
    ]
    empty = pd.DataFrame(columns=["cell", "damping", "run", "x", "f"])
    return pd.DataFrame(rows), pd.concat(functions) if functions else empty


def _points(num: int) -> tuple[Array, Array]:
    x, y = points(num)
    return jnp.asarray(x), jnp.asarray(y)


def _network(section: Damp1D, key: Array):
    return build(**section.net.model_dump(), input_shape=(1,), num_classes=1, key=key)


@eqx.filter_jit
def _outputs(model, x: Float[Array, "n 1"]) -> Float[Array, "n 1"]:
    return jax.vmap(model)(x)


def _row(section: Damp1D, cell: Damping, run: int, result: Result, output: Array, x: Array, target: Array) -> dict:
    """How one run ended. One that diverged has failed, and its errors are infinite."""
    last, diverged = result.records[-1], result.divergence is not None
    train_rmse = float("inf") if diverged else float(np.sqrt(2 * last["network_train_loss"]))
    return {
        "cell": cell.cell,
        "depth": section.net.depth,
        **cell._asdict(),
        "run": run,
        "outcome": result.outcome.name,
        "steps": last["step"],
        "train_rmse": train_rmse,
        "test_rmse": float("inf") if diverged else float(jnp.sqrt(jnp.mean(jnp.square(output - target)))),
        "roughness": float("inf") if diverged else roughness(x, output),
        "failed": not train_rmse <= section.max_train_rmse,
    }


def roughness(x: Float[Array, "n 1"], f: Float[Array, "n 1"]) -> float:
    """∫|f''| over equally spaced points: the total variation of the slope, which no offset or linear part changes."""
    return float(jnp.sum(jnp.abs(jnp.diff(f[:, 0], n=2))) / (x[1, 0] - x[0, 0]))
