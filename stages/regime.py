"""Set the learning rate by the rule in params.yaml."""

import json

from iterlin.files import write_text
from iterlin.layout import Layout
from iterlin.runtime import begin_stage


def main() -> None:
    scale, _ = begin_stage()
    from iterlin.experiments.regime import find_regime

    layout = Layout(scale.name)
    write_text(layout.regime, json.dumps(find_regime(scale, layout.data), indent=2) + "\n")


if __name__ == "__main__":
    main()
