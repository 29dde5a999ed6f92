"""The report: one Markdown text from tables and figures, and the same as one self-contained HTML page."""

from collections.abc import Callable, Mapping

import pandas as pd

from iterlin_lab.config import Scale
from iterlin_lab.report import (
    adam,
    augmentation,
    batches,
    damp1d,
    damp_ce,
    data_scaling,
    decay,
    filters,
    kernel_limit,
    lazy_flow,
    mnist,
    one_neuron,
    probes,
    stability,
    staircase,
)
from iterlin_lab.report.claims import claims_section
from iterlin_lab.report.diverged import diverged
from iterlin_lab.report.flow_check import flow
from iterlin_lab.report.k_sweep import figures, sensitivity, sweep
from iterlin_lab.report.page import html as html
from iterlin_lab.report.setting import setting
from iterlin_lab.report.xor import xor

Tables = Mapping[str, pd.DataFrame]
# The sections of all but E-SWEEP.
EXPERIMENTS: tuple[Callable[[Scale, Tables], str], ...] = (
    damp1d.section,
    adam.section,
    damp_ce.section,
    xor,
    mnist.section,
    stability.section,
    augmentation.section,
    probes.section,
    filters.section,
    batches.section,
    data_scaling.section,
    kernel_limit.section,
    staircase.section,
    lazy_flow.section,
    decay.section,
    one_neuron.section,
)


def markdown(scale: Scale, data: dict, regime: dict, tables: Tables, claims: dict[str, dict]) -> str:
    """The text of the report."""
    sections = [
        f"# Iterative linearisation: the `{scale.name}` scale",
        setting(scale, data, regime),
        claims_section(claims),
        sweep(scale, tables["k_sweep"]),
        figures(scale, tables["flow_check"]),
        sensitivity(scale, tables["sensitivity"]),
        *diverged(tables["diverged"]),
        *(section(scale, tables) for section in EXPERIMENTS),
        flow(scale, regime["learning_rate"], *(tables[name] for name in ("flow_check", "k_sweep", "k_sweep_runs"))),
    ]
    return "\n\n".join(sections) + "\n"
