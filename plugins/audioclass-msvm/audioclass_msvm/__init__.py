"""Multi-class support vector machines for audioclass, and their radius-margin bound.

`machines` and `radius_margin` offer the components; `solver.solve` is the optimiser behind them, `bound` the bound with
all its parts.
"""
