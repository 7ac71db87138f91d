"""A direct strategy of our own, in a module that other processes can import: the nearest mean in kernel space."""

from typing import ClassVar

import numpy as np

from audioclass.parameters import component
from audioclass.problems import FeatureMachine, Machine


def softmax(scores):
    shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


@component
class Means:
    """Scores x·m_k − m_k·m_k/2, from the Gram matrix."""

    name: ClassVar[str] = "means"
    wants: ClassVar[str] = "gram"

    def fit(self, task):
        A = np.eye(task.n_labels)[task.y] * task.weights[:, None]
        A = A / A.sum(axis=0)
        return Machine(np.arange(len(task.y)), A, -np.einsum("ik,ij,jk->k", A, task.K, A) / 2)

    def combine(self, scores, fitted):
        return softmax(fitted.get("inverse_temperature", 1.0) * scores)

    def fit_combination(self, scores, y):
        grid = np.geomspace(0.1, 10, 21)
        losses = [-np.log(softmax(g * scores)[np.arange(len(y)), y]).mean() for g in grid]
        return {"inverse_temperature": float(grid[int(np.argmin(losses))])}


@component
class MeansOfFeatures(Means):
    """The same from features, with scores of its own."""

    name: ClassVar[str] = "means_of_features"
    wants: ClassVar[str] = "features"

    def fit(self, task):
        A = np.eye(task.n_labels)[task.y] * task.weights[:, None]
        return FeatureMachine({"means": (A / A.sum(axis=0)).T @ task.X})

    def scores(self, machine, X):
        means = machine.arrays["means"]
        return X @ means.T - (means**2).sum(axis=1) / 2


@component
class BagOfMeans(MeansOfFeatures):
    """Knows the scores of half of the groups, whom its one member never saw."""

    name: ClassVar[str] = "bag_of_means"

    def fit_out_of_bag(self, task, groups):
        machine = self.fit(task)
        scores = self.scores(machine, task.X)
        scores[groups % 2 == 0] = np.nan
        return machine, scores
