"""B-FLOW, again: what the flow's error changes in what E-SWEEP's verdicts rest on."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.finer_flow.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import markdown_table


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """The changes by K: their mean, and the largest of a run."""
    rows = []
    table = tables["finer_flow"]
    for K in table["K"].unique():
        group = table[table["K"] == K]
        change = 100 * group["network_validation_stopped_change"]
        rows.append(
            {
                "K": period_text(K),
                "runs": len(group),
                "evaluations": f"{group['evaluations_coarse'].median():g} → {group['evaluations'].median():g}",
                "estimated error": f"{group['error_estimate_coarse'].max():.0%} → {group['error_estimate'].max():.0%}",
                "change of accuracy, mean": f"{change.mean():+.2f}",
                "largest": f"{change.abs().max():.2f}",
            }
        )
    finer, coarse = scale.finer_flow.tolerance, scale.k_sweep.solver.flow_tolerance
    return f"""## The flow with a smaller tolerance

The flow's estimate is honest where the flow contracts. Where it leaves a saddle, as from small weights, errors grow
along with the network, and the true error may be several times the estimate. So the same runs of E-SWEEP were taken
with the tolerance {finer:g} in place of {coarse:g}: the change of their validation-stopped test accuracy, in points, is
what the verdicts owe to the error of the flow. A change of single runs that does not shift the mean is one of a
distribution: the flow comes to a network as good by another path.

{markdown_table(pd.DataFrame(rows))}"""
