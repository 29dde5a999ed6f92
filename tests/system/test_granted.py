"""The pipeline without what one takes for granted: it works, or one line says what is needed."""

import shutil
import subprocess

import pytest

from tests.clone import Clone, run_in

BARE = ("env", "-u", "HOME", "LC_ALL=C", "sh", "-c", "umask 077; exec iterlin repro")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """In a folder whose name has a space and an umlaut."""
    folder = tmp_path_factory.mktemp("granted") / "für zwei"
    folder.mkdir()
    return Clone(folder, "smoke", "staircase")


def test_an_archive_needs_git_init_alone(clone):
    """With no home, in the locale C, and with files for nobody else."""
    shutil.rmtree(clone.folder / ".git")
    for command in ("repro", "check-report"):
        done = clone.run("iterlin", command, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("DVC needs a git repository in this folder, which `git init` makes of an archive")
        assert done.stderr.count("\n") == 1
    assert "Not estimated: staircase" in clone.run("iterlin", "plan").stdout
    clone.run("git", "init", "-q")
    assert "stages ran, 0 of them trained a cell" in clone.run(*BARE).stdout
    assert (clone.folder / "reports/smoke/figures/staircase.svg").exists()
    assert clone.run("dvc", "status").stdout.strip() == "Data and pipelines are up to date."


def test_another_owner_is_one_line_with_the_remedy_of_git(clone):
    done = clone.run("iterlin", "repro", check=False, GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert done.returncode == 1
    assert "detected dubious ownership" in done.stderr
    assert "git config --global --add safe.directory" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_machine_without_git_is_one_line(clone, tmp_path):
    for name in ("iterlin", "dvc"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    done = clone.run("iterlin", "repro", check=False, PATH=str(tmp_path))
    assert (done.returncode, done.stderr) == (1, "DVC needs git, which is not installed here\n")


def test_a_worktree_and_a_shallow_clone_have_the_same_bytes(clone, tmp_path):
    clone.commit()
    clone.run("git", "worktree", "add", "-q", str(tmp_path / "tree"))
    subprocess.run(["git", "clone", "-q", "--depth", "1", clone.folder.as_uri(), str(tmp_path / "shallow")], check=True)
    tables = "reports/smoke/tables"
    for name in ("tree", "shallow"):
        shutil.rmtree(tmp_path / name / tables)
        run_in(tmp_path / name, "iterlin", "repro", "staircase")
        run_in(tmp_path / name, "dvc", "repro", "-s", "tables@smoke")
        made = {path.name: path.read_bytes() for path in (tmp_path / name / tables).iterdir()}
        assert made == clone.bytes_below(tables)


def test_an_impossible_parameter_stops_everything_with_one_line(clone):
    clone.edit("num_validation: 100, num_test: 300}\n    net", "num_validation: 0, num_test: 300}\n    net")
    for command in (["iterlin", "check"], ["iterlin", "repro"]):
        done = clone.run(*command, check=False)
        assert done.returncode == 1
        expected = "params.yaml: presets.smoke.data.num_validation: Input should be greater than or equal to 1, got 0"
        assert expected in done.stderr.splitlines()
        assert "Running" not in done.stdout
    done = clone.run("dvc", "repro", check=False)
    assert done.returncode != 0
    assert expected in done.stderr
    assert "Running stage 'sweep" not in done.stdout
