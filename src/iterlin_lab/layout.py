"""Where the pipeline's files lie."""

from pathlib import Path


class Layout:
    """The paths of one scale, relative to the project's folder; dvc.yaml declares the same ones."""

    def __init__(self, scale: str):
        self.scale = scale
        self.data = Path(f"data/{scale}.npz")
        self.data_card = Path(f"data/{scale}.json")
        self.results = Path(f"results/{scale}")
        self.regime = self.results / "regime.json"
        self.report = Path(f"reports/{scale}")
        self.lock = self.report / "dvc.lock"
        self.tables = self.report / "tables"
        self.figures = self.report / "figures"
        self.claims = self.report / "claims.json"
        self.evidence = self.report / "evidence.json"
        self.history = Path(f"reports/history/{scale}.csv")
        self.tracked = Path(f"tracking/{scale}.json")
        self.tracked_report = Path(f"tracking/{scale}-report.txt")

    def data_of(self, experiment: str) -> Path:
        """The data of an experiment that has its own."""
        return Path(f"data/{self.scale}-{experiment}.npz")
