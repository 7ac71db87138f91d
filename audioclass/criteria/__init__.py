"""A selection problem → a number: how good a kernel is for a dichotomy, with its derivatives where there are some.

Without training: `alignment.py`, `separability.py`, `parzen.py`. In closed form: `held_out.py`. With a machine:
`errors.py`, `bounds.py`, `span.py`, `radius_margin.py`. What several share: `adjusted.py`, `logistic.py`; for
machines `dual.py`, `leave_one_out.py`, `spans.py`, `radius.py`, `affine.py`.
"""
