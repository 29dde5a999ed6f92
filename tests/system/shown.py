"""What MLflow shows of a clone."""

from collections import Counter

STAGES = ("sweep@smoke-k_sweep-10", "rescaled@smoke-sensitivity-0.5")
# What is shown of them, of each level.
COMPLETE = {"cell": 3, "seed": 6}


def client(address):
    from mlflow import MlflowClient

    return MlflowClient(str(address))


def pages(at):
    """Its experiments, by the names of ours."""
    return {one.name.removeprefix("iterlin/smoke/"): one for one in at.search_experiments() if one.name != "Default"}


def found(at):
    """All runs of cells and of their seeds, and those that still train."""
    every = at.search_runs([page.experiment_id for page in pages(at).values()], max_results=5000)
    return [run for run in every if run.data.tags["level"] != "report"]


def shown(at):
    """The same, by name, of which there is one each."""
    runs = found(at)
    assert len({run.info.run_name for run in runs}) == len(runs)
    return {run.info.run_name: run for run in runs}


def levels(at):
    """How many runs there are of each level, and that all are finished and every cell has one model."""
    runs = shown(at).values()
    assert {run.info.status for run in runs} == {"FINISHED"}
    levels = Counter(run.data.tags["level"] for run in runs)
    assert len(models(at)) == levels["cell"]
    return levels


def models(at):
    return at.search_logged_models([page.experiment_id for page in pages(at).values()])


def sync(clone, *arguments, **settings):
    done = clone.run("iterlin", "sync", *arguments, **settings)
    return int(done.stdout.split(" new cells")[0]), done.stderr
