"""Where a tracking server may have files written: to itself or to a store on the network, never to this machine.

MLflow's client writes an artifact wherever the server says that a run keeps them, also to `file:///home/...`.
"""

from typing import NoReturn

from mlflow.exceptions import MlflowException
from mlflow.store.artifact.artifact_repository_registry import _artifact_repository_registry as registry
from mlflow.store.artifact.artifact_repository_registry import get_registered_artifact_repositories

REMOTE = {"mlflow-artifacts", "http", "https", "s3", "gs", "wasbs", "abfss"}


def refuse_this_machine() -> None:
    """From now on MLflow finds no way to write to any other place. It asks at every artifact, so no answer escapes."""
    for scheme in set(get_registered_artifact_repositories()) - REMOTE:
        registry.register(scheme, _refuse)


def _refuse(artifact_uri: str, *arguments: object, **others: object) -> NoReturn:
    raise MlflowException(
        f"the server would have files written to {artifact_uri}, which is no place of its own: start it with "
        "--artifacts-destination"
    )
