"""Stages side by side, in a clone at the smoke preset, against one after another in another clone."""

import re
import shutil

import pytest

from tests.clone import SWEEP, Clone, on_terminal

UP_TO_DATE = "Data and pipelines are up to date."


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    clone = Clone(tmp_path_factory.mktemp("jobs"), "smoke", *SWEEP, "mnist", "kernel_limit", "staircase")
    clone.edit('"10", "inf"], num_seeds: 2}', '"10"], num_seeds: 2}')
    return clone


def test_the_bytes_do_not_depend_on_how_many_cells_run_at_once(clone, tmp_path):
    done = clone.run("iterlin", "repro", JOBS="3")
    assert "18 stages, 3 at once" in done.stdout
    assert "19 stages ran, 6 of them trained a cell" in done.stdout
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE
    other = Clone(tmp_path, "smoke")
    other.repro("sweep@smoke-k_sweep-10", "train@smoke-tgn_baseline")
    for cell in ("results/smoke/k_sweep/10", "results/smoke/tgn_baseline"):
        assert len(other.bytes_below(cell)) > 2
        assert other.bytes_below(cell) == clone.bytes_below(cell)


def test_then_there_is_nothing_to_do(clone):
    done = clone.run("iterlin", "repro", JOBS="3")
    assert "0 stages ran" in done.stdout
    assert "at once" not in done.stdout


def drawn(clone):
    return {path.parent.name: path.stat().st_mtime_ns for path in clone.folder.glob(".cache/figures/*/drawn_from.json")}


def test_one_more_k_trains_it_and_draws_the_figures_that_have_it(clone):
    before = drawn(clone)
    clone.edit('"10"], num_seeds: 2}', '"10", "20"], num_seeds: 2}')
    done = clone.run("iterlin", "repro", JOBS="2")
    ran = re.findall("Running stage '(.*?)'", done.stdout)
    readers = {f"{name}@smoke" for name in ("tables", "claims", "plots", "report", "track", "track_report")}
    assert set(ran) == {"check@smoke", "sweep@smoke-k_sweep-20"} | readers
    assert "7 stages, 2 at once" in done.stdout
    same = {name for name, time in drawn(clone).items() if before.get(name) == time}
    assert same == {"staircase", "kernel_limit", "mnist", "sensitivity", "method"}


def test_an_edit_that_changes_no_result_runs_the_check_alone(clone):
    clone.edit("# Seconds: what the tests run.", "# What the tests run.")
    done = clone.run("iterlin", "repro", JOBS="2")
    assert "1 stages ran, 0 of them trained a cell" in done.stdout


def test_a_table_that_stays_as_it_is_draws_nothing(clone):
    before = drawn(clone)
    code = clone.folder / "src/iterlin_lab/tables/cells.py"
    code.write_text(code.read_text() + "#\n")
    done = clone.run("iterlin", "repro", JOBS="2")
    assert "Running stage 'tables@smoke'" in done.stdout
    assert "Running stage 'plots@smoke'" not in done.stdout
    assert drawn(clone) == before


def test_a_k_that_is_removed_leaves_nothing_behind_and_comes_back_untrained(clone):
    clone.edit('"10", "20"], num_seeds: 2}', '"10"], num_seeds: 2}')
    done = clone.run("iterlin", "repro")
    removed = "results/smoke/k_sweep/20"
    assert f"warning: {removed} is removed, which params.yaml does not list; DVC's cache keeps it" in done.stderr
    assert not (clone.folder / removed).exists()
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE
    shutil.rmtree(clone.folder / "results/smoke")
    clone.run("dvc", "checkout")
    assert not (clone.folder / removed).exists()
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE
    clone.edit('"10"], num_seeds: 2}', '"10", "20"], num_seeds: 2}')
    done = clone.run("iterlin", "repro")
    assert "0 of them trained" in done.stdout
    assert (clone.folder / removed).exists()


def test_some_experiments_run_with_what_they_need_and_a_wrong_name_is_one_line(tmp_path):
    clone = Clone(tmp_path, "smoke")
    done = clone.run("iterlin", "repro", "kernel_limit", "staircase", JOBS="2")
    assert "3 stages ran, 0 of them trained a cell" in done.stdout
    assert {path.name for path in (clone.folder / "results/smoke").iterdir()} == {
        "check.txt",
        "kernel_limit",
        "staircase",
    }
    done = clone.run("iterlin", "repro", "admm", check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("there is no experiment 'admm', but k_sweep, ")


def test_what_params_yaml_leaves_out_is_nowhere(tmp_path):
    clone = Clone(tmp_path, "smoke", "kernel_limit", "staircase")
    clone.run("iterlin", "repro")
    report = clone.folder / "reports/smoke"
    assert {path.stem.split("_")[0] for path in (report / "tables").iterdir()} == {"kernel", "staircase"}
    drawn = {path.stem.removesuffix("_column") for path in (report / "figures").iterdir()}
    assert drawn == {"kernel_limit", "method", "staircase"}
    assert "E-SWEEP" not in (report / "REPORT.md").read_text()
    assert (report / "index.html").read_text().count("<svg") == 3
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_an_impossible_number_of_jobs_is_one_line(clone, jobs):
    stage = clone.folder / "stages/claims.py"
    stage.write_text(stage.read_text() + "\n")
    done = clone.run("iterlin", "repro", check=False, JOBS=jobs)
    assert done.returncode == 1
    assert done.stderr.strip() == f"JOBS must be a whole number of at least 1, got '{jobs}'"


def test_where_a_cell_fails_the_others_are_kept(clone):
    clone.edit("sizes: [5, 10, 20], width: 200, num_seeds: 2}", "sizes: [5, 10, 20], width: 200, num_seeds: 3}")
    clone.edit('"20"], num_seeds: 2}', '"20", "100"], num_seeds: 2}')
    stage = clone.folder / "src/iterlin_lab/experiments/kernel_limit/run.py"
    code = stage.read_text()
    stage.write_text("raise SystemExit('no kernels today')\n")
    done = clone.run("iterlin", "repro", check=False, JOBS="2")
    assert done.returncode == 1
    assert "no kernels today" in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last == "toy@smoke-kernel_limit failed; the others are kept. Run the same command again once it is mended"
    assert "Running stage 'sweep@smoke-k_sweep-100'" in done.stdout
    assert "tables@smoke" not in done.stdout
    stage.write_text(code)
    done = clone.run("iterlin", "repro")
    assert "Running stage 'toy@smoke-kernel_limit'" in done.stdout
    assert "Running stage 'sweep" not in done.stdout
    assert clone.run("dvc", "status").stdout.strip() == UP_TO_DATE


def test_a_line_on_a_terminal_says_what_trains(clone):
    clone.edit('"20", "100"], num_seeds: 2}', '"20", "100"], num_seeds: 4}')
    printed, said = on_terminal(clone.folder, "iterlin", "repro", "k_sweep")
    lines = said.split("\r\x1b[K")
    assert [line for line in lines if re.match(r"\[\d/\d\] k_sweep, K = \d+, run [1-4] of at most 4", line)], lines
    assert all(len(line) < 80 for line in lines if line.startswith("["))
    assert "Running stage 'sweep@smoke-k_sweep-100'" in printed
    assert "\x1b" not in printed
