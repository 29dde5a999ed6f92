"""The claims of the sources as data, and their verdicts."""

from iterlin.claims import k_sweep
from iterlin.claims.verdicts import judge as judge

# By experiment: the table that its tests take, and the claims.
CLAIMS = {"E-SWEEP": ("k_sweep_runs", k_sweep.CLAIMS)}
