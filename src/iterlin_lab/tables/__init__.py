"""What the tables of several experiments are made with."""

from iterlin_lab.tables.summaries import ACCURACIES as ACCURACIES
from iterlin_lab.tables.summaries import mean_curves as mean_curves
from iterlin_lab.tables.summaries import summarise as summarise
