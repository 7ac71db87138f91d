"""A scikit-learn classifier over every strategy: calibrated posteriors, groups that never leak, components by name."""

from __future__ import annotations

import contextlib
import inspect
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from audioclass.contracts import TellsLabelsIndependently
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.errors import AudioclassError, UsageError
from audioclass.parameters import parameter_values, with_parameters
from audioclass.run import executor_for
from audioclass.threads import one_thread
from audioclass.training.assemble import Training
from audioclass.training.config import METHOD_OPTIONS, TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.group_weights import fit_preprocessing
from audioclass.training.train import train_classifier

SLOTS = tuple(option.name for option in METHOD_OPTIONS if option.kind)
DEFAULTS: dict[str, Any] = {
    **{option.name: option.default for option in METHOD_OPTIONS},
    "feature_groups": None,
    "taxonomy": None,
    "n_jobs": 1,
    "random_state": 0,
}


class AudioclassClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn ships no types
    """Machines of a strategy's plan, trained and calibrated together; a model trained here is `training_.classifier`.

    Parameters are the options of a training: components are names (`"one_vs_one"`, `"gaussian:sigma=2"`) or objects,
    and those of a component are set as `strategy__price`. `feature_groups` names the group of each column: groups weigh
    alike in distances. `groups` given to `fit` stay together in every fold that calibrates. `predict` is the label of
    the largest posterior; posteriors follow a strategy that has a decision of its own (the DAG, greedy paths).

    Learnt: `classes_`, `n_features_in_`, `feature_names_in_` where columns are named, `training_`.
    """

    def __init__(self, **parameters: Any) -> None:
        for name in parameters:
            if name not in DEFAULTS:
                raise TypeError(f"AudioclassClassifier has no parameter {name!r}")
        for name, default in DEFAULTS.items():
            setattr(self, name, parameters.get(name, default))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with `deep` those of every component too, as `component__parameter`."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        for slot in SLOTS if deep else ():
            with contextlib.suppress(AudioclassError):  # what is no component has no parameters, `fit` will say so
                nested = parameter_values(self._component(slot))
                parameters |= {f"{slot}__{name}": value for name, value in nested.items()}
        return parameters

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters, and those of components by `component__parameter`."""
        nested = {
            name: value for name, value in parameters.items() if name.partition("__")[0] in SLOTS and "__" in name
        }
        super().set_params(**{name: value for name, value in parameters.items() if name not in nested})
        for name, value in nested.items():
            slot, _, parameter = name.partition("__")
            setattr(self, slot, with_parameters(self._component(slot), {parameter: value}))
        return self

    def _component(self, slot: str) -> Any:
        kind = next(option.kind for option in METHOD_OPTIONS if option.name == slot)
        return make_run().component(kind, getattr(self, slot))

    @one_thread()
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
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

    @one_thread()
    def predict(self, X: Any) -> np.ndarray:
        """The label of each row, that of its largest posterior."""
        largest = self.predict_proba(X).argmax(axis=1)
        labels: np.ndarray = self.classes_[largest]
        return labels

    @one_thread()
    def predict_proba(self, X: Any) -> np.ndarray:
        """Calibrated posteriors, a column for each of `classes_`."""
        X = self._rows(X)
        if self.training_ is None:
            return np.ones((len(X), 1))
        return self.training_.classifier.posteriors(self.preprocessing_.apply(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Logarithms of the posteriors, whose largest is the label; for two labels the difference of the two."""
        logarithms = np.log(np.maximum(self.predict_proba(X), np.finfo(float).tiny))
        scores: np.ndarray = logarithms[:, 1] - logarithms[:, 0] if logarithms.shape[1] == 2 else logarithms
        return scores

    def _fit(self, X: np.ndarray, y: np.ndarray, weights: np.ndarray, groups: np.ndarray | None) -> None:
        seed = 0 if self.random_state is None else int(self.random_state)
        run = make_run(executor=executor_for(self.n_jobs or 1), cache=KEEP_NOTHING, seed=seed)
        stated = {option.name: getattr(self, option.name) for option in METHOD_OPTIONS}
        chosen = [name for name, value in stated.items() if value != DEFAULTS[name]]
        config = TrainingConfig.of({**stated, "recipe": None}, run, chosen=chosen)
        if isinstance(config.strategy, TellsLabelsIndependently):
            raise UsageError(f"strategy={config.strategy.name} tells labels that overlap, each row of y has one")
        self.training_: Training | None = None
        if len(self.classes_) < 2:
            return
        self.preprocessing_ = fit_preprocessing(
            X, y, groups, config, sample_weights=weights, feature_groups=self.feature_groups, seed=seed
        ).preprocessing
        self.training_ = train_classifier(
            Examples.of(self.preprocessing_.apply(X), y, weights, groups),
            [str(label) for label in self.classes_],
            config,
            run,
            taxonomy=self.taxonomy,
        )

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        rows: np.ndarray = validate_data(self, X, dtype=np.float64, reset=False)
        return rows


def _codes(groups: Any, n: int) -> np.ndarray:
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    if codes.shape != (n,):
        raise ValueError(f"groups has shape {np.shape(groups)} for {n} examples")
    return codes


def _signature() -> inspect.Signature:
    """The parameters as scikit-learn reads them off `__init__`."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter(name, keyword, default=default) for name, default in DEFAULTS.items()]
    return inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])


vars(AudioclassClassifier)["__init__"].__signature__ = _signature()
