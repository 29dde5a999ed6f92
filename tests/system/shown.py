"""What MLflow shows of a clone."""

from collections import Counter


def client(address):
    from mlflow import MlflowClient

    return MlflowClient(str(address))


def shown(at):
    """All runs, by name."""
    found = at.search_runs([at.get_experiment_by_name("iterlin").experiment_id])
    assert len({run.info.run_name for run in found}) == len(found)
    return {run.info.run_name: run for run in found}


def levels(at):
    """How many runs there are of each level, and that all are finished and every cell has one model."""
    runs = shown(at).values()
    assert {run.info.status for run in runs} == {"FINISHED"}
    levels = Counter(run.data.tags["level"] for run in runs)
    assert len(at.search_logged_models([next(iter(runs)).info.experiment_id])) == levels["cell"]
    return levels


def sync(clone, *arguments, **settings):
    done = clone.run("iterlin", "sync", *arguments, **settings)
    return int(done.stdout.split(" new cells")[0]), done.stderr
