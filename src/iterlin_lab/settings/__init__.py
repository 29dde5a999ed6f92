"""The types of params.yaml that experiments share, all strict."""

from iterlin_lab.settings.base import Compared as Compared
from iterlin_lab.settings.base import Count as Count
from iterlin_lab.settings.base import Initialisation as Initialisation
from iterlin_lab.settings.base import Name as Name
from iterlin_lab.settings.base import Seeds as Seeds
from iterlin_lab.settings.base import Strict as Strict
from iterlin_lab.settings.base import parse_period as parse_period
from iterlin_lab.settings.base import short as short
