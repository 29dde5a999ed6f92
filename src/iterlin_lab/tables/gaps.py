"""How far learning curves are apart."""

import numpy as np
import pandas as pd


def largest_gaps(curves: pd.DataFrame, reference: pd.DataFrame, name: str = "network_test_accuracy") -> pd.Series:
    """By run, the largest |difference| in `name` from the same run of the reference, at equal `time`.

    The two need no records at the same times: the reference is interpolated linearly in log time.
    Step 0, where all are the same, and times after its last record are left out.
    """
    by_run = dict(list(reference[reference["time"] > 0].groupby("run")))

    def largest(curve: pd.DataFrame) -> float:
        expected = by_run[curve["run"].iloc[0]]
        at = curve[(curve["time"] > 0) & (curve["time"] <= expected["time"].max())]
        interpolated = np.interp(np.log(at["time"]), np.log(expected["time"]), expected[name])
        return float((at[name] - interpolated).abs().max())

    shared = curves[curves["run"].isin(by_run)]
    return pd.Series({run: largest(curve) for run, curve in shared.groupby("run")}, dtype=float)
