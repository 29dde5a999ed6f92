"""params.yaml, checked: a wrong value is one line that names its key, before anything is computed."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError, create_model, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

from iterlin_lab.experiments import EXPERIMENTS, chosen
from iterlin_lab.nets import NETS
from iterlin_lab.settings import Name, Strict, short
from iterlin_lab.settings.shared import Shared, require_shares
from iterlin_lab.settings.solvers import SOLVERS

PARAMS = Path("params.yaml")
# Of unions, which stand under these names: pydantic puts the tags into the path of a key.
UNIONS = ("net", "regime", "solver")
TAGS = (*NETS, *SOLVERS, "fixed", "stable")
LENGTH = 300  # characters of what is said about one value
DEEPEST = 50  # lists and mappings in each other
STAGES = tuple(dict.fromkeys(experiment.stage for experiment in EXPERIMENTS.values()))


class ParamsError(Exception):
    """What is wrong in params.yaml, a line an error."""


class _Chosen(Shared):
    """What all share, and which experiments there are, by the stage of dvc.yaml that runs them."""

    experiments: Annotated[dict[str, list[str]], Field(min_length=1)]

    @model_validator(mode="after")
    def _known(self) -> "_Chosen":
        if set(self.experiments) != set(STAGES):
            raise ValueError(f"experiments must have the keys {', '.join(STAGES)}, got {short(list(self.experiments))}")
        for stage, names in self.experiments.items():
            known = [experiment.name for experiment in EXPERIMENTS.values() if experiment.stage == stage]
            for name in names:
                if name not in known:
                    raise ValueError(f"experiments.{stage}: there is no {short(name)}, but {', '.join(known)}")
            if len(set(names)) < len(names):
                raise ValueError(f"experiments.{stage}: a name is there twice in {short(names)}")
        return self

    @model_validator(mode="after")
    def _complete(self) -> "_Chosen":
        names = {experiment.name for experiment in chosen(self)}
        for experiment in chosen(self):
            if getattr(self, experiment.name) is None:
                raise ValueError(f"experiments: {experiment.name} has no section of that name in this preset")
            if missing := [name for name in experiment.reads if name not in names]:
                raise ValueError(f"experiments: {experiment.name} needs {missing[0]}, which is left out")
        return self

    @model_validator(mode="after")
    def _consistent_sections(self) -> "_Chosen":
        for experiment in chosen(self):
            experiment.check(experiment.of(self))
        return self

    @model_validator(mode="after")
    def _equal_shares(self) -> "_Chosen":
        for experiment in chosen(self) if self.devices > 1 else ():
            for cell in experiment.trained(self):
                sizes, batch_size = cell.recipes[0].sizes, cell.recipes[0].training["batch_size"]
                require_shares(self.devices, sizes["train"], f"the training set of {experiment.name}")
                require_shares(self.devices, batch_size or 0, f"a batch of {experiment.name}")
        return self


# One preset: everything that a run of the pipeline depends on. An experiment that it leaves out needs no section.
_SETTINGS: dict[str, Any] = {name: (experiment.settings | None, None) for name, experiment in EXPERIMENTS.items()}
_SCALE: type[_Chosen] = create_model("Scale", __base__=_Chosen, **_SETTINGS)
if TYPE_CHECKING:
    Scale = Any
else:
    Scale = _SCALE


class Params(Strict):
    """The whole of params.yaml."""

    presets: dict[Name, Scale]
    scale: Scale


def load(path: Path = PARAMS) -> Params:
    """Read and validate params.yaml. Nothing in it is executed.

    **Raises**: `ParamsError` with one line an error.
    """
    try:
        return Params.model_validate(read_yaml(path))
    except ValidationError as error:
        raise ParamsError("\n".join(error_lines(path, error))) from None


def scale_of(settings: dict[str, Any]) -> Scale:
    """The settings of a preset from their plain values (`model_dump`)."""
    return _SCALE.model_validate(settings)


def read_scale() -> Scale:
    """The settings that apply. Where params.yaml is wrong, the process ends with a line an error."""
    try:
        return load().scale
    except ParamsError as error:
        sys.exit(str(error))


def read_yaml(path: Path) -> Any:
    """What a file in YAML says. Nothing in it is executed.

    **Raises**: `ParamsError` with one line.
    """
    try:
        text = path.read_text(encoding="utf-8")  # as DVC reads it; YAML itself takes UTF-16 too
        return _quickly(text) or YAML(typ="safe", pure=True).load(path)
    except FileNotFoundError:
        raise ParamsError(f"{path} not found: run this in the project's folder") from None
    except OSError as error:
        raise ParamsError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ParamsError(f"{path} is not valid YAML: byte {error.start} is no UTF-8, in which it must be") from None
    except Exception as error:  # junk makes the parser fail in many ways: in an encoding, a date, a number, too deep
        what = " ".join(str(error).split()) or type(error).__name__
        raise ParamsError(_plain(f"{path} is not valid YAML: {what}")) from None


def _quickly(text: str) -> Any:
    """The same by the parser in C, in an eighth of the time; nothing where it fails, for it says less about the reason.

    It ends the process where nesting is too deep.
    """
    depth = 0
    try:
        for event in YAML(typ="safe").parse(text):
            depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
            if depth > DEEPEST:
                return None
        return YAML(typ="safe").load(text)
    except Exception:
        return None


def error_lines(path: Path, error: ValidationError) -> list[str]:
    """A line for each value in a file that is wrong."""
    return [_line(path, item) for item in error.errors()]


def _line(path: Path, error) -> str:
    path_of_key = zip((None, *error["loc"]), error["loc"], strict=False)
    key = ".".join(str(part) for above, part in path_of_key if not (above in UNIONS and part in TAGS))
    message = error["msg"].removeprefix("Value error, ")
    got = "" if "got" in message or error["type"] in ("missing", "value_error") else f", got {short(error['input'])}"
    return _plain(f"{path}: {key or 'top level'}: {message}{got}")


def _plain(line: str) -> str:
    """One line of at most `LENGTH` characters, with control characters as escapes."""
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    return text if len(text) <= LENGTH else f"{text[:LENGTH]} …"
