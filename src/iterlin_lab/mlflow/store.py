"""MLflow's runs, found by their tags.

A run shows what DVC has at a path. Where that was another thing before, the earlier run is kept, nested in the present
one.
"""

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException

from iterlin_lab.mlflow import place
from iterlin_lab.mlflow.artifacts import refuse_this_machine

NOTE = "mlflow.note.content"
PARENT = "mlflow.parentRunId"
# So that MLflow's page opens on the runs.
TAGS = {"mlflow.experimentKind": "custom_model_development"}


class Version(NamedTuple):
    """What DVC has at a path now, by its hash."""

    path: str
    hash: str

    @property
    def tags(self) -> dict[str, str]:
        """What all runs and models of it are found by."""
        return {"path": self.path, "output_hash": self.hash}


class Store:
    """The runs of one experiment of MLflow's, at the address that `place.uri` gives.

    It is made, with these tags, if it is not there.
    """

    def __init__(self, name: str, tags: Mapping[str, str]):
        if place.is_server():
            refuse_this_machine()
        self.client = MlflowClient(place.uri())
        experiment = self.client.get_experiment_by_name(name)
        self.is_new = experiment is None
        self.experiment_id = experiment.experiment_id if experiment else self._create(name, TAGS | dict(tags))

    def _create(self, name: str, tags: dict[str, str]) -> str:
        own = place.uri() == f"sqlite:///{place.DATABASE}"
        artifacts = (place.ROOT / "mlartifacts" / name).as_uri() if own else None
        try:
            return self.client.create_experiment(name, artifacts, tags)
        except MlflowException:  # another machine was faster
            experiment = self.client.get_experiment_by_name(name)
            if experiment is None:
                raise
            return experiment.experiment_id

    def find(self, tags: Mapping[str, str]) -> list[Run]:
        """The runs with these tags."""
        return list(self.client.search_runs([self.experiment_id], _query(tags)))

    def clear(self, tags: Mapping[str, str]) -> None:
        """Delete the runs and the models with these tags."""
        for run in self.find(tags):
            self.client.delete_run(run.info.run_id)
        for model in self.client.search_logged_models([self.experiment_id], _query(tags)):
            self.client.delete_logged_model(model.model_id)

    def has(self, version: Version) -> bool:
        """Whether this version is there, whole. It is the present one then."""
        whole = [run for run in self._versions(version.tags) if run.info.status == "FINISHED"]
        if len(whole) == 1:
            self.put_on_top(version, whole[0].info.run_id)
        else:
            self.clear(version.tags)  # what a connection that broke has left
        return len(whole) == 1

    def put_on_top(self, version: Version, run_id: str) -> None:
        """From now on the path is shown by this run; what it had before is nested in the run."""
        for run in self._versions({"path": version.path}):
            if run.info.run_id != run_id:
                self.log(run.info.run_id, tags={PARENT: run_id, "present": "no"})
            elif run.data.tags["present"] == "no":
                self.client.set_tag(run_id, "present", "yes")
                self.client.delete_tag(run_id, PARENT)

    def _versions(self, tags: Mapping[str, str]) -> list[Run]:
        """The runs with these tags that stand for all that a path has, and are no parts of others."""
        return list(self.client.search_runs([self.experiment_id], f"{_query(tags)} AND tags.present != ''"))

    def create(self, name: str, tags: Mapping[str, str], start: float | None = None, parent: str | None = None) -> str:
        """A new run, which began at `start` in seconds since 1970, or begins now."""
        nested = {PARENT: parent} if parent else {}
        milliseconds = round(1000 * (start or time.time()))
        tags = {key: str(value) for key, value in {**tags, **nested}.items()}
        return self.client.create_run(self.experiment_id, milliseconds, tags, name).info.run_id

    def log(
        self,
        run_id: str,
        metrics: Iterable[Metric] = (),
        params: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> None:
        """Write to a run, in as few requests as MLflow takes."""
        self.client.log_batch(
            run_id,
            list(metrics),
            [Param(name, str(value)) for name, value in (params or {}).items()],
            [RunTag(name, str(value)) for name, value in (tags or {}).items()],
        )

    def finish(self, run_id: str, end: float | None = None, status: str = "FINISHED") -> None:
        """The run is complete; it ended at `end` in seconds since 1970, or took no time that is known."""
        start = self.client.get_run(run_id).info.start_time
        self.client.set_terminated(run_id, status, max(start, round(1000 * (end or 0))))


def _query(tags: Mapping[str, str]) -> str:
    return " AND ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
