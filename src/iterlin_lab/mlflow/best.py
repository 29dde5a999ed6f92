"""The best cell of a scale as a registered model: `models:/iterlin-<scale>@best`."""

from collections.abc import Iterable
from contextlib import suppress

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from iterlin_lab.mlflow.metrics import VALIDATION
from iterlin_lab.mlflow.store import Store

ALIAS = "best"
ABOUT = "The networks of the cell with the best accuracy on validation data, on average over its seeds."


def register_best(scale: str, stores: Iterable[Store], data: str) -> None:
    """Let the alias stand for the best cell of these experiments, among those on the data with this digest."""
    stores = list(stores)
    client, name = stores[0].client, f"iterlin-{scale}"
    query = f"tags.level = 'cell' AND tags.present = 'yes' AND tags.data = '{data}'"
    order = [f"metrics.{VALIDATION} DESC", "tags.path"]
    for cell in client.search_runs([store.experiment_id for store in stores], query, max_results=1, order_by=order):
        assert cell.outputs is not None
        model = cell.outputs.model_outputs[0].model_id
        source, run = f"models:/{model}", cell.info.run_id
        if source != _registered(client, name):
            version = client.create_model_version(name, source, run, await_creation_for=0, model_id=model)
            client.set_registered_model_alias(name, ALIAS, version.version)


def _registered(client: MlflowClient, name: str) -> str | None:
    """The model that the alias stands for. The name is made if it is not there."""
    try:
        return client.get_model_version_by_alias(name, ALIAS).source
    except MlflowException:
        with suppress(MlflowException):  # the name is there, without the alias
            client.create_registered_model(name, description=ABOUT)
        return None
