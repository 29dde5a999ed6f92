"""Training runs alone, killed at random moments, most of which fall into the writing of a checkpoint."""

import multiprocessing
import os
import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from iterlin_lab.data.sets import digits
from iterlin_lab.runs.recipes import Recipe
from iterlin_lab.runs.store import DIGESTS
from iterlin_lab.runs.workers import LIBRARIES
from tests.clone import ROOT, environment
from tests.system.kills import ENOUGH, kills

DESCENT, ADAM = {"name": "gradient_descent"}, {"name": "adam"}
FLOW = {"name": "flow", "tolerance": 0.1}
# Solver, η, K or None to re-linearise on convergence, batch size, runs in one program.
CASES = {
    "descent, K = 1, batches": (DESCENT, 0.05, 1, 8, 1),
    "descent, K = 7": (DESCENT, 0.05, 7, None, 1),
    "descent, K = 7, batches, two at once": (DESCENT, 0.05, 7, 8, 2),
    "descent, K = inf, two at once": (DESCENT, 0.05, float("inf"), None, 2),
    "adam, K = 50, batches": (ADAM, 0.001, 50, 8, 1),
    "adam, on convergence": (ADAM, 0.002, None, None, 1),
    "flow, K = 1": (FLOW, 0.001, 1, None, 1),
    "flow, K = 1000": (FLOW, 0.001, 1000, None, 1),
}


def recipes(case):
    solver, learning_rate, period, batch_size, at_once = CASES[case]
    num_steps = 100_000 if solver is FLOW else 2000
    return [
        Recipe(
            seed=0,
            run=run,
            threads=1,
            runs_at_once=at_once,
            precision="float32",
            sizes={"train": 30, "validation": 20, "test": 20},
            net={"name": "mlp", "width": 8, "depth": 2, "initialisation": "he_normal"},
            training={
                "batch_size": batch_size,
                "fit_loss": 1e-12,
                "divergence_factor": 1e4,
                "records_per_decade": 10,
                "num_steps": num_steps,
                "first_record": 1,
            },
            solver=solver,
            learning_rate=learning_rate,
            period=period,
            tolerance=None if period else 0.5,
            damping=0.0,
        )
        for run in range(at_once)
    ]


def trained(folder, case):
    """In a process of its own: a checkpoint after every few evaluations."""
    os.chdir(folder)
    from iterlin._progress import Keeper
    from iterlin_lab.runs.training import run_kept

    sync = os.fsync

    def slowly(file):
        time.sleep(0.02)
        sync(file)

    Keeper.SMALLEST, Keeper.SHARE = 50, float("inf")
    os.fsync = slowly  # a checkpoint that is written and not yet in place is often met
    run_kept((recipes(case), Path("data.npz")))


def results(folder):
    found = sorted((folder / ".cache/runs").iterdir())
    assert list((folder / ".cache/training").iterdir()) == []
    return {
        f"{path.name}/{file.name}": file.read_bytes()
        for path in found
        for file in path.iterdir()
        if file.name not in ("log.jsonl", DIGESTS)  # which have times in them
    }


@pytest.fixture(scope="module")
def context():
    """Processes with a user's environment."""
    kept = environment(ITERLIN_CHECKPOINT_SECONDS="0", JAX_COMPILATION_CACHE_DIR=str(ROOT / ".cache/jax"))
    os.environ.clear()
    os.environ.update(kept)
    sys.path.insert(0, str(ROOT))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    return context


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "data.npz"
    np.savez(path, **digits.load()._asdict(), allow_pickle=False)
    return path


@pytest.mark.parametrize("case", CASES)
def test_killed_again_and_again_a_run_ends_with_the_same_bytes(case, context, data, tmp_path, capsys):
    rng, left, windows = random.Random(case), kills(4), Counter()

    def run(folder, seconds: float = ENOUGH):
        process = context.Process(target=trained, args=(folder, case))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            return False
        assert process.exitcode == 0
        return True

    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        shutil.copy(data, folder / "data.npz")
    assert run(whole)  # compiles
    begun = time.monotonic()
    shutil.rmtree(whole / ".cache")
    assert run(whole)
    longest = time.monotonic() - begun
    assert len(results(whole)) == 3 * len(recipes(case))
    while left > 0:
        shutil.rmtree(killed / ".cache", ignore_errors=True)
        while not run(killed, rng.uniform(0, longest) if left > 0 else ENOUGH):
            left -= 1
            work = list((killed / ".cache").glob("training/*"))
            windows[
                "checkpoint half-written" if list((killed / ".cache").glob("training/*/*/new")) else "elsewhere"
            ] += 1
            assert len(work) <= 1
        assert results(killed) == results(whole)
    with capsys.disabled():
        print(f"\n{case}: {longest:.1f} s undisturbed; kills: {dict(windows)}", end="")
