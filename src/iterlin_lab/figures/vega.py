"""What `dvc plots show` draws: tables with the colours of the figures in them, and a page that needs no network."""

import pandas as pd
import vl_convert
from matplotlib.colors import to_hex

from iterlin_lab.figures.style import colour
from iterlin_lab.report.names import label

PARTS = ("mean", "low", "high")
# The placeholder is DVC's. Its own page loads Vega from the web; this one holds it.
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>iterlin</title>
<script>{vega}</script>
<style>body {{ margin: 2em; font-family: sans-serif; }} body > div {{ margin-bottom: 3em; }}</style>
</head>
<body>
{{plot_divs}}
</body>
</html>
"""


def coloured(table: pd.DataFrame, quantity: str, *columns: str) -> pd.DataFrame:
    """Mean and interval of one quantity, with what each K is called and its colour in all figures."""
    new = pd.DataFrame({"label": map(label, table["K"]), "colour": [to_hex(colour(K)) for K in table["K"]]})
    for name in columns:
        new[name] = table[name].to_numpy()
    for part in PARTS:
        new[part] = table[f"{quantity}_{part}"].to_numpy()
    return new


def page() -> str:
    """The HTML that DVC puts its plots into, with Vega in it."""
    return PAGE.format(vega=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
