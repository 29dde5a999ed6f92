"""Jobs of a real SLURM, whose two nodes are on this machine, against the pipeline on one machine: the same bytes."""

import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest

from iterlin_lab.cluster.arrays import ARRAYS, read
from tests.clone import Clone
from tests.cluster.site import SLURM, Site, until
from tests.server import free_port

EXPERIMENTS = ("k_sweep", "tgn_baseline", "mnist", "quadratic", "kernel_limit")
SWEEP = '{solver: {name: gradient_descent}, num_steps: 300, first_record: 1, periods: ["1", "10", "inf"], num_seeds: 2}'
WIDE = ("tgn_baseline", "mnist", "quadratic")
CHECKPOINTS = ".cache/training/*/progress-*/checkpoint"
ADDRESS = "env JAX_COORDINATOR_ADDRESS=127.0.0.1:{}"  # these nodes have no names in the network
SOME = 4  # seconds, for steps and their checkpoints
LONG = (
    '{solver: {name: gradient_descent}, num_steps: 50000, first_record: 1, periods: ["1", "10", "inf"], num_seeds: 2}'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    if shutil.which("slurmctld") is None:
        pytest.skip("no slurmctld here")
    folder = tmp_path_factory.mktemp("slurm")
    subprocess.run([SLURM, "start", folder], check=True)
    yield Site(folder)
    subprocess.run([SLURM, "stop", folder], check=True)


@pytest.fixture(scope="module")
def ready(tmp_path_factory) -> Clone:
    """A clone with its data, its η and what a step costs, of which every test takes a copy."""
    clone = Clone(tmp_path_factory.mktemp("ready") / "clone", "smoke", *EXPERIMENTS)
    clone.repro("regime", "prepare_own")
    clone.run("iterlin", "plan")
    return clone


def long(ready: Clone, folder: Path) -> Clone:
    """A clone whose cells of E-SWEEP take half a minute each: they never fit."""
    clone = ready.copy(folder, "k_sweep", "tgn_baseline")
    clone.edit(SWEEP, LONG)
    clone.edit("fit_loss: 0.1,", "fit_loss: 1.0e-9,")
    return clone


def wide(ready: Clone, folder: Path) -> Clone:
    """A clone whose runs are on two devices each; those of truncated Gauss–Newton never fit."""
    clone = ready.copy(folder, *WIDE)
    clone.edit("tolerance: 0.1}, num_steps: 300, records", "tolerance: 0.1}, num_steps: 800, records")
    clone.edit("fit_loss: 0.1,", "fit_loss: 1.0e-9,")
    clone.edit("devices: 1          #", "devices: 2          #")
    return clone


@pytest.fixture(scope="module")
def alone(ready, tmp_path_factory) -> Iterator[dict[str, Future]]:
    """The same on one machine without SLURM, which leaves processors idle for most of a test: trained meanwhile."""
    folder = tmp_path_factory.mktemp("alone")

    def trained(clone: Clone, *names: str) -> Clone:
        clone.run("iterlin", "repro", *names)
        return clone

    with ThreadPoolExecutor(1) as pool:
        yield {
            "all": pool.submit(trained, ready.copy(folder / "all", *EXPERIMENTS), *EXPERIMENTS),
            "wide": pool.submit(trained, wide(ready, folder / "wide"), *WIDE),  # two devices on one
            "long": pool.submit(trained, long(ready, folder / "long"), "k_sweep"),
        }


def assert_equal_curves(*clones: Clone) -> None:
    """Truncated Gauss–Newton on two devices, whose sums are rounded in another order."""
    found, expected = (pd.read_csv(one.folder / "results/smoke/tgn_baseline/tgn/curves.csv") for one in clones)
    assert len(found) > 20
    pd.testing.assert_frame_equal(found, expected, rtol=1e-6)


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """What stands before `python` on a node that has neither DVC, nor MLflow, nor git."""
    folder = tmp_path_factory.mktemp("bare")
    for name in ("dvc", "mlflow"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise ImportError('a node has no {name}')")
    (folder / "git").write_text("#!/bin/sh\necho 'a node has no git' >&2\nexit 1\n")
    (folder / "git").chmod(0o755)
    return f"env PYTHONPATH={folder}:$PYTHONPATH PATH={folder}:$PATH"


def test_jobs_train_and_the_head_gathers_the_very_bytes(site, ready, alone, without, tmp_path):
    clone = ready.copy(tmp_path / "clone", *EXPERIMENTS)
    (clone.folder / "cluster.yaml").write_text(f"container: {without}\nmemory: 1500M\n")
    first = clone.run("iterlin", "submit", **site.env).stdout
    jobs = re.findall(r"^job \d+: \d tasks", first, re.MULTILINE)
    assert len(jobs) == 5  # of at most four tasks, which ask for the same
    assert "Nothing to submit" in clone.run("iterlin", "submit", **site.env).stdout
    assert re.search(r"(running: .* on n[12] for|waiting)", clone.run("iterlin", "cells", **site.env).stdout)
    site.wait_for("")
    said = clone.run("iterlin", "cells", **site.env).stdout
    assert re.search(r"all\s+12\s+0 min", said), said  # kept, all of them
    assert "Nothing to submit" in clone.run("iterlin", "submit", **site.env).stdout
    kept = {path.name for path in (clone.folder / ".cache/runs").iterdir()}
    clone.run("iterlin", "repro", *EXPERIMENTS)
    assert {path.name for path in (clone.folder / ".cache/runs").iterdir()} == kept
    expected = alone["all"].result().bytes_below("results/smoke")
    assert len(expected) > 20
    assert clone.bytes_below("results/smoke") == expected
    assert re.search(r"all\s+12\s+0 min", clone.run("iterlin", "cells", **site.env).stdout)  # done
    assert "cluster" not in clone.run("git", "status", "--short", "results", "reports").stdout


def test_runs_on_two_nodes_are_kept_once_and_go_on(site, ready, alone, tmp_path):
    clone = wide(ready, tmp_path / "clone")
    address = ADDRESS.format(free_port())
    (clone.folder / "cluster.yaml").write_text(f"processes: 2\ncontainer: {address}\nmemory: 1500M\n")
    clone.run("iterlin", "submit", "tgn_baseline", **site.env, ITERLIN_CHECKPOINT_SECONDS="1")
    until(lambda: [*clone.folder.glob(CHECKPOINTS)])
    (job,) = (line.split()[0] for line in site.wait_for("R"))
    site.warn(job)
    site.wait_for("")
    kept = {path.name for path in (clone.folder / ".cache/runs").iterdir()}
    assert len(kept) == 2
    clone.run("iterlin", "repro", "tgn_baseline")
    assert {path.name for path in (clone.folder / ".cache/runs").iterdir()} == kept
    (log,) = clone.folder.glob(".cache/cluster/*/0.log")
    for node in ("n1", "n2"):
        assert log.read_text().count(f"TGN on {node}\n") == 2  # begun again
    assert_equal_curves(clone, alone["wide"].result())


def test_a_task_that_fails_is_named_and_the_others_go_on(site, ready, tmp_path):
    clone = ready.copy(tmp_path / "clone", "k_sweep", "tgn_baseline", "kernel_limit")
    settings = "memory: 1500M\n"
    (clone.folder / "cluster.yaml").write_text(
        f"{settings}experiments: {{kernel_limit: {{container: env JAX_PLATFORMS=nothing}}, "
        "tgn_baseline: {container: prlimit --fsize=5000}}\n"
    )
    clone.run("iterlin", "submit", **site.env)
    site.wait_for("")
    said = clone.run("iterlin", "cells", **site.env).stdout
    assert re.search(r"kernel_limit\s+1 ", said)
    assert re.search(r"failed: L-KERNEL, tables, .*'nothing'.* \(\.cache/cluster/\d+/\d\.log\)", said), said
    assert re.search(r"failed: TGN, .*File too large \(", said), said  # as on a disk that is full
    assert re.search(r"k_sweep\s+3 ", said), said
    (clone.folder / "cluster.yaml").write_text(settings)
    again = clone.run("iterlin", "submit", **site.env).stdout
    assert re.findall(r"1 tasks \((.*?)\), ", again) == ["TGN", "L-KERNEL, tables"]
    site.wait_for("")
    assert "failed" not in clone.run("iterlin", "cells", **site.env).stdout


def test_a_head_that_is_killed_is_asked_again_and_nothing_is_with_slurm_twice(site, ready, tmp_path):
    clone = long(ready, tmp_path / "clone")
    (clone.folder / "cluster.yaml").write_text("memory: 1500M\n")
    for seconds in ("3", "4", "5"):
        clone.run("timeout", "--signal=KILL", seconds, "iterlin", "submit", "k_sweep", check=False, **site.env)
    clone.run("iterlin", "submit", "k_sweep", **site.env)
    jobs = site("squeue", "-h", "-r", "-o", "%k %K").splitlines()
    tasks = [read(Path(folder))[1][int(number)] for folder, number in map(str.split, jobs)]
    assert len(tasks) == len(set(tasks)) == 4  # with truncated Gauss–Newton, which E-SWEEP reads
    site.begun(site.wait_for("R")[0].split()[0])
    site("scancel", "--name=iterlin-smoke")
    site.wait_for("")
    said = clone.run("iterlin", "cells", **site.env).stdout
    assert "stopped: K = " in said
    assert "Nothing to submit" not in clone.run("iterlin", "submit", "--dry-run", **site.env).stdout
    assert list((clone.folder / ARRAYS).iterdir())


def test_what_ends_before_its_time_goes_on(site, ready, alone, tmp_path):
    clone = long(ready, tmp_path / "clone")
    (clone.folder / "cluster.yaml").write_text("memory: 1500M\npartition: plain\n")
    clone.run("iterlin", "submit", "k_sweep", **site.env, ITERLIN_CHECKPOINT_SECONDS="1")
    job, node = site.wait_for("R")[0].split()
    assert site.begun(job) == [node]
    time.sleep(SOME)
    site.warn(job)
    (node,) = site.begun(job, 1)
    time.sleep(SOME)
    subprocess.run([SLURM, "die", site.folder, node], check=True)
    (other,) = site.begun(job, 2)
    assert other != node
    subprocess.run(
        [SLURM, "node", site.folder, node], check=True
    )  # where SLURM would kill the job if it were back there
    time.sleep(SOME)
    site(
        "sbatch", "--partition=urgent", f"--nodelist={other}", "--output=/dev/null", "--wrap=sleep 1"
    )  # takes its place
    assert site.begun(job, 3)
    site.wait_for("")
    assert clone.bytes_below("results/smoke/k_sweep") == {}
    clone.run("iterlin", "repro", "k_sweep")
    expected = alone["long"].result().bytes_below("results/smoke/k_sweep")
    assert len(expected) > 9
    assert clone.bytes_below("results/smoke/k_sweep") == expected


def test_nodes_that_share_nothing_but_a_remote_of_dvc_train_the_very_bytes(site, ready, alone, tmp_path):
    clone = wide(ready, tmp_path / "head")
    remote, origin, nodes = tmp_path / "remote", tmp_path / "origin.git", tmp_path / "nodes"
    nodes.mkdir()
    clone.run("dvc", "remote", "add", "storage", str(remote))
    together = f"{{processes: 2, container: {ADDRESS.format(free_port())}}}"
    (clone.folder / "cluster.yaml").write_text(
        f"remote: storage\nsource: {origin}\nmemory: 1500M\nexperiments: {{tgn_baseline: {together}}}\n"
    )
    assert "is not committed, and nodes clone" in clone.run("iterlin", "submit", check=False, **site.env).stderr
    clone.commit()
    clone.run("git", "init", "-q", "--bare", str(origin))
    assert "`git push` first" in clone.run("iterlin", "submit", check=False, **site.env).stderr
    clone.run("git", "push", "-q", str(origin), "HEAD:main")
    clone.run("iterlin", "submit", **site.env, ITERLIN_CHECKPOINT_SECONDS="1", TMPDIR=str(nodes))
    clone.folder.rename(away := tmp_path / "away")  # no job can see it
    (job,) = until(lambda: [line.split()[0] for line in site.wait_for("R") if line.endswith("n[1-2]")])
    until(lambda: [*nodes.glob(f"*/{CHECKPOINTS}")])
    site.warn(job)
    until(lambda: [*remote.glob("iterlin/training/*/*/progress-*/checkpoint")])
    site.wait_for("")
    assert not [*nodes.glob("*/src")]  # each process has removed its clone
    assert not list(remote.glob("iterlin/training/*/*"))  # it has gone on from there, to its end
    away.rename(clone.folder)
    said = clone.run("iterlin", "cells", **site.env).stdout
    assert re.search(r"all\s+8\s+0 min", said), said  # kept
    kept = {path.name for path in (clone.folder / ".cache/runs").iterdir()}
    clone.run("iterlin", "repro", *WIDE)
    assert {path.name for path in (clone.folder / ".cache/runs").iterdir()} == kept
    assert_equal_curves(clone, alone["wide"].result())
    found, expected = (
        {name: content for name, content in one.bytes_below("results/smoke").items() if "tgn_baseline" not in name}
        for one in (clone, alone["wide"].result())
    )
    assert len(expected) > 5
    assert found == expected
