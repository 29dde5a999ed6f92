"""Results of what params.yaml lists no more: a K that was removed, an experiment that is left out."""

import shutil
import sys
from typing import Any

from iterlin_lab.dvc.status import locked_paths
from iterlin_lab.experiments import chosen
from iterlin_lab.layout import Layout


def remove_unlisted(scale: Any) -> None:
    """Remove their folders, and say so. They are in DVC's cache, and come back from there without training.

    The tables depend on the whole folder of results, which would not be the same in another clone. A folder that DVC
    does not know stays.
    """
    listed = {path for experiment in chosen(scale) for path in experiment.outputs(scale)}
    for path in locked_paths():
        if path.is_relative_to(Layout(scale.name).results) and path.is_dir() and path not in listed:
            shutil.rmtree(path)
            print(f"warning: {path} is removed, which params.yaml does not list; DVC's cache keeps it", file=sys.stderr)
