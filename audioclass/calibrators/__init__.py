"""Score → probability, one calibrator per file; what they share is in `examples.py` and `logistic.py`."""
