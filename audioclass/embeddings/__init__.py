"""Embeddings, one file for each family: librosa's transforms of a whole window, pooled to one vector.

They depend on more than a few frames around their own (long filters, recursion, a best path), so that values per frame
would change with where a stream is cut; over a window they are well defined. librosa, whose import brings numba, is
imported when a window is embedded and never before.
"""
