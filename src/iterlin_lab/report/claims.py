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
    ).map(lambda text: text.replace("|", r"\|"))  # which would end a cell of the table
    return f"""## Claims

What the sources claim, and what these runs say. A claim is *reproduced* if its test has p ≤ 0.05, *not reproduced*
if the test of its opposite has, and otherwise *not testable at this scale*. That two things coincide is shown by an
equivalence test. The margin is one point, which is what T calls comparable, where none is stated; p-values are
corrected for the number of claims (Holm).
Claims and settings were written down before any run with the `seed` of the `laptop` scale (see params.yaml): they were
settled on runs with other seeds, which no verdict uses.

{rows.to_markdown(index=False, disable_numparse=True)}"""
