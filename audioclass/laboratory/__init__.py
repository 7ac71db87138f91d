"""Experiments on how kernels and C are chosen: sweeps of C and of sigma, decision surfaces (specification 17).

`tables.py` (examples from a file), `ledger.py` (what was computed is not computed again), `sweeps.py`, `surfaces.py`
and `figures.py`.
"""
