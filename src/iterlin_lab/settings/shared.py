"""What all experiments share: data, network, the rule for the learning rate, and how runs train."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from iterlin_lab.data.sets import DATA_SETS
from iterlin_lab.nets import AnyNetwork
from iterlin_lab.settings.base import Count, Devices, Name, PerDecade, Positive, Runs, Seed, Strict, Threads


def _data_name(name: str) -> str:
    if name not in DATA_SETS:
        raise ValueError(f"there is no data set {name!r}, but {', '.join(DATA_SETS)}")
    return name


def require_examples(name: str, sizes: dict[str, int]) -> None:
    """**Raises**: `ValueError` if the data set has fewer examples than these splits ask for."""
    data = DATA_SETS[name]
    asked = {"num_train + num_validation": sizes["train"] + sizes["validation"], "num_test": sizes["test"]}
    there_are = {"num_train + num_validation": data.num_examples - data.num_test, "num_test": data.num_test}
    if not data.num_test:
        asked = {"num_train + num_validation + num_test": sum(sizes.values())}
        there_are = {"num_train + num_validation + num_test": data.num_examples}
    for what, wanted in asked.items():
        if wanted > there_are[what]:
            raise ValueError(f"{what} is {wanted}, but {name} has {there_are[what]} examples for that")


def require_no_more(key: str, number: int | None, there_are: int, of: str = "data.num_train") -> None:
    """**Raises**: `ValueError` if `key` asks for more examples than there are; None asks for all."""
    if number is not None and number > there_are:
        raise ValueError(f"{key} is {number}, more than {of}, which is {there_are}")


def require_shares(devices: int, number: int, of: str) -> None:
    """**Raises**: `ValueError` if the devices cannot have equal shares of so many examples."""
    if number % devices:
        raise ValueError(f"devices is {devices}, and they cannot have equal shares of {number} examples, {of}")


class Data(Strict):
    """Which data, and how many examples each run draws for its splits."""

    name: Annotated[str, AfterValidator(_data_name)]
    num_train: Count
    num_validation: Count
    num_test: Count

    @model_validator(mode="after")
    def _enough(self) -> "Data":
        require_examples(self.name, self.sizes)
        return self

    @property
    def sizes(self) -> dict[str, int]:
        return {"train": self.num_train, "validation": self.num_validation, "test": self.num_test}


class FixedRate(Strict):
    """A learning rate that is given."""

    rule: Literal["fixed"]
    learning_rate: Positive


class StableRate(Strict):
    """The rule for the learning rate: ηλ_max = `stability` at the sharpest of `num_seeds` initialisations."""

    rule: Literal["stable"]
    stability: Annotated[float, Field(gt=0, lt=2)]
    num_seeds: Runs


class Training(Strict):
    """What all training runs share."""

    batch_size: Count | None
    fit_loss: Positive
    divergence_factor: Annotated[float, Field(gt=1, allow_inf_nan=False)]
    records_per_decade: PerDecade


class Shared(Strict):
    """What every experiment may depend on besides its own section of params.yaml."""

    name: Name
    threads: Threads
    runs_at_once: Runs
    devices: Devices
    precision: Literal["float64", "float32", "tensorfloat32", "bfloat16"]
    form: Literal["primal", "dual", "auto"]
    seed: Seed
    data: Data
    net: AnyNetwork
    regime: Annotated[FixedRate | StableRate, Field(discriminator="rule")]
    training: Training

    @model_validator(mode="after")
    def _consistent(self) -> "Shared":
        require_no_more("training.batch_size", self.training.batch_size, self.data.num_train)
        if self.form == "dual" and self.runs_at_once > 1:
            raise ValueError("runs_at_once must be 1 with form dual, whose runs train one by one")
        if self.devices > 1 and self.runs_at_once > 1:
            raise ValueError("runs_at_once must be 1 with several devices, which one run fills")
        return self
