"""Gram matrix or features, and ±1 → binary machine; one trainer per file, registered there.

What trainers share: `examples.py` (the examples that count), `libsvm.py` (running LIBSVM, the bias),
`linear_system.py` (a Gram matrix with a ridge and a bias), `squared_hinge.py` (Newton steps of L2 machines).
"""
