"""The types of values that the sections of params.yaml share."""

import math
import re
import reprlib
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, field_validator

MAX_STEPS = 2**31 - 1  # steps are counted in 32 bits, or with precision float64 in 64
LARGEST = 2**53
AUGMENTATIONS = ("flips_and_crops", "shifts")


def parse_period(label: str) -> float:
    """The number of steps K that a label such as `1e3` or `inf` stands for."""
    if label == "inf":
        return math.inf
    mantissa, _, exponent = label.partition("e")
    return int(mantissa) * 10 ** int(exponent or 0)


def short(value: object) -> str:
    """A value as short text: a few aliases in YAML can stand for millions of entries."""
    form = reprlib.Repr()
    form.maxlevel, form.maxstring = 2, 80
    try:
        return form.repr(value)
    except ValueError:  # a number of thousands of digits
        return f"a very long {type(value).__name__}"


def _period_label(value: object) -> str:
    label = str(value) if isinstance(value, str) or (isinstance(value, int) and abs(value) < 10**20) else ""
    # No exponent is 0: K = 1, whose folders stages that train look for by their name, has one spelling.
    if not re.fullmatch(r"inf|[1-9][0-9]*(e[1-9][0-9]?)?", label):
        raise ValueError(f'K must be a whole number of at least 1, such as "1", "1e3" or "inf", got {short(value)}')
    if label != "inf" and (len(label) > 20 or parse_period(label) >= MAX_STEPS):
        raise ValueError(f'K must be below {MAX_STEPS}, or "inf", got {short(value)}')
    return label


def factor_label(label: str) -> str:
    """A label that is a positive decimal number."""
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", label) or float(label) == 0:
        raise ValueError(f'a factor must be a positive decimal number in quotes, such as "0.5", got {label!r}')
    return label


def _number_label(label: str) -> str:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?(e-?[0-9]{1,2})?", label):
        raise ValueError(f'must be a number of at least 0 in quotes, such as "0", "1e-3" or "0.5", got {short(label)}')
    return label


def _tolerance_label(label: str) -> str:
    if not 0 < float(_number_label(label)) < 1:
        raise ValueError(f'a tolerance must lie between 0 and 1, such as "1e-2", got {label!r}')
    return label


def _augmentation(name: str) -> str:
    if name not in AUGMENTATIONS:
        raise ValueError(f"there is no augmentation {name!r}, but {', '.join(AUGMENTATIONS)}")
    return name


def _with_one(periods: list[str]) -> list[str]:
    if "1" not in periods:
        raise ValueError('must contain "1": every K is compared with K = 1')
    return periods


def _tells_apart(rates: list[float]) -> list[float]:
    if len({f"{rate:g}" for rate in rates}) < len(rates):
        raise ValueError(f"two entries have the same first six digits in {rates}")
    return rates


def distinct(parse):
    """A list without two entries that `parse` takes for the same."""

    def check(labels: list) -> list:
        if len({parse(label) for label in labels}) < len(labels):
            raise ValueError(f"two entries are the same number in {labels}")
        return labels

    return AfterValidator(check)


def one_of(kinds: Iterable[type]) -> Any:
    """The type of a section that is of one of these kinds, told apart by its `name`."""
    return Annotated[Union[tuple(kinds)], Field(discriminator="name")]  # noqa: UP007, they are not known to be written out


Count = Annotated[int, Field(ge=1, le=MAX_STEPS)]
PerDecade = Annotated[int, Field(ge=1, le=1000)]
Steps = Annotated[int, Field(ge=1, lt=MAX_STEPS)]
ManySteps = Annotated[int, Field(ge=1, lt=LARGEST)]
# Far above what anyone asks for, and as much as is planned and traced in seconds.
Seeds = Annotated[int, Field(ge=2, le=1000)]
Seed = Annotated[int, Field(ge=0, lt=2**31)]
Runs = Annotated[int, Field(ge=1, le=1000)]
Depth = Annotated[int, Field(ge=1, le=100)]
KernelSize = Annotated[int, Field(ge=1, le=99)]
Threads = Annotated[int, Field(ge=1, le=256)]
Devices = Annotated[int, Field(ge=1, le=4096)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Fraction = Annotated[float, Field(gt=0, lt=1)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
PeriodLabel = Annotated[str, BeforeValidator(_period_label)]
Periods = Annotated[list[PeriodLabel], Field(min_length=1), distinct(parse_period)]
Compared = Annotated[Periods, AfterValidator(_with_one)]
Tolerances = Annotated[list[Annotated[str, AfterValidator(_tolerance_label)]], Field(min_length=1), distinct(float)]
Dampings = Annotated[list[Annotated[str, AfterValidator(_number_label)]], Field(min_length=1), distinct(float)]
Numbers = Annotated[list[Positive], Field(min_length=1), distinct(float)]
Rates = Annotated[Numbers, AfterValidator(_tells_apart)]  # whose folders are called by six digits of them
Fractions = Annotated[list[Fraction], distinct(float)]
Augmentation = Annotated[str, AfterValidator(_augmentation)]
Initialisation = Literal["he_normal", "glorot_uniform", "lecun_normal", "pytorch"]


class Strict(BaseModel):
    """No unknown key, no conversion of types, no change after loading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @field_validator("*")
    @classmethod
    def _in_proportion(cls, value: Any) -> Any:
        """No whole number that a floating-point number may not hold."""
        numbers = value if isinstance(value, list) else [value]
        if any(isinstance(number, int) and number > LARGEST for number in numbers):
            raise ValueError(f"a whole number must be at most {LARGEST}, got {short(value)}")
        return value
