"""A real SLURM of two nodes on this machine."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.clone import environment

SLURM = Path(__file__).parent / "slurm.sh"


def until(look: Callable[[], list], seconds: float = 300) -> list:
    """What a look finds, once it finds something."""
    for _ in range(int(seconds / 0.2)):
        if found := look():
            return found
        time.sleep(0.2)
    raise AssertionError("nothing was found")


class Site:
    """A SLURM, and what its commands say."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}

    def __call__(self, *command: str, check: bool = True) -> str:
        done = subprocess.run(command, env=environment(**self.env), capture_output=True, text=True, check=check)
        return done.stdout

    def wait_for(self, state: str, seconds: float = 300) -> list[str]:
        """The jobs in this state with their nodes, once there are such; none if it is empty, once no job is left."""
        for _ in range(int(seconds / 0.2)):
            self._start_again()
            found = self("squeue", "-h", "-r", *(["-t", state] if state else []), "-o", "%i %N").splitlines()
            if bool(found) == bool(state):
                return found
            time.sleep(0.2)
        raise AssertionError(f"jobs in state {state!r}: {self('squeue')}")

    def _start_again(self) -> None:
        """Jobs that were put back into the queue: SLURM itself waits for two minutes before it starts them."""
        for job in self("squeue", "-h", "-r", "-t", "PD", "-o", "%i %r").splitlines():
            if job.endswith("BeginTime"):
                self("scontrol", "update", f"JobId={job.split()[0]}", "StartTime=now")

    def running(self, seconds: float) -> tuple[str, str]:
        """A job that has run for so long, and its node."""
        while True:
            for job in self.wait_for("R"):
                time.sleep(seconds)
                if job in self.wait_for("R"):
                    number, node = job.split()
                    return number, node
