"""Whether the devices of params.yaml can have equal shares of the examples of every run."""

import sys
from typing import Any

from iterlin_lab.experiments import chosen


def check_shares(scale: Any) -> None:
    """Look at a run of every cell.

    **Raises**: `SystemExit` with one line that names the key and the experiment.
    """
    for experiment in chosen(scale) if scale.devices > 1 else ():
        for cell in experiment.trained(scale):
            recipe = cell.recipes[0]
            for what, number in ("training set", recipe.sizes["train"]), ("batches", recipe.training["batch_size"]):
                if number and number % scale.devices:
                    sys.exit(
                        f"params.yaml: scale.devices: {scale.devices} devices cannot have equal shares of the {number} "
                        f"examples of the {what} of {experiment.name}: take {number % scale.devices} fewer, or "
                        f"{-number % scale.devices} more"
                    )
