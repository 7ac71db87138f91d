"""Rounds of a strategy that plans more once it has seen held-out answers, checked before anything is trained."""

from __future__ import annotations

import numpy as np

from audioclass.contracts import Strategy
from audioclass.problems import Plan, Round

MOST_ROUNDS = 100


def check_round(strategy: Strategy, plan: Plan, following: Round, n_examples: int) -> Round:
    """The round; a ValueError where it drops what is trained, adds nothing, or weighs examples that are not there."""
    where, n_trained = f"strategy {strategy.name!r}, plan_next", len(plan.dichotomies)
    n_new = len(following.plan.dichotomies) - n_trained
    if following.plan.dichotomies[:n_trained] != plan.dichotomies:
        raise ValueError(f"{where}: the plan must begin with the {n_trained} dichotomies that are trained")
    if n_new < 1:
        raise ValueError(f"{where}: the plan has no new dichotomy, None ends the rounds")
    importance = following.importance
    if importance is None:
        return following
    if importance.shape != (n_examples, n_new):
        raise ValueError(f"{where}: importance has shape {importance.shape}, must be {(n_examples, n_new)}")
    if not (np.isfinite(importance) & (importance >= 0)).all():
        raise ValueError(f"{where}: importance must be finite and at least 0")
    return following
