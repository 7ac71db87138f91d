"""What a criterion judges: a Gram matrix with two sides, and what follows from it, each computed once when asked for.

`radius.py` (how far examples reach), `span.py` and `leave_one_out.py` (machines without an example), `least_squares.py`
(machines without a group, in closed form) and `case.py`, which holds them together.
"""
