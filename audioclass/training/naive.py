"""What a split that leaks would claim: the same machines, held out example by example instead of group by group."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from audioclass.storage import Store
from audioclass.training.dichotomies import train_dichotomies
from audioclass.training.direct import train_direct
from audioclass.training.examples import Examples
from audioclass.training.train import Method, Training, assemble


def naive_posteriors(
    examples: Examples,
    method: Method,
    training: Training,
    *,
    jobs: int = 1,
    progress: Callable[[int, int], None] | None = None,
    store: Store | None = None,
) -> np.ndarray:
    """(n, n_labels) out-of-fold posteriors that ignore groups, with the kernels and dichotomies of a training."""
    apart = replace(examples, groups=np.arange(len(examples.y)))
    labels, plan = training.classifier.labels, training.classifier.plan
    if plan is None:
        [choice] = training.selected
        trained = train_direct(method.strategy, apart, len(labels), choice.kernel, choice.C, method.components, store)
        return method.strategy.combine(trained.held_out, trained.fitted)
    again = train_dichotomies(
        plan.dichotomies,
        apart,
        [result.kernel for result in training.trained],
        [result.C for result in training.trained],
        method.components,
        everywhere=True,
        jobs=jobs,
        progress=progress,
        store=store,
    )
    return assemble(apart, labels, method, plan, again).held_out
