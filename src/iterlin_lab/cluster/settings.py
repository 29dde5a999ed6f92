"""cluster.yaml: what a site wants of jobs. No byte of a result depends on it."""

import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from iterlin_lab.config import ParamsError, error_lines, read_yaml
from iterlin_lab.experiments import EXPERIMENTS
from iterlin_lab.settings import Strict

CLUSTER = Path("cluster.yaml")
Line = Annotated[str, Field(pattern=r"^[^\n]+$")]


class Resources(Strict):
    """What a job asks SLURM for. What is `None` is left to the plan (time, memory), or to the site."""

    # Of each process; a run takes `threads`, so that more of them train runs side by side.
    processors: Annotated[int, Field(ge=1)] | None = None
    # That compute each run together, one on each accelerator or host: they share out the `devices` of params.yaml.
    processes: Annotated[int, Field(ge=1)] = 1
    gpus: Annotated[int, Field(ge=0)] | None = None
    time: Annotated[str, Field(pattern=r"^(\d+-)?\d{1,2}:\d\d:\d\d$")] | None = None  # [days-]hours:minutes:seconds
    memory: Annotated[str, Field(pattern=r"^\d+[KMGT]$")] | None = None
    partition: Line | None = None
    account: Line | None = None
    options: list[Line] = Field(default_factory=list)  # of sbatch, such as `--constraint=avx512`
    modules: list[Line] = Field(default_factory=list)  # `module load` for each
    container: Line | None = None  # what stands before `python`, such as `apptainer exec --nv image.sif`
    python: Line | None = None  # which Python; the one that submits by default


class Cluster(Resources):
    """What all jobs ask for, and what those of single experiments do instead.

    With a `remote` of DVC, nodes share nothing else with this machine: they clone the `source`.
    """

    remote: Line | None = None
    source: Line | None = None  # where git clones from; the `origin` of this repository by default
    experiments: dict[str, Resources] = Field(default_factory=dict)

    def of(self, experiment: str) -> Resources:
        """What the jobs of an experiment ask for."""
        own = self.experiments.get(experiment, Resources())
        common = {name: getattr(self, name) for name in Resources.model_fields}
        return Resources(**common | {name: getattr(own, name) for name in own.model_fields_set})


def read_cluster(path: Path = CLUSTER) -> Cluster:
    """The site's settings, if there are such.

    **Raises**: `SystemExit` with a line an error that names the key.
    """
    if not path.exists():
        return Cluster()
    try:
        cluster = Cluster.model_validate(read_yaml(path))
    except ParamsError as error:
        sys.exit(str(error))
    except ValidationError as error:
        sys.exit("\n".join(error_lines(path, error)))
    for name in cluster.experiments:
        if name not in EXPERIMENTS:
            sys.exit(f"{path}: experiments: there is no {name!r}, but {', '.join(EXPERIMENTS)}")
    return cluster
