"""A result ↔ one format per file, with `write` and, where it can be labels, `read`. `rows.py`, `texts.py`: shared."""
