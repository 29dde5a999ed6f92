"""The claims of the sources as data, and their verdicts."""

from iterlin.claims import adam, damp1d, damp_ce, k_sweep, xor
from iterlin.claims.verdicts import judge as judge

# By experiment: the table that its tests take, and the claims.
CLAIMS = {
    "E-SWEEP": ("k_sweep_runs", k_sweep.CLAIMS),
    "E-DAMP1D": ("damp1d_runs", damp1d.CLAIMS),
    "E-ADAM": ("adam_runs", adam.CLAIMS),
    "E-DAMPCE": ("damp_ce_runs", damp_ce.CLAIMS),
    "E-XOR": ("xor_runs", xor.CLAIMS),
}
