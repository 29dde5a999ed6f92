"""Set the learning rate by the rule in params.yaml."""

import json

from iterlin_lab.config import read_scale
from iterlin_lab.files import write_text
from iterlin_lab.layout import Layout
from iterlin_lab.runs.stage import begin_stage


def main() -> None:
    scale = read_scale()
    begin_stage(scale)
    from iterlin_lab.runs.regime import find_regime

    layout = Layout(scale.name)
    write_text(layout.regime, json.dumps(find_regime(scale, layout.data), indent=2) + "\n")


if __name__ == "__main__":
    main()
