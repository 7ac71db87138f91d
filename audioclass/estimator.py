"""A scikit-learn classifier over every strategy: calibrated posteriors, groups that never leak, components by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from audioclass.classifier.preprocessing import Preprocessing
from audioclass.engine.config import Choices
from audioclass.plugins.manager import plugin_manager
from audioclass.taxonomy import Taxonomy
from audioclass.training.examples import Examples
from audioclass.training.train import Training, train_classifier


class AudioclassClassifier(ClassifierMixin, BaseEstimator):
    """Machines of a strategy's plan, trained and calibrated together; a model trained here is `training_.classifier`.

    Components are names (`"one_vs_one"`, `"gaussian:sigma=2"`) or objects. `feature_groups` names the group of each column:
    groups weigh alike in distances. `groups` given to `fit` stay together in every fold that calibrates. `predict` is
    the label of the largest posterior, unless the strategy decides otherwise (votes, the DAG, greedy paths do).

    Learnt: `classes_`, `n_features_in_`, `feature_names_in_` where columns are named, `training_`.
    """

    def __init__(
        self,
        strategy: Any = Choices.strategy,
        kernel: Any = Choices.kernel,
        trainer: Any = Choices.trainer,
        calibrator: Any = Choices.calibrator,
        criterion: Any = Choices.criterion,
        search: Any = Choices.search,
        large: Any = Choices.large,
        C: float = Choices.C,
        normalisation: str = Choices.normalisation,
        weigh_groups: bool = Choices.weigh_groups,
        folds: int = Choices.folds,
        feature_groups: Sequence[str] | None = None,
        taxonomy: Taxonomy | None = None,
        n_jobs: int = 1,
        random_state: int = 0,
    ) -> None:
        self.strategy = strategy
        self.kernel = kernel
        self.trainer = trainer
        self.calibrator = calibrator
        self.criterion = criterion
        self.search = search
        self.large = large
        self.C = C
        self.normalisation = normalisation
        self.weigh_groups = weigh_groups
        self.folds = folds
        self.feature_groups = feature_groups
        self.taxonomy = taxonomy
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> AudioclassClassifier:
        """Train on rows of X and their labels; rows of weight 0 take no part."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        groups = None if groups is None else _codes(groups, len(y))
        counted = weights > 0
        if not counted.any():
            raise ValueError("every sample_weight is 0, at least one example must count")
        self.classes_, codes = np.unique(y[counted], return_inverse=True)
        self._fit(X[counted], codes, weights[counted], None if groups is None else groups[counted])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The label of each row."""
        X = self._rows(X)
        if self.training_ is None:
            return np.repeat(self.classes_, len(X))
        return self.classes_[self.training_.classifier.decide(self.preprocessing_.apply(X))]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated posteriors, a column for each of `classes_`."""
        X = self._rows(X)
        if self.training_ is None:
            return np.ones((len(X), 1))
        return self.training_.classifier.posteriors(self.preprocessing_.apply(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Logarithms of the posteriors, whose largest is the label; for two labels the difference of the two."""
        logarithms = np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))
        return logarithms[:, 1] - logarithms[:, 0] if logarithms.shape[1] == 2 else logarithms

    def _fit(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray, groups: np.ndarray | None) -> None:
        method = self._choices().method(plugin_manager(), self.feature_groups or ())
        self.training_: Training | None = None
        if len(self.classes_) < 2:
            return
        self.preprocessing_ = Preprocessing.fit(X, self.feature_groups, self.normalisation)
        examples = Examples.of(self.preprocessing_.apply(X), y, weights, groups)
        labels = [str(label) for label in self.classes_]
        self.training_ = train_classifier(examples, labels, method, taxonomy=self.taxonomy, jobs=self.n_jobs)

    def _choices(self) -> Choices:
        components = ("strategy", "kernel", "trainer", "calibrator", "criterion", "search", "large", "C", "folds")
        seed = 0 if self.random_state is None else int(self.random_state)
        said = {name: getattr(self, name) for name in (*components, "normalisation", "weigh_groups")}
        return Choices(**said, seed=seed)

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=np.float64, reset=False)


def _codes(groups: Any, n: int) -> np.ndarray:
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    if codes.shape != (n,):
        raise ValueError(f"groups has shape {np.shape(groups)} for {n} examples")
    return codes
