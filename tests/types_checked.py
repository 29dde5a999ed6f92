"""How types are checked in tests: by beartype, for which an int is a float too, as it is for type checkers."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
