"""What the tables of several experiments are made with.

A row says by numbers what it is of, in columns that all tables call alike: `K` (∞ for lazy training), `damping` (λ),
`n` training examples, `learning_rate` (η), `step_size` (α), `tolerance` (β), `factor` of η, `width`, `dimension`, and
so on. What is no number is a word in `method`: `gradient` (descent, or its flow), `Adam`, `TGN`, `control` (K = 1 with
another η), `descent` (by explicit steps, beside a flow), `kept` (Adam whose momenta feature updates do not reset),
`full` or `mini` (batches), `linearised` or `network`, `always`, `early` or `late` (when λ acts). A number that a row
does not have is missing, as K is where every lazy problem is solved, however many steps that takes (truncated
Gauss–Newton). How all of these are called where they are shown, `report.names` says, and `figures.style` which colours
they have.
"""

from iterlin_lab.tables.cells import Cells as Cells
from iterlin_lab.tables.cells import by_period as by_period
from iterlin_lab.tables.cells import groups as groups
from iterlin_lab.tables.cells import read_cells as read_cells
from iterlin_lab.tables.summaries import ACCURACIES as ACCURACIES
from iterlin_lab.tables.summaries import mean_curve as mean_curve
from iterlin_lab.tables.summaries import mean_curves as mean_curves
from iterlin_lab.tables.summaries import summarise as summarise
