"""Ensembles for audioclass: bags of any trainer, forests, boosting and nearest neighbours.

`labelled.py` lets one method serve both as a trainer of dichotomies and as a strategy for all labels; `bags.py` draws
whole groups of examples; `trees.py` holds trees as arrays and walks them; the other modules are a method each.
scikit-learn grows trees and is imported for nothing else: models are arrays, evaluated with numpy.
"""
