"""The page of `dvc plots show`, which needs no network."""

import vl_convert

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


def page() -> str:
    """The HTML that DVC puts its plots into, with Vega in it."""
    return PAGE.format(vega=vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
