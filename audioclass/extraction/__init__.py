"""A recording and a recipe → features: a pure function, its cache, and batches of it.

`recipe.py` says what is computed, `frames.py` cuts the stream onto one grid of frames, `extract.py` is the pure
function, `cache.py` keeps its results by content, `batch.py` runs it over many files, `parallel.py` in
processes.
"""
