"""Showing what MLflow does not have yet."""

import iterlin_lab.mlflow.place as place
from iterlin_lab.mlflow.cells import find_results
from iterlin_lab.settings.shared import Shared


def sync(scale: Shared, again: bool = False, report: bool = True) -> int:
    """Show every cell that MLflow does not have yet, and the `report`; the number of new cells.

    What this machine has shown before is taken to be there still, unless it is to look `again`. Best effort: what goes
    wrong becomes a warning, since no result depends on it.
    """
    new = 0
    try:
        with place.alone():
            if again:
                place.forget()
            results = find_results(scale, report)
            if place.known() | results.versions() == place.known():
                return 0
            place.prepare_mlflow()
            import iterlin_lab.mlflow.show as show  # mlflow takes seconds to import

            for _ in show.show(results):
                new += 1
    except Exception as error:
        place.warn(f"MLflow at {place.uri()} does not show everything. Try `iterlin sync` later", error)
    return new
