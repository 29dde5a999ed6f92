"""The report: one Markdown text from tables and figures, and the same as one self-contained HTML page."""

import re
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from markdown_it import MarkdownIt

from iterlin.config import Scale

Tables = Mapping[str, pd.DataFrame]
NAMES = {"inf": "∞", "tgn": "TGN"}

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ max-width: 70rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; color: #222; }}
h1, h2 {{ line-height: 1.2; }}
table {{ border-collapse: collapse; font-size: 0.8rem; display: block; overflow-x: auto; }}
th, td {{ padding: 0.2rem 0.45rem; border-bottom: 1px solid #ddd; text-align: left; }}
[style*="right"], td:first-child {{ white-space: nowrap; }}
svg {{ max-width: 100%; height: auto; }}
code {{ background: #f3f3f3; padding: 0 0.2rem; }}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def markdown(scale: Scale, data: dict, regime: dict, tables: Tables, claims: dict[str, dict]) -> str:
    """The text of the report."""
    sections = [
        f"# Iterative linearisation: the `{scale.name}` scale",
        _setting(scale, data, regime),
        _claims(claims),
        _sweep(scale, tables["k_sweep"]),
        _figures(),
        _sensitivity(scale, tables["sensitivity"]),
        _flow(scale, tables["flow_check"], tables["k_sweep"]),
    ]
    return "\n\n".join(sections) + "\n"


def html(text: str, figures: Path) -> str:
    """The report as a page that needs no other file: figures are drawn in it."""
    body = MarkdownIt("commonmark").enable("table").render(text)
    title = text.splitlines()[0].removeprefix("# ").replace("`", "")
    return PAGE.format(
        title=title, body=re.sub(r'<img src="figures/([a-z_]+)\.svg" alt="([^"]*)" ?/>', _inline(figures), body)
    )


def _inline(figures: Path):
    def svg(match: re.Match) -> str:
        name, alt = match.groups()
        drawing = (figures / f"{name}.svg").read_text(encoding="utf-8")
        drawing = drawing[drawing.index("<svg") :]
        # Names inside a drawing would clash with those of the next one on the same page.
        drawing = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", drawing)
        return drawing.replace("<svg", f'<svg role="img" aria-label="{alt}"', 1)

    return svg


def _setting(scale: Scale, data: dict, regime: dict) -> str:
    sizes, net, training = scale.data, scale.net, scale.training
    batch = "full batches" if training.batch_size is None else f"mini-batches of {training.batch_size}"
    details = ", ".join(f"{key} {value}" for key, value in net.model_dump().items() if key != "name")
    note = f" **Note**: {data['note']}." if data["note"] else ""
    return f"""## Setting

- **Data**: `{data["name"]}`, {data["source"]} (licence: {data["licence"]}; SHA-256 {data["sha256"][:16]}…). Each run
  draws its own split of {sizes.num_train} training, {sizes.num_validation} validation and {sizes.num_test} test
  examples.{note}
- **Network**: `{net.name}` ({details}).
- **Training**: cross-entropy, {batch}, {_solver(scale, regime)}, up to {scale.k_sweep.num_steps:g} steps.
  A run stops at a feature update once the network classifies the whole training set correctly with a loss of at most
  {training.fit_loss:g}. It counts as diverged when the loss of the lazy problem is not
  finite or exceeds {training.divergence_factor:g} times the initial one (or that of all-zero outputs).
- **Regime**: {_rule(regime)}"""


def _solver(scale: Scale, regime: dict) -> str:
    solver, steps = scale.k_sweep.solver, f"steps of gradient descent with η = {regime['learning_rate']:g}"
    if solver.name == "gradient_descent":
        return steps.removeprefix("steps of ")
    return f"""gradient flow in place of {steps}: K steps are the time
  ηK, integrated with the tolerance {solver.tolerance:g} (see the section on the flow for its error)"""


def _rule(regime: dict) -> str:
    if "max_eigenvalues" not in regime:
        return "η is given in params.yaml."
    eigenvalues = regime["max_eigenvalues"]
    return f"""η = {regime["stability"]:g} / λ_max, where λ_max is the largest eigenvalue of the Gauss–Newton matrix at
  initialisation over {len(eigenvalues)} draws that no result uses (from {min(eigenvalues):.3g} to
  {max(eigenvalues):.3g})."""


def _sweep(scale: Scale, table: pd.DataFrame) -> str:
    rows = pd.DataFrame(
        {
            "K": [NAMES.get(cell, cell) for cell in table["cell"]],
            "runs": table["runs"],
            "fitted": table["fitted"],
            "step limit": table["step_limit"],
            "diverged": table["diverged"],
            "steps": table["median_steps"].map("{:g}".format),
            "updates": table["median_feature_updates"].map("{:g}".format),
            "evaluations": table["median_evaluations"].map("{:g}".format),
            "validation-stopped": _percent(table, "network_validation_stopped"),
            "difference from K = 1": _percent(table, "difference"),
            "test-stopped": _percent(table, "network_test_stopped"),
            "at the end": _percent(table, "network_final"),
            "proxy at the end": _percent(table, "proxy_final"),
        }
    )
    tgn = table[table["cell"] == "tgn"].iloc[0]
    certificate = f"‖g‖ ≤ {scale.tgn_baseline.tolerance:g}·‖g₀‖"
    if tgn["last_phase_ended"] == tgn["runs"]:
        baseline = (
            f"TGN is truncated Gauss–Newton: Adam on each lazy problem until {certificate}, reached in every phase."
        )
    else:
        short = int(tgn["runs"] - tgn["last_phase_ended"])
        baseline = (
            f"The row TGN is **not** truncated Gauss–Newton: in {short} of {tgn['runs']} runs the last lazy problem "
            f"was not solved to {certificate} within the step limit."
        )
    return f"""## E-SWEEP: accuracy against the period K

Test accuracy in percent: mean over runs and 95 % t-interval. Steps, feature updates and evaluations of
the gradient are medians.
*Validation-stopped* is read at the record with the best validation accuracy. *Test-stopped* is the papers' "optimal
early stopping": chosen on the test data, so it flatters. Accuracies are those of the network, except for the last
column, which is the linear proxy's: for K = ∞ it is the model that was trained. The difference is of validation-stopped
accuracies, paired by run. Runs that diverged have no accuracy at the end.

{_markdown_table(rows)}

{baseline}"""


def _claims(claims: dict[str, dict]) -> str:
    rows = pd.DataFrame(
        {
            "id": list(claims),
            "claim": [f"{claim['statement']} ({claim['source']}: {claim['paper']})" for claim in claims.values()],
            "verdict": [f"**{claim['verdict']}**" for claim in claims.values()],
            "evidence (points, 95 %)": [claim["evidence"] for claim in claims.values()],
        }
    )
    return f"""## Claims

What the sources claim, and what these runs say. A claim is *reproduced* or *not reproduced* if its test or that of its
opposite has p ≤ 0.05, and otherwise *not testable at this scale*. That two things coincide is shown by an equivalence
test. The margin is one point, which is what T calls comparable; p-values are corrected for the number of claims (Holm).
Settings and claims were written down before any run with this `seed` at the `laptop` scale (see params.yaml).

{rows.to_markdown(index=False, disable_numparse=True)}"""


def _figures() -> str:
    return """## Figures

Lines are means over runs, bands 95 % t-intervals. A run that has stopped keeps its last value.

![Test accuracy against steps for every K](figures/k_sweep_curves.svg)

*Test accuracy of the network against steps (after T fig. 3). Within a long phase the network drifts from the proxy
that is being trained, and may fall before the next feature update.*

![Test accuracy against K](figures/k_sweep_accuracy.svg)

*Left: test accuracy against K in three readings. Right: the difference from K = 1, without K = ∞.*

![Network and linear proxy for large K](figures/k_sweep_proxy.svg)

*The network and the linear proxy that is trained in its place (after T fig. 2).*

![Distance, linearisation error and feature updates against steps](figures/k_sweep_movement.svg)

*How far the parameters move, how wrong the linearisation becomes, and how often it is renewed.*"""


def _sensitivity(scale: Scale, table: pd.DataFrame) -> str:
    rows = pd.DataFrame(
        {
            "η ×": table["factor"].map("{:g}".format),
            "K": [NAMES.get(cell, cell) for cell in table["cell"]],
            "runs": table["runs"],
            "fitted": table["fitted"],
            "diverged": table["diverged"],
            "updates": table["median_feature_updates"].map("{:g}".format),
            "validation-stopped": _percent(table, "network_validation_stopped"),
            "difference from K = 1": _percent(table, "difference"),
        }
    )
    return f"""## Around the setting

The same {scale.sensitivity.num_seeds} runs by gradient descent at multiples of η, with K and the number of steps
divided by the multiple, so that ηK stays; the rows η × 1 are the sweep's own.

{_markdown_table(rows)}

![Accuracy at multiples of the learning rate](figures/sensitivity.svg)

*Validation-stopped test accuracy at multiples of the learning rate.*"""


def _flow(scale: Scale, check: pd.DataFrame, sweep: pd.DataFrame) -> str:
    rows = pd.DataFrame(
        {
            "model": check["model"],
            "η": check["learning_rate"].map("{:g}".format),
            "explicit steps": check["steps"],
            "tolerance": check["tolerance"].map("{:g}".format),
            "evaluations": check["evaluations"].map("{:g}".format),
            "ηλ_max": check["eta_lambda_max"].map("{:.2g}".format),
            "estimated error": check["error_estimate"].map("{:.1%}".format),
            "measured error": check["error"].map("{:.1%}".format),
        }
    )
    return f"""## Gradient flow against explicit steps

Many small steps of gradient descent follow the gradient flow. Here both train the same networks for the same time, the
linear proxy about its initialisation (K = ∞) and the network itself (K = 1). Measured is the distance between the
outputs on the test data, relative to how far the explicit steps moved them: the largest of {scale.flow_check.num_seeds}
runs. It holds the O(η) by which explicit steps differ from their flow. The estimate is the integrator's own: its local
errors, added up, relative to the path of the parameters.

{_markdown_table(rows)}

{_stability(scale, sweep)}"""


def _stability(scale: Scale, sweep: pd.DataFrame) -> str:
    if scale.k_sweep.solver.name == "gradient_descent":
        return "E-SWEEP above took explicit steps."
    sharpest = sweep["max_eta_lambda_max"].max()
    if sharpest < 2:
        return f"""In E-SWEEP above, ηλ_max was at most {sharpest:.2g}: explicit steps would be stable (ηλ_max < 2)
everywhere, and the flow stands for them."""
    unstable = ", ".join(NAMES.get(cell, str(cell)) for cell in sweep.loc[sweep["max_eta_lambda_max"] >= 2, "cell"])
    return f"""In E-SWEEP above, ηλ_max reached {sharpest:.2g}: explicit steps would be unstable (ηλ_max ≥ 2) for
K = {unstable}. **There the flow is not those steps.**"""


def _percent(table: pd.DataFrame, name: str) -> list[str]:
    """Means and the half widths of their intervals, in percent."""
    pairs = zip(100 * table[f"{name}_mean"], 100 * table[f"{name}_high"], strict=True)
    return ["–" if pd.isna(mean) else f"{mean:.1f} ± {high - mean:.1f}" for mean, high in pairs]


def _markdown_table(rows: pd.DataFrame) -> str:
    return rows.to_markdown(index=False, disable_numparse=True, colalign=("left", *("right",) * (rows.shape[1] - 1)))
