"""Claims as they are judged, of which a report is made."""

from iterlin_lab.claims.verdicts import VERDICTS

YES, NO, UNKNOWN, NONE = VERDICTS


def claim(verdict, *found, source="T §1", unit="points", margin=0.01):
    """A judged claim with these effects: a name, a mean and the ends of an interval each."""
    made = [dict(zip(("name", "mean", "low", "high"), one, strict=True), unit=unit) for one in found]
    row = {"statement": "a", "source": source, "paper": "the same curve", "margin": margin, "verdict": verdict}
    return row | {"evidence": "b"} | ({"effects": made} if made else {})


CLAIMS = {
    "E-ONE-1": claim(YES, ("K = 10", 0.2, -0.3, 0.8), ("K = 100", -0.4, -0.9, 0.1)),
    "E-ONE-2": claim(NO, ("", -7.0, -9.0, -5.0)),
    "E-ONE-3": claim(NONE),
    "E-TWO-1": claim(UNKNOWN, ("", 0.5, -4.0, 5.0), source="W §4", margin=0.05),
    "E-TWO-2": claim(YES, ("", -0.5, -0.6, -0.4), source="ours, after T §1", unit="exponent"),
}
