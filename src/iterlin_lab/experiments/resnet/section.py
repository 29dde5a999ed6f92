"""E-RESNET: its tables and its figures."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.resnet.settings import Panel, Scope, large
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import diverging_columns, markdown_table, percent

NORMS = {
    "none": "no BatchNorm",
    "batch": "batch",
    "frozen": "frozen at θ_s",
    "running": "running",
}


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """The panels of T fig. 10, and which runs of the grid diverged."""
    own, table, grid = scale.resnet, tables["resnet"], tables["resnet_grid"]
    rows = pd.DataFrame(
        {
            "panel": table["method"],
            "K": table["K"].map(period_text),
            "runs": table["runs"],
            "diverged": table["diverged"],
            "updates": table["median_feature_updates"].map("{:g}".format),
            "at the end": percent(table, "network_final"),
            "proxy at the end": percent(table, "proxy_final"),
            "difference from K = 1": percent(table, "network_final_difference"),
        }
    )
    blocks = f"{len(own.blocks)} stages of {', '.join(map(str, own.blocks))} residual blocks"
    return f"""## E-RESNET: a residual network, with BatchNorm and without

After T fig. 10: a ResNet in its form for CIFAR, with {blocks}, from {own.channels} channels (T has ResNet-18: 2, 2, 2,
2 from 64). Without BatchNorm the residual branches are scaled by 1/√L for L blocks, so that the network is stable at
initialisation, however deep it is; T does not say what it did. Gradient descent takes all its steps, whether it fits
before or not: {_words(own.plain)} *(plain)*; {_words(own.normalised)} *(normalised)*. Run i of a panel has the same
data for both K. Keys come from the seeds {own.plain.seed}, {own.normalised.seed} and, for the grid, {own.grid.seed}.

In a lazy phase with BatchNorm the statistics of each batch are part of the expansion, which is what T calls linearising
the normalisation. Records divide by the statistics of the training data at θ. Test accuracies after all steps in
percent, with 95 % t-intervals; the difference is the networks', paired by run.

{markdown_table(rows)}

![Test accuracy of a ResNet for K = 1 and a large K](figures/resnet.svg)

*Test accuracy of the network, and of the linear proxy that is trained in its place, against steps. Means over runs, and
95 % t-intervals.*

**Which runs diverge.** {own.num_seeds} draws are trained for {own.grid.num_steps} steps on mini-batches of
{own.grid.batch_size}, for every η and K: without BatchNorm; with the statistics of the batch inside the expansion; and
with these frozen at θ_s, so that the normalisation is not linearised. At the end is the median test accuracy of runs
that did not diverge.

{markdown_table(_cells(grid))}

![Runs that diverged](figures/resnet_grid.svg)

*Runs that diverged, for every η and K. Divergence is a loss of {scale.training.divergence_factor:g} times the initial
one. BatchNorm bounds what it normalises, and so the loss of a network that has been destroyed: the accuracy at the end
tells these runs apart.*"""


def _words(panel: Panel) -> str:
    how = "full batches" if panel.batch_size is None else f"mini-batches of {panel.batch_size}"
    how = f"augmented {how}" if panel.augmentation else how
    norm = "without BatchNorm" if panel.norm == "none" else "with BatchNorm"
    return f"{norm} {panel.num_steps} on {how} with η = {panel.learning_rate:g}, K = 1 and K = {large(panel)}"


def _cells(grid: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "statistics": grid["method"].map(NORMS),
            "η": grid["learning_rate"].map("{:g}".format),
            "K": grid["K"].map(period_text),
            "runs": grid["runs"],
            "diverged": grid["diverged"],
            **diverging_columns(grid),
        }
    )
