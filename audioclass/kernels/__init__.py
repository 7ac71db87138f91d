"""Pairwise statistic → Gram matrix, one kernel per file; what all kernels share is in `statistics.py`."""
