"""The commands of `iterlin`, a function each."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version

from iterlin_lab.cluster.settings import Cluster, read_cluster
from iterlin_lab.config import Scale, load, read_scale
from iterlin_lab.dvc.asked import stop
from iterlin_lab.dvc.by_scale import put_away, take_up
from iterlin_lab.dvc.cut_off import repair_files
from iterlin_lab.dvc.damaged import remove_damaged
from iterlin_lab.dvc.jobs import PIPELINE_LOCK, reproduce
from iterlin_lab.dvc.status import ran_before
from iterlin_lab.dvc.verdicts import in_words as verdicts
from iterlin_lab.experiments import chosen
from iterlin_lab.files import alone, write_text
from iterlin_lab.layout import Layout
from iterlin_lab.planning.costs import forget_costs
from iterlin_lab.planning.devices import DEVICES
from iterlin_lab.planning.plan import cells_of, hours, make_plan, not_estimated, pending
from iterlin_lab.planning.plan import table as local_table
from iterlin_lab.runs.stage import PIPELINE
from iterlin_lab.runs.stopping import stop_with_a_word
from iterlin_lab.runs.workers import prepare_jax


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="iterlin", description="Iterative linearisation: the pipeline around DVC.")
    parser.add_argument("--version", action="version", version=f"iterlin {version('iterlin')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for run in (check, doctor, plan, repro, submit, cells, check_report, history, scales, sync):
        command = commands.add_parser(run.__name__.replace("_", "-"), help=run.__doc__, description=run.__doc__)
        command.set_defaults(run=run)
        if run is plan:
            command.add_argument("--device", help="say it for this device, such as h100, by arithmetic alone")
        if run in (repro, submit):
            command.add_argument("names", nargs="*", metavar="NAME", help="these experiments alone, and what they need")
        if run is submit:
            command.add_argument(
                "--dry-run", action="store_true", help="print the scripts and the hours, and submit nothing"
            )
        if run is cells:
            command.add_argument(
                "--watch", action="store_true", help="say it again every 10 seconds, until no job is left"
            )
    command.add_argument("--again", action="store_true", help="ask MLflow for everything, as if nothing had been shown")
    arguments = vars(parser.parse_args())
    scale = read_scale()
    repair_files()
    take_up(scale.name)
    remove_damaged()
    arguments.pop("run")(scale, **arguments)


def check(scale: Scale) -> None:
    """validate params.yaml, without computing anything"""
    print(f"params.yaml is valid; the scale is {scale.name}")


def doctor(scale: Scale) -> None:
    """say what this machine has of what the pipeline needs, what is wrong, and the remedy"""
    from iterlin_lab.planning.doctor import examine

    wrong = 0
    for finding in examine(scale):
        print(finding, flush=True)
        wrong += bool(finding.remedy)
    sys.exit(1 if wrong else 0)


def plan(scale: Scale, device: str | None = None) -> None:
    """say how long the training may take here, and how much memory and disk; what a step costs is measured afresh"""
    if device is not None:
        _plan_on(scale, device)
        return
    forget_costs()
    print(local_table(make_plan(scale), not_estimated(scale)))


def _plan_on(scale: Scale, name: str) -> None:
    """Says how long the experiments may take on a device that is not there."""
    if name not in DEVICES:
        sys.exit(f"there is no device {name!r}, but {', '.join(DEVICES)}")
    prepare_jax(scale)
    from iterlin_lab.planning.device_plan import slices, table  # jax starts here
    from iterlin_lab.planning.lowered import calls, in_words

    print(table(slices(scale, DEVICES[name]), DEVICES[name]))
    print(in_words(calls(scale)))


def repro(scale: Scale, names: Sequence[str] = ()) -> None:
    """run what `dvc repro` would, unless it may take longer than an hour, and say what ran and where the report is"""
    stop_with_a_word("iterlin repro", first=stop)
    os.environ[PIPELINE] = str(os.getpid())
    targets = _stages(scale, names)
    if os.environ.get("YES") != "1":
        _ask(scale, targets)
    cluster = read_cluster()
    with alone(PIPELINE_LOCK, "this pipeline"):
        if cluster.remote is not None:
            _bring(scale, cluster)
        ran = reproduce(scale, targets)
    trained = set(cells_of(scale)) & set(ran)
    print(f"\n{len(ran)} stages ran, {len(trained)} of them trained a cell.")
    if names:
        return
    layout = Layout(scale.name)
    report = layout.report
    print(
        f"{verdicts(layout.claims)}\n"
        f"The report:     {report}/index.html (or {report}/REPORT.md)\n"
        f"All runs:       make ui, then open the address that it prints\n"
        f"Change things:  edit params.yaml, then make repro again"
    )


def _bring(scale: Scale, cluster: Cluster) -> None:
    from iterlin_lab.cluster.submit import bring  # pandas is slow to import

    prepare_jax(scale)
    bring(scale, cluster)


def _stages(scale: Scale, names: Sequence[str]) -> list[str]:
    """The stages of these experiments, and of the experiments that they read."""
    wanted = _needed(scale, names)
    return [stage for experiment in chosen(scale) if experiment.name in wanted for stage in experiment.stages(scale)]


def _needed(scale: Scale, names: Sequence[str]) -> list[str]:
    """These experiments, and those that they read.

    **Raises**: `SystemExit` with one line for a name that params.yaml does not have.
    """
    known = {experiment.name: experiment for experiment in chosen(scale)}
    for name in names:
        if name not in known:
            sys.exit(f"there is no experiment {name!r}, but {', '.join(known)}")
    return list(dict.fromkeys(each for name in names for each in (*known[name].reads, name)))


def _ask(scale: Scale, targets: Sequence[str]) -> None:
    """Exits with the plan if the run may take longer than an hour.

    What was run before is known to end: so the preset that comes with its results starts on any machine, however slow
    or busy it is while it is measured.
    """
    if ran_before(scale.name):
        return
    rows = make_plan(scale, targets)
    if hours(rows).likely > 1 and hours(rows := pending(rows)).likely > 1:
        sys.exit(
            f"{local_table(rows, not_estimated(scale))}\nThis may take more than an hour, so nothing was started. "
            "To start it: make repro YES=1"
        )


def submit(scale: Scale, names: Sequence[str] = (), dry_run: bool = False) -> None:
    """train what is out of date as jobs of SLURM; cluster.yaml says what they ask for"""
    from iterlin_lab.cluster import submit as cluster  # pandas is slow to import

    site, wanted = read_cluster(), _needed(scale, names)
    prepare_jax(scale)
    with alone(PIPELINE_LOCK, "this pipeline"):
        lines = list((cluster.rehearsed if dry_run else cluster.submit)(scale, site, wanted))
    print("\n".join(lines) or "Nothing to submit")
    if not dry_run:
        print("Where they are:  iterlin cells\nOnce they ended: make repro, which gathers them and does what is left")


def cells(scale: Scale, watch: bool = False) -> None:
    """say of all that is trained what is done, kept, running, waiting or failed, and the hours that are left"""
    from iterlin_lab.cluster.shown import show  # pandas is slow to import

    prepare_jax(scale)
    show(scale, read_cluster(), watch)


def check_report(scale: Scale) -> None:
    """recompute what is stale or missing, and compare tables, p-values and verdicts with the committed ones"""
    import iterlin_lab.dvc.compare as compare  # pandas is slow to import

    stale = compare.stale_stages()
    repro(scale)
    print(f"\nStale stages, whose committed results are not those of this code: {', '.join(stale) or 'none'}")
    if lines := compare.changes(scale):
        sys.exit("\n".join(lines))
    print(
        f"The verdicts and tables are the committed ones, within {compare.ACCURACY:g} in accuracy, "
        f"{compare.RUNS} in numbers of runs, {compare.STEPS:.0%} in numbers of steps, and p-values within "
        f"{compare.P_VALUES:.0%} of their distance from the level"
    )


def history(scale: Scale) -> None:
    """write the verdicts of all reports of this preset that were committed, and say how often they changed"""
    import iterlin_lab.claims.history as past  # pandas is slow to import

    path, found = Layout(scale.name).history, past.history(scale)
    if found.empty:
        sys.exit(f"no verdicts of {scale.name} are in git's history")
    write_text(path, found.to_csv(index=False))
    print(f"{path}: {past.in_words(found)}")


def scales(scale: Scale) -> None:
    """write reports/README.md and reports/index.html on all scales that have a report, and divide dvc.lock by these"""
    from iterlin_lab.report.page import html  # pandas is slow to import
    from iterlin_lab.report.scales import beside

    reports = Layout(scale.name).report.parent
    try:
        text = beside(load().presets, reports)
    except ValueError as error:
        sys.exit(str(error))
    put_away(scale.name)
    write_text(reports / "README.md", text)
    write_text(reports / "index.html", html(text.replace("REPORT.md", "index.html"), reports))
    print(f"{reports}/README.md and {reports}/index.html")


def sync(scale: Scale, again: bool) -> None:
    """show in MLflow what DVC has and MLflow has not"""
    from iterlin_lab.mlflow import sync as tracking
    from iterlin_lab.mlflow.place import uri

    print(f"{tracking.sync(scale, again)} new cells in MLflow at {uri()}")
