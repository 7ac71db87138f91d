"""Bags: what each member of an ensemble sees, groups drawn with replacement (specification 14.1).

Examples of a group are drawn together or not at all, so that who did not see a group knows nothing of it. A group is
in a bag with probability 1-(1-1/G)^G, about 63 %.
"""

from __future__ import annotations

import numpy as np

MOST_DRAWS = 100  # of one bag: with one label alone it teaches nothing


def draw_bags(y: np.ndarray, groups: np.ndarray, n_bags: int, rng: np.random.Generator) -> np.ndarray:
    """How often each example stands in each bag, (n_bags, n); every bag holds two labels at least."""
    group_of = np.unique(groups, return_inverse=True)[1]
    return np.stack([_draw_bag(y, group_of, rng) for _ in range(n_bags)])


def _draw_bag(y: np.ndarray, group_of: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n_groups = group_of.max() + 1
    for _ in range(MOST_DRAWS):
        drawn: np.ndarray = np.bincount(rng.integers(n_groups, size=n_groups), minlength=n_groups)[group_of]
        if len(np.unique(y[drawn > 0])) > 1:
            return drawn
    raise ValueError(f"{MOST_DRAWS} bootstrap samples of {n_groups} groups held one label each")
