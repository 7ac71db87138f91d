"""A space and an objective → the best point, with its trace; one search per file.

All walk in fractions of the axes (`walk.py`), so that a parameter on a log scale is searched by its logarithm.
"""
