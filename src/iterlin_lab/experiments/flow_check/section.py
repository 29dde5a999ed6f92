"""B-FLOW: how far the flow is from explicit steps."""

from collections.abc import Mapping

import pandas as pd

from iterlin_lab.experiments.flow_check.settings import Scope
from iterlin_lab.report.names import period_text
from iterlin_lab.report.tables import markdown_table
from iterlin_lab.runs.recipes import learning_rate
from iterlin_lab.settings import parse_period


def section(scale: Scope, tables: Mapping[str, pd.DataFrame]) -> str:
    """The errors measured, how far that goes, and whether explicit steps of E-SWEEP would be stable."""
    check, sweep, runs = (tables[name] for name in ("flow_check", "k_sweep", "k_sweep_runs"))
    rows = pd.DataFrame(
        {
            "model": check["model"],
            "η": check["learning_rate"].map("{:g}".format),
            "explicit steps": check["steps"],
            "tolerance": check["tolerance"].map("{:g}".format),
            "evaluations": check["evaluations"].map("{:g}".format),
            "ηλ_max": check["eta_lambda_max"].map("{:.2g}".format),
            "estimated error": check["error_estimate"].map("{:.1%}".format),
            "measured error": check["error"].map("{:.2%}".format),
            "error of the steps": check["error_of_steps"].map("{:.2%}".format),
        }
    )
    return f"""## Gradient flow against explicit steps

Many small steps of gradient descent follow the gradient flow. Here both train the same networks for the same time, the
linear proxy about its initialisation (K = ∞) and the network itself (K = 1). Explicit steps differ from their flow by
O(η), so they are taken with η and with η/2, and extrapolated to η = 0. Measured is the distance from there between the
outputs on the test data, relative to how far training moved them: the largest of {scale.flow_check.num_seeds} runs. The
error of the steps is that of the explicit steps with η. The estimate is the integrator's own: its local errors, added
up, relative to the path of the parameters.

{markdown_table(rows)}

{_stability(scale, sweep)}{_reach(scale, learning_rate(scale), check, runs)}"""


def _reach(scale: Scope, rate: float, check: pd.DataFrame, runs: pd.DataFrame) -> str:
    if scale.k_sweep.solver.flow_tolerance is None:
        return ""
    compared = (check["learning_rate"] * check["steps"]).max()
    longest = rate * max(map(parse_period, set(scale.k_sweep.periods) - {"inf"}))
    if longest <= compared:
        return ""
    K, estimate = max(zip(runs["K"], runs["error_estimate"].fillna(0), strict=True), key=lambda pair: pair[1])
    return f"""

The comparison goes up to the time ηt = {compared:g}; the longest finite phase of E-SWEEP lasts ηK = {longest:g}.
Beyond what was compared, the accuracy of the flow rests on its own estimate, which was at most {estimate:.0%} in a
run (K = {period_text(K)})."""


def _stability(scale: Scope, sweep: pd.DataFrame) -> str:
    if scale.k_sweep.solver.flow_tolerance is None:
        return "E-SWEEP above took explicit steps."
    sharpest = sweep["max_eta_lambda_max"].max()
    if sharpest < 2:
        return f"""In E-SWEEP above, ηλ_max was at most {sharpest:.2g}: explicit steps would be stable (ηλ_max < 2)
everywhere, and the flow stands for them."""
    unstable = ", ".join(map(period_text, sweep.loc[sweep["max_eta_lambda_max"] >= 2, "K"]))
    return f"""In E-SWEEP above, ηλ_max reached {sharpest:.2g}: explicit steps would be unstable (ηλ_max ≥ 2) for
K = {unstable}. **There the flow is not those steps.**"""
