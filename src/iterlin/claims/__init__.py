"""The claims of the sources as data, and their verdicts."""

from iterlin.claims import k_sweep
from iterlin.claims.verdicts import judge as judge

CLAIMS = {"E-SWEEP": k_sweep.CLAIMS}
