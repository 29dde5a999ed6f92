"""What all sections of the report share: its page, its tables, what was run, the claims."""
