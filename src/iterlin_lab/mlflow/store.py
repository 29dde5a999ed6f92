"""MLflow's runs, found by their tags."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException

from iterlin_lab.mlflow import place
from iterlin_lab.mlflow.artifacts import refuse_this_machine

EXPERIMENT = "iterlin"
PARENT = "mlflow.parentRunId"
# So that MLflow's page opens on the runs.
TAGS = {"mlflow.experimentKind": "custom_model_development"}


class Store:
    """The runs of one experiment, at the address that `place.uri` gives."""

    def __init__(self):
        if place.is_server():
            refuse_this_machine()
        self.client = MlflowClient(place.uri())
        experiment = self.client.get_experiment_by_name(EXPERIMENT)
        self.experiment_id = experiment.experiment_id if experiment else self._create_experiment()

    def _create_experiment(self) -> str:
        own = place.uri() == f"sqlite:///{place.DATABASE}"
        artifacts = (place.ROOT / "mlartifacts").as_uri() if own else None
        try:
            return self.client.create_experiment(EXPERIMENT, artifacts, TAGS)
        except MlflowException:  # another machine was faster
            experiment = self.client.get_experiment_by_name(EXPERIMENT)
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

    def nest(self, run: Run, parent: str) -> None:
        """Put a run, with all that is nested in it, into another one."""
        if run.data.tags.get(PARENT) != parent:
            self.client.set_tag(run.info.run_id, PARENT, parent)

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
