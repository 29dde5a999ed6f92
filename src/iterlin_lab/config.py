"""params.yaml, checked: a wrong value is one line that names its key, before anything is computed."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator
from ruamel.yaml import YAML

from iterlin_lab.settings import (
    MLP,
    MNIST,
    XOR,
    AdamCells,
    Augmented,
    Batches,
    Count,
    Damp1D,
    DampCE,
    Data,
    DataScaling,
    Decay,
    Filters,
    FixedRate,
    FlowCheck,
    KernelLimit,
    KSweep,
    LazyFlow,
    LeNet,
    Name,
    OneNeuron,
    Probes,
    Sensitivity,
    Solved,
    Stability,
    StableRate,
    Staircase,
    Strict,
    Training,
    require_examples,
    shown,
)

PARAMS = Path("params.yaml")
# Of unions, which stand under these names: pydantic puts the tags into the path of a key.
UNIONS = ("net", "regime", "solver")
TAGS = ("lenet", "mlp", "fixed", "stable", "gradient_descent", "flow", "adam", "truncated")
LENGTH = 300  # characters of what is said about one value


class ParamsError(Exception):
    """What is wrong in params.yaml, a line an error."""


class Scale(Strict):
    """One preset: everything that a run of the pipeline depends on."""

    name: Name
    threads: Count
    runs_at_once: Count
    precision: Literal["float32", "tensorfloat32", "bfloat16"]
    seed: Annotated[int, Field(ge=0, lt=2**31)]
    data: Data
    net: Annotated[LeNet | MLP, Field(discriminator="name")]
    regime: Annotated[FixedRate | StableRate, Field(discriminator="rule")]
    training: Training
    k_sweep: KSweep
    tgn_baseline: Solved
    sensitivity: Sensitivity
    flow_check: FlowCheck
    damp1d: Damp1D
    adam: AdamCells
    damp_ce: DampCE
    xor: XOR
    mnist: MNIST
    augmentation: Augmented
    probes: Probes
    filters: Filters
    stability: Stability
    batches: Batches
    data_scaling: DataScaling
    kernel_limit: KernelLimit
    staircase: Staircase
    lazy_flow: LazyFlow
    decay: Decay
    one_neuron: OneNeuron

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        batch, n = self.training.batch_size, self.data.num_train
        if batch is not None and batch > n:
            raise ValueError(f"training.batch_size is {batch}, more than data.num_train, which is {n}")
        if batch is not None and self.k_sweep.solver.name == "flow":
            raise ValueError("training.batch_size must be null: the k_sweep.solver flow needs full batches")
        if "1" not in self.k_sweep.periods:
            raise ValueError('k_sweep.periods must contain "1": every K is compared with K = 1')
        around = self.sensitivity
        if not {"1"} <= set(around.periods) <= set(self.k_sweep.periods):
            raise ValueError('sensitivity.periods must contain "1" and be among k_sweep.periods')
        if around.num_seeds > self.k_sweep.num_seeds:
            raise ValueError("sensitivity.num_seeds must not exceed k_sweep.num_seeds: the same runs are compared")
        if "1" in around.factors:
            raise ValueError('sensitivity.factors must not contain "1": that is the sweep itself')
        for section in ("tgn_baseline", "flow_check", "adam", "damp_ce"):
            if getattr(self, section).num_seeds > self.k_sweep.num_seeds:
                raise ValueError(f"{section}.num_seeds must not exceed k_sweep.num_seeds: the same runs are compared")
        if "1" not in self.xor.periods:
            raise ValueError('xor.periods must contain "1": every K is compared with K = 1')
        for section in ("batches", "augmentation"):
            if (size := getattr(self, section).batch_size) > n:
                raise ValueError(f"{section}.batch_size is {size}, more than data.num_train, which is {n}")
        if self.net.name == "mlp" and self.net.depth < 2:
            raise ValueError(f"net.depth must be at least 2: probes read two hidden layers, got {self.net.depth}")
        if len(self.augmentation.periods) < 2:
            raise ValueError('augmentation.periods must contain a K besides "1": the two are compared')
        if self.filters.num_examples > n:
            raise ValueError(f"filters.num_examples must not exceed data.num_train, which is {n}")
        try:
            require_examples(self.data.name, self.data_scaling.splits(max(self.data_scaling.sizes)))
        except ValueError as error:
            raise ValueError(f"data_scaling: with the largest of its sizes as num_train, {error}") from None
        if batch is not None and self.data_scaling.solver.name == "flow":
            raise ValueError("training.batch_size must be null: the data_scaling.solver flow needs full batches")
        if batch is not None and batch > min(self.data_scaling.sizes):
            raise ValueError(f"training.batch_size is {batch}, more than the smallest of data_scaling.sizes")
        return self


class Params(Strict):
    """The whole of params.yaml."""

    presets: dict[Name, Scale]
    scale: Scale


def load(path: Path = PARAMS) -> Params:
    """Read and validate params.yaml. Nothing in it is executed.

    **Raises**: `ParamsError` with one line an error.
    """
    try:
        return Params.model_validate(_read(path))
    except ValidationError as error:
        raise ParamsError("\n".join(_line(path, item) for item in error.errors())) from None


def _read(path: Path) -> Any:
    try:
        return YAML(typ="safe", pure=True).load(path)  # the parser in C ends the process where nesting is too deep
    except FileNotFoundError:
        raise ParamsError(f"{path} not found: run this in the project's folder") from None
    except OSError as error:
        raise ParamsError(f"{path} cannot be read: {error.strerror}") from None
    except Exception as error:  # junk makes the parser fail in many ways: in an encoding, a date, a number, too deep
        what = " ".join(str(error).split()) or type(error).__name__
        raise ParamsError(_plain(f"{path} is not valid YAML: {what}")) from None


def _line(path: Path, error) -> str:
    path_of_key = zip((None, *error["loc"]), error["loc"], strict=False)
    key = ".".join(str(part) for above, part in path_of_key if not (above in UNIONS and part in TAGS))
    message = error["msg"].removeprefix("Value error, ")
    got = "" if "got" in message or error["type"] in ("missing", "value_error") else f", got {shown(error['input'])}"
    return _plain(f"{path}: {key or 'top level'}: {message}{got}")


def _plain(line: str) -> str:
    """One line of at most `LENGTH` characters, with control characters as escapes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return text if len(text) <= LENGTH else f"{text[:LENGTH]} …"
