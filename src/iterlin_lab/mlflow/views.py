"""The saved view of an experiment's runs on MLflow's page: charts as the papers draw them, and a table.

MLflow keeps a saved view in a tag of the experiment, as the state of its page in JSON. Whether that is drawn as charts
or as a table stands in the address.
"""

import json
from typing import Any

KEY = "by_K"
TAG = f"mlflow.sharedViewState.{KEY}"
SECTION = "curves"


def view() -> str:
    """What `TAG` has."""
    return json.dumps({"name": "By K", "createdAt": 0, "updatedAt": 0, "state": json.dumps(_STATE)})


def links(experiment_id: str) -> str:
    """Links, in Markdown, to the experiment in this view, on MLflow's page: as curves, and as a table."""
    # The page is about language models, unless it is told that it is about training.
    address = f"#/experiments/{experiment_id}/runs?workflowType=machine_learning&viewStateShareKey={KEY}"
    return f"[Curves]({address}&compareRunsMode=CHART), [Table by K]({address}&compareRunsMode=TABLE)"


def _lines(uuid: str, title: str, metrics: list[str], scale: str = "linear") -> dict[str, Any]:
    """Metrics against the number of steps, which is on a logarithmic axis."""
    return _chart(uuid, title, "LINE") | {
        "metricKey": metrics[0],
        "selectedMetricKeys": metrics,
        "xAxisKey": "step",
        "xAxisScaleType": "log",
        "selectedXAxisMetricKey": "",
        "useGlobalXaxisKey": False,
        "useGlobalLineSmoothness": False,
        "scaleType": scale,
        "lineSmoothness": 0,
        "yAxisKey": "metric",
        "yAxisExpressions": [],
        "displayPoints": False,
        "ignoreOutliers": False,
        "range": {},
    }


def _scatter(uuid: str, title: str, x: str, y: str) -> dict[str, Any]:
    axes = {"xaxis": {"key": x, "type": "METRIC"}, "yaxis": {"key": y, "type": "METRIC"}}
    return _chart(uuid, title, "SCATTER") | axes


def _bars(uuid: str, title: str, metric: str) -> dict[str, Any]:
    return _chart(uuid, title, "BAR") | {"metricKey": metric}


def _chart(uuid: str, title: str, kind: str) -> dict[str, Any]:
    shown = {"deleted": False, "isGenerated": False, "runsCountToCompare": 20}
    return {"uuid": uuid, "type": kind, "displayName": title, "metricSectionId": SECTION} | shown


_CHARTS = [
    _lines("accuracy", "Test accuracy against steps", ["network/test_accuracy", "proxy/test_accuracy"]),
    _lines("loss", "Training loss against steps", ["network/train_loss", "proxy/train_loss"], "log"),
    _scatter("by_K", "Test accuracy (y) against log₁₀ K (x)", "log10_K", "accuracy"),
    _bars("bars", "Test accuracy", "accuracy"),
]
_STATE = {
    "orderByKey": "metrics.`log10_K`",
    "orderByAsc": True,
    "searchFilter": "tags.level = 'cell' and tags.present = 'yes'",
    "startTime": "ALL",
    "lifecycleFilter": "Active",
    "datasetsFilter": [],
    "modelVersionFilter": "All Runs",
    "selectedColumns": [
        "metrics.`accuracy`",
        "metrics.`proxy_accuracy`",
        "metrics.`validation_accuracy`",
        "metrics.`log10_K`",
        "metrics.`steps`",
        "params.`solver`",
        "params.`learning_rate`",
        "attributes.`Source`",
    ],
    "runsHiddenMode": "SHOW_ALL",
    "runsPinned": [],
    "runsHidden": [],
    "compareRunCharts": _CHARTS,
    "compareRunSections": [
        {
            "uuid": SECTION,
            "name": "Network and proxy",
            "display": True,
            "isReordered": False,
            "deleted": False,
            "isGenerated": False,
        }
    ],
    "isAccordionReordered": True,
    "useGroupedValuesInCharts": False,
    "hideEmptyCharts": True,
    "groupBy": None,
    "groupsExpanded": {},
    "globalLineChartConfig": {"xAxisKey": "step", "lineSmoothness": 0, "selectedXAxisMetricKey": ""},
}
