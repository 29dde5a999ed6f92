"""How types are checked in tests: by beartype, to which an int is a float, as to the type checker that reads the code."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))
