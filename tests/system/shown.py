"""What MLflow shows of a clone."""

from collections import Counter

from iterlin_lab.report.names import typeset

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


def cells_of_smoke():
    """The names of all cells that the smoke preset trains."""
    around = {f"K = {K}, around: {variant}" for K in ("1", "10") for variant in ("0.5", "pytorch")}
    of_one = ("descent-0.005", "descent-0.02", "gradient-0.005")
    solved = {f"E-ADAM, {cell}" for cell in (*of_one, "solved", "kept", "truncated-0.1", "truncated-0.01")}
    solved |= {f"E-DAMPCE, λ = {damping}" for damping in ("0", "1e-1", "1", "1e-1-then-0", "0-then-1e-1")}
    watched = ("error", "ratio", "kernel", "growing", "random")
    solved |= {f"E-ADAPT, {cell}" for cell in ("1", "10", "100", *watched, "damped")}
    solved |= {f"E-ADAPT, grid-0.1-{when}" for when in ("1", "30", "watching")}
    solved |= {f"E-MNIST, K = {K}" for K in ("1", "10", "inf")}
    solved |= {f"E-AUG, K = {K}" for K in ("1", "20")}
    solved |= {f"E-BATCH, {way}-{K}" for way in ("full", "mini") for K in ("1", "10")}
    solved |= {f"E-DATA, {n}-{K}" for n in (20, 40, 80) for K in ("1", "100", "inf", "control")}
    solved |= {f"E-PART, {count}-{K}" for count in (1, 5) for K in ("1", "inf")}
    of_resnet = ("plain", "normalised", "none-0.3", "batch-0.3")
    solved |= {f"E-RESNET, {which}-{K}" for which in of_resnet for K in ("1", "10")}
    return {"K = 1", "K = 10", "K = ∞", "TGN"} | around | {typeset(name) for name in solved}
