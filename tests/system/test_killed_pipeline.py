"""DVC and its stages, killed, stopped and crossed in a clone: the results are always those of an undisturbed run."""

import os
import random
import shutil
import signal
import time

import psutil
import pytest
from ruamel.yaml import YAML

from tests.clone import SWEEP, Clone
from tests.system.kills import ENOUGH, WORKER, below, command_of, kills, start, trainers, until_it_ends

CELL = "results/smoke/k_sweep/10"
STAGE = "sweep@smoke-k_sweep-10"
REPRO = ("dvc", "--wait-for-lock", "repro", "--single-item", "--force", STAGE)
# DVC may have been killed while it wrote dvc.lock.
MENDED_REPRO = ("sh", "-c", f"iterlin check && exec {' '.join(REPRO)}")
UP_TO_DATE = "Data and pipelines are up to date."
# Python before 3.12.9 keeps the half of a bytecode file that it could write (python/cpython#126606).
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A cell that trains for seconds, on mini-batches, with all that it reads; and what comes out undisturbed."""
    clone = Clone(tmp_path_factory.mktemp("killed"), "smoke", *SWEEP, "kernel_limit", "staircase")
    clone.edit('first_record: 1, periods: ["1", "10", "inf"]', 'first_record: 1, periods: ["1", "10"]')
    clone.edit("gradient_descent}, num_steps: 300,", "gradient_descent}, num_steps: 20000,")
    clone.edit("batch_size: null, fit_loss: 0.1,", "batch_size: 20, fit_loss: 1.0e-9,")
    clone.edit('{variants: ["0.5", pytorch], periods: ["1", "10"]', '{variants: ["2"], periods: ["1"]')
    clone.run("iterlin", "repro")
    clone.commit()
    return clone


@pytest.fixture(scope="module")
def undisturbed(clone):
    return {name: clone.bytes_below(name) for name in ("results", "reports")}


@pytest.fixture
def afresh(clone, undisturbed):
    """The clone as if this cell had never been trained. What reads it is up to date once it is there again."""
    forget(clone)
    return clone


@pytest.fixture
def edited(afresh):
    """And with other code, which nothing has run with."""
    code = afresh.folder / "src/iterlin_lab/experiments/k_sweep/run.py"
    code.write_text(code.read_text() + "#\n")
    return afresh


def forget(clone):
    """Also in DVC's cache, from which it would come back."""
    for folder in (".cache/runs", ".cache/training", ".dvc/cache/runs", CELL):
        shutil.rmtree(clone.folder / folder, ignore_errors=True)
    (out,) = YAML(typ="safe").load(clone.folder / "dvc.lock")["stages"][STAGE]["outs"]
    (clone.folder / ".dvc/cache/files/md5" / out["md5"][:2] / out["md5"][2:]).unlink(missing_ok=True)


def cell(clone):
    return {
        name: content for name, content in clone.bytes_below("results").items() if name.startswith("smoke/k_sweep/10/")
    }


def expected(undisturbed):
    found = {name: content for name, content in undisturbed["results"].items() if name.startswith("smoke/k_sweep/10/")}
    assert len(found) > 3
    return found


def nothing_left(clone):
    return [
        path for folder in ("training", "unfinished") for path in (clone.folder / ".cache" / folder).iterdir()
    ] == []


def gone(processes, within=5.0):
    _, alive = psutil.wait_procs(processes, timeout=within)
    return not alive


def test_dvc_the_trainer_or_both_are_killed(afresh, undisturbed, capsys):
    rng, total = random.Random(0), kills(10)
    left, begun = total, time.monotonic()
    while left > 0:
        forget(afresh)
        done = until_it_ends(lambda: start(afresh, *MENDED_REPRO), 12, left, rng)
        left -= done.total()
        assert cell(afresh) == expected(undisturbed)
        assert nothing_left(afresh)
        with capsys.disabled():
            print(f"\n{dict(done)} killed, {left} to go, {time.monotonic() - begun:.0f} s", end="")


def test_the_whole_pipeline_is_killed(edited, undisturbed):
    rng = random.Random(1)
    for folder in ("results/smoke", "reports/smoke", "tracking"):
        shutil.rmtree(edited.folder / folder)
    (edited.folder / "dvc.lock").unlink()
    done = until_it_ends(lambda: start(edited, "iterlin", "repro"), 25, kills(4), rng)
    assert done.total() > 0
    for name, content in undisturbed.items():
        assert edited.bytes_below(name) == content
    assert edited.run("dvc", "status").stdout.strip() == UP_TO_DATE


@pytest.mark.parametrize("cut", [0.237, 0.71, 0.9])
def test_a_lock_file_that_was_cut_off_is_mended(clone, undisturbed, cut):
    lock, locks = clone.folder / "dvc.lock", clone.folder / ".dvc/tmp/rwlock"
    whole = lock.read_bytes()
    lock.write_bytes(whole[: int(cut * len(whole))])
    locks.write_text('{"write": {')
    done = clone.run("iterlin", "repro")
    for name in ("dvc.lock", ".dvc/tmp/rwlock"):
        assert f"mended: {name} had been cut off, so " in done.stderr
    assert "0 of them trained" in done.stdout or "Running stage 'sweep" not in done.stdout
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE
    assert {name: clone.bytes_below(name) for name in undisturbed} == undisturbed


@pytest.mark.parametrize("command", [("dvc", "repro", "-f", "-s", STAGE), ("iterlin", "repro")])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_everything_with_a_word(afresh, undisturbed, command, number):
    process = start(afresh, *command)
    deadline = time.monotonic() + 60
    while not list((afresh.folder / ".cache").glob("training/*/progress-*/checkpoint")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    everything = below(process)
    assert any(WORKER in command_of(child) for child in everything)
    if number == signal.SIGINT:  # as a terminal sends it
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)
    output, _ = process.communicate(timeout=20)
    assert process.returncode != 0
    assert gone(everything)
    if command[0] == "iterlin":
        assert f"iterlin repro: stopped by {number.name}. Finished runs and checkpoints are kept: run the" in output
    elif number == signal.SIGINT:
        assert f"{STAGE}: stopped by SIGINT. Finished runs and checkpoints are kept" in output
    assert "Traceback" not in output
    afresh.run(*command)
    assert cell(afresh) == expected(undisturbed)
    assert nothing_left(afresh)


def test_a_dvc_whose_iterlin_was_killed_ends_too_and_the_next_one_goes_on(afresh, undisturbed):
    first = start(afresh, "iterlin", "repro")
    while not trainers(first):
        time.sleep(0.02)
    everything = below(first)
    first.kill()
    output, _ = start(afresh, "iterlin", "repro").communicate(timeout=ENOUGH)
    first.communicate()
    assert gone(everything)
    assert "stages ran" in output
    assert "is busy" not in output
    assert cell(afresh) == expected(undisturbed)


@pytest.mark.parametrize("blocks", [0, 2, 20])  # of 1024 bytes: what fits is nothing, the log, checkpoints
def test_a_full_disk_is_one_line_and_costs_nothing(afresh, undisturbed, blocks):
    stage = {"DVC_STAGE": STAGE, "DVC_ROOT": str(afresh.folder)} | NO_BYTECODE
    process = start(afresh, "bash", "-c", f"ulimit -f {blocks}; exec python stages/experiment.py", **stage)
    output, _ = process.communicate(timeout=ENOUGH)
    assert process.returncode == 1, output
    last = output.strip().splitlines()[-1]
    assert last.startswith(f"{STAGE}: File too large: free some space. Finished runs and checkpoints are kept")
    assert "Traceback" not in output
    afresh.run(*REPRO)
    assert cell(afresh) == expected(undisturbed)
    assert nothing_left(afresh)


def test_a_disk_that_is_full_for_everything(afresh, undisturbed):
    process = start(afresh, "bash", "-c", "ulimit -f 2; exec iterlin repro", **NO_BYTECODE)
    output, _ = process.communicate(timeout=ENOUGH)
    assert process.returncode != 0, output
    afresh.run("iterlin", "repro")
    assert {name: afresh.bytes_below(name) for name in undisturbed} == undisturbed
    assert afresh.run("dvc", "status").stdout.strip() == UP_TO_DATE


def test_an_orphan_that_hangs_is_waited_for(afresh, undisturbed):
    first = start(afresh, *REPRO)
    while not (found := [child for child in trainers(first) if "stages/experiment.py" in command_of(child)]):
        time.sleep(0.02)
    time.sleep(2)
    found[0].suspend()
    first.kill()
    first.wait()  # and not for its output, which the orphan holds open
    assert first.stdout is not None
    first.stdout.close()
    second = start(afresh, *REPRO)
    assert second.stdout is not None
    for line in second.stdout:
        if "waiting for process" in line:
            assert line.strip() == f"waiting for process {found[0].pid}, which has this stage"
            break
    else:
        pytest.fail("it did not wait")
    found[0].resume()
    second.communicate(timeout=ENOUGH)
    assert second.returncode == 0
    assert cell(afresh) == expected(undisturbed)


def test_two_at_once_do_not_harm_each_other(afresh, undisturbed):
    pair = [start(afresh, "iterlin", "repro") for _ in range(2)]
    outputs = [process.communicate(timeout=ENOUGH)[0] for process in pair]
    assert [process.returncode for process in pair] == [0, 0], outputs
    assert ["which has this pipeline" in output for output in outputs].count(True) == 1
    assert {name: afresh.bytes_below(name) for name in undisturbed} == undisturbed
    assert afresh.run("dvc", "status").stdout.strip() == UP_TO_DATE
