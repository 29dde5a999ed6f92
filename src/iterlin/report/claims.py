"""What the sources claim, and the verdicts."""

import pandas as pd


def claims_section(claims: dict[str, dict]) -> str:
    """A row a claim."""
    rows = pd.DataFrame(
        {
            "id": list(claims),
            "claim": [f"{claim['statement']} ({claim['source']}: {claim['paper']})" for claim in claims.values()],
            "verdict": [f"**{claim['verdict']}**" for claim in claims.values()],
            "evidence (accuracies in points, 95 %)": [claim["evidence"] for claim in claims.values()],
        }
    )
    return f"""## Claims

What the sources claim, and what these runs say. A claim is *reproduced* or *not reproduced* if its test or that of its
opposite has p ≤ 0.05, and otherwise *not testable at this scale*. That two things coincide is shown by an equivalence
test. The margin is one point, which is what T calls comparable, where none is stated; p-values are corrected for the
number of claims (Holm).
Claims were written down before any run with the `seed` of the `laptop` scale (see params.yaml), and so were settings,
but for what first runs of it led to mend: the truncated solver stalled on undamped problems (E-ADAM, E-DAMPCE),
Cholesky's factorisation broke down at small λ (E-DAMP1D), TGN by Adam missed its tolerance in one run of E-SWEEP, and
E-MNIST, E-STABLE, E-BATCH and E-DATA took too long, so that they have fewer examples, steps or runs.

{rows.to_markdown(index=False, disable_numparse=True)}"""
