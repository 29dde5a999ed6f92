"""Data sets by name (`sets`), and seeded splits of them (`splits`)."""
