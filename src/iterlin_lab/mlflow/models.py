"""A cell's trained networks as a model that MLflow can load, `iterlin_lab.mlflow.served`."""

import json
import re
import tempfile
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import mlflow.pyfunc
import numpy as np
from mlflow.entities import LoggedModelOutput
from mlflow.models import Model, ModelSignature
from mlflow.types import ParamSchema, ParamSpec, Schema, TensorSpec

from iterlin_lab.mlflow.cells import Cell
from iterlin_lab.mlflow.store import Store

# Named, so that MLflow does not go and look for them. This package itself is not on a registry.
REQUIREMENTS = [f"{name}=={version(name)}" for name in ("mlflow", "jax", "equinox", "jaxtyping", "numpy", "pydantic")]


def log_networks(store: Store, run_id: str, cell: Cell, images: np.ndarray, tags: Mapping[str, str]) -> str:
    """Log the networks of a cell as one model of the run, with the parameter `run`; the model's id.

    The model has the cell's name, without what MLflow forbids there.
    """
    client, networks = store.client, cell.path / "models"
    model = client.create_logged_model(
        store.experiment_id,
        re.sub(r"[/:.%\"']", "_", cell.name),
        run_id,
        dict(tags),
        params={name: str(value) for name, value in cell.params.items()},
        model_type="classifier",
    )
    with tempfile.TemporaryDirectory() as folder:
        mlflow.pyfunc.save_model(
            Path(folder) / "model",
            loader_module="iterlin_lab.mlflow.served",
            data_path=str(networks),
            mlflow_model=Model(model.artifact_location, run_id, model_uuid=model.model_id, model_id=model.model_id),
            signature=_signature(next(networks.iterdir())),
            input_example=(images, {"run": 0}),
            pip_requirements=REQUIREMENTS,
        )
        client.log_model_artifacts(model.model_id, str(Path(folder) / "model"))
    client.finalize_logged_model(model.model_id, "READY")
    client.log_outputs(run_id, [LoggedModelOutput(model.model_id, step=0)])
    return model.model_id


def _signature(network: Path) -> ModelSignature:
    """From the description at the head of a saved network: nothing is loaded, so nothing waits for jax."""
    with network.open("rb") as file:
        net = json.loads(file.readline())["net"]
    images = TensorSpec(np.dtype("float32"), (-1, *net["input_shape"]))  # a name would have MLflow pass a dict
    probabilities = TensorSpec(np.dtype("float32"), (-1, net["num_classes"]))
    return ModelSignature(Schema([images]), Schema([probabilities]), ParamSchema([ParamSpec("run", "long", 0)]))
