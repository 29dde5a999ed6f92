"""From what DVC has to what MLflow lacks."""

from collections.abc import Iterator

from iterlin_lab.experiments import chosen
from iterlin_lab.layout import Layout
from iterlin_lab.mlflow import place
from iterlin_lab.mlflow.best import register_best
from iterlin_lab.mlflow.cell_runs import digest, show_cell
from iterlin_lab.mlflow.cells import BEST, Cell, Results
from iterlin_lab.mlflow.pages import page
from iterlin_lab.mlflow.reports import show_report


def show(results: Results) -> Iterator[Cell]:
    """Show what MLflow lacks; each cell that is new, once it is there."""
    scale, known, versions = results.scale, place.known(), results.versions()
    lacks = {what: version for what, version in versions.items() if known.get(what) != version}

    def shown(what: str) -> None:
        known[what] = lacks[what]
        place.remember(known)

    # MLflow lists first what was made last.
    pages = {experiment.name: page(scale.name, experiment) for experiment in reversed(chosen(scale))}
    for cell in results.cells:
        if str(cell.path) in lacks:
            store = pages[cell.experiment.name]
            if show_cell(store, cell):
                yield cell  # it is there, also if what follows fails and is done the next time
            store.clear({"level": "live", "stage": cell.stage})
            shown(str(cell.path))
    if BEST in lacks and results.cells:
        register_best(scale.name, pages.values(), digest(Layout(scale.name).data))
        shown(BEST)
    if str(results.report) in lacks:
        show_report(results, pages, known)
        shown(str(results.report))
