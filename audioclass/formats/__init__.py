"""A result → one format per file; what they share is in `rows.py`, `texts.py` and `reading.py`."""
