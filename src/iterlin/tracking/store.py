"""MLflow's runs, found by their tags."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.exceptions import MlflowException

from iterlin.tracking import place

EXPERIMENT = "iterlin"
# So that MLflow's page opens on the runs.
TAGS = {"mlflow.experimentKind": "custom_model_development"}


class Store:
    """The runs of one experiment, at the address that `place.uri` gives."""

    def __init__(self):
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
        query = " and ".join(f"tags.`{name}` = '{value}'" for name, value in tags.items())
        return list(self.client.search_runs([self.experiment_id], query))

    def whole(self, tags: Mapping[str, str]) -> str | None:
        """The finished run with these tags. One that was cut off, or is there twice, is deleted."""
        found = self.find(tags)
        finished = [run.info.run_id for run in found if run.info.status == "FINISHED"][:1]
        for run in found:
            if run.info.run_id not in finished:
                self.delete(run.info.run_id)
        return finished[0] if finished else None

    def delete(self, run_id: str) -> None:
        """Delete a run, those nested in it, and their models."""
        for child in self.find({"mlflow.parentRunId": run_id}):
            self.delete(child.info.run_id)
        for model in self.client.search_logged_models([self.experiment_id], f"source_run_id = '{run_id}'"):
            self.client.delete_logged_model(model.model_id)
        self.client.delete_run(run_id)

    def create(self, name: str, tags: Mapping[str, str], start: float | None = None, parent: str | None = None) -> str:
        """A new run, which began at `start` in seconds since 1970, or begins now."""
        nested = {"mlflow.parentRunId": parent} if parent else {}
        milliseconds = round(1000 * (start or time.time()))
        return self.client.create_run(self.experiment_id, milliseconds, {**tags, **nested}, name).info.run_id

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
        milliseconds = round(1000 * end) if end else self.client.get_run(run_id).info.start_time
        self.client.set_terminated(run_id, status, milliseconds)
