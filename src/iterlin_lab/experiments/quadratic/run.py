"""Runs of E-QUAD: the network and its expansions about the initialisation. Nothing here imports jax before it runs."""

import json
from itertools import chain

import pandas as pd

from iterlin_lab.experiments.quadratic.settings import NETWORK, Scope
from iterlin_lab.layout import Layout
from iterlin_lab.runs.cells import train_all
from iterlin_lab.runs.recipes import Recipe, make_recipe
from iterlin_lab.runs.workers import side_by_side

DISTANCES = "iterlin_lab.runs.expansions:distances"


def recipes(scale: Scope) -> dict[int, list[Recipe]]:
    """The runs of the network, and of its expansions by their order."""
    own = scale.quadratic
    return {order: [_recipe(scale, order, run) for run in range(own.num_seeds)] for order in (NETWORK, *own.orders)}


def _recipe(scale: Scope, order: int, run: int) -> Recipe:
    """The network's own flow, K = 1; or one phase, K = ∞, of its expansion of this order."""
    own = scale.quadratic
    return make_recipe(
        scale,
        run,
        seed=own.seed,
        net=scale.net.model_copy(update={"initialisation": own.initialisation}),
        solver=own.solver.values(),
        learning_rate=own.learning_rate,
        num_steps=own.num_steps,
        first_record=own.first_record,
        records_per_decade=own.records_per_decade,
        period=1 if order == NETWORK else float("inf"),
        order=max(order, 1),
        snapshots=True,
        fit_loss=None,
    )


def run(scale: Scope) -> dict[str, pd.DataFrame]:
    """A row a run, and a row a record of an expansion, with how far it is from the network then."""
    data, cells = Layout(scale.name).data, recipes(scale)
    folders = iter(train_all(scale, data, list(cells.values()), "E-QUAD"))
    trained = {order: [next(folders) for _ in runs] for order, runs in cells.items()}
    tasks = [
        (data, scale.quadratic.num_examples, (recipe, own), dict(zip(scale.quadratic.orders, expansions, strict=True)))
        for recipe, own, *expansions in zip(cells[NETWORK], *trained.values(), strict=True)
    ]
    found = side_by_side(DISTANCES, tasks, scale.threads, "E-QUAD, outputs", "run")
    rows = [
        {"order": order, **json.loads((folder / "run.json").read_text())}
        for order, folders in trained.items()
        for folder in folders
    ]
    return {"runs": pd.DataFrame(rows), "distances": pd.DataFrame(list(chain.from_iterable(found)))}
