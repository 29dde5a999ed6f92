"""A copy of the project in a folder of its own, and what a user does in it."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path

from iterlin_lab.config import STAGES
from iterlin_lab.experiments import EXPERIMENTS

SWEEP = ("k_sweep", "tgn_baseline", "sensitivity")  # experiments enough for most that a pipeline can do, in little time
ROOT = Path(__file__).parent.parent


def environment(**settings):
    """A user's environment: without what tests of the mathematics or `make` set, in a shell that stays above stages."""
    foreign = ("JAX_", "XLA_", "MLFLOW_", "DVC_", "MAKE", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    own = {
        "SHELL": "/bin/sh",
        "PATH": path,
        "JAX_COMPILATION_CACHE_DIR": str(ROOT / ".cache/jax"),
        "ITERLIN_WORKERS": "1",  # two would trace and compile the same, while another test has the other processor
    }
    return kept | own | settings


def run_in(folder: Path, *command: str, check: bool = True, **settings: str) -> subprocess.CompletedProcess:
    """Run a command in a copy of the project, with its own code."""
    env = environment(PYTHONPATH=str(folder / "src"), **settings)
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=1800)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done


def on_terminal(folder: Path, *command: str) -> tuple[str, str]:
    """What a command prints, and what it says besides on a terminal, which is its standard error."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (30, 120))
    env, said = environment(PYTHONPATH=str(folder / "src")), b""
    with subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=theirs, text=True) as process:
        os.close(theirs)
        with suppress(OSError):  # as a terminal ends whose other side is closed
            while part := os.read(ours, 1000):
                said += part
        printed = process.communicate()[0]
    os.close(ours)
    return printed, said.decode()


def chosen(experiments: Sequence[str]) -> str:
    """The line of params.yaml that leaves all other experiments out; none if none are given."""
    by_stage = {stage: [name for name in experiments if EXPERIMENTS[name].stage == stage] for stage in STAGES}
    return f"\n  experiments: {json.dumps(by_stage)}" if experiments else ""


class Clone:
    """The working tree as a repository with one commit, in which params.yaml has these experiments, or all."""

    first: frozenset[str] = frozenset()  # the stages of the first run

    def __init__(self, folder: Path, preset: str, *experiments: str):
        self.folder = folder
        self.preset = preset
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).exists() and (name.startswith("reports/history/") or not name.startswith("reports/")):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)
        (folder / "dvc.lock").unlink(missing_ok=True)
        self.choose(f"scale:\n  <<: *{preset}{chosen(experiments)}\n")
        subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
        self.commit()

    def copy(self, folder: Path, *experiments: str) -> "Clone":
        """The same with these experiments, and with all that it has computed."""
        other = copy(self)
        other.folder = shutil.copytree(self.folder, folder, symlinks=True)
        other.choose(f"scale:\n  <<: *{self.preset}{chosen(experiments)}\n")
        other.commit()
        return other

    def commit(self) -> None:
        """Commit everything."""
        user = ("-c", "user.name=t", "-c", "user.email=t@t")
        for command in (["add", "-A"], [*user, "commit", "-q", "--allow-empty", "-m", "x"]):
            subprocess.run(["git", *command], cwd=self.folder, check=True)

    def choose(self, text: str) -> None:
        """Put this in the place of `scale` in params.yaml, after all presets."""
        path = self.folder / "params.yaml"
        path.write_text(path.read_text().split("\nscale:")[0] + "\n" + text)

    def edit(self, old: str, new: str) -> None:
        """Change params.yaml as a user would; the text must be there once."""
        path = self.folder / "params.yaml"
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in params.yaml"
        path.write_text(text.replace(old, new))

    def run(self, *command: str, check: bool = True, **settings: str) -> subprocess.CompletedProcess:
        """Run a command in the clone, with its own code."""
        return run_in(self.folder, *command, check=check, **settings)

    def repro(self, *arguments: str, **settings: str) -> set[str]:
        """`dvc repro`; the stages that ran."""
        done = self.run("dvc", "repro", *arguments, check=True, **settings)
        return {name.removesuffix(f"@{self.preset}") for name in re.findall(r"Running stage '(.*?)'", done.stdout)}

    def bytes_below(self, name: str) -> dict[str, bytes]:
        """All files below a folder."""
        folder = self.folder / name
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
