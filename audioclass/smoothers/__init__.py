"""Posteriors → posteriors that agree with their neighbours, one smoother per file; every one of them smooths streams.

What they share is in `streams.py`; `chains.py` and `transitions.py` are the hidden Markov model's own.
"""
