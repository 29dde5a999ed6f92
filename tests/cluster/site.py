"""A real SLURM of two nodes on this machine."""

import re
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

    def warn(self, job: str) -> None:
        """As SLURM does before the time is up; where the job is requeued, `scancel` itself never ends."""
        self("timeout", "5", "scancel", "--batch", "--signal=USR1", job, check=False)

    def begun(self, job: str, times: int = 0) -> list[str]:
        """The nodes on which a task has begun, by its log, once it has more often than so many times; without these."""

        def nodes() -> list[str]:
            folder, number = self("squeue", "-h", "-r", "-j", job, "-o", "%k %K").split()
            log = Path(folder) / f"{number}.log"
            return re.findall(r" on (n[12])$", log.read_text(), re.MULTILINE) if log.exists() else []

        return until(lambda: self.wait_for("R") and nodes()[times:])
