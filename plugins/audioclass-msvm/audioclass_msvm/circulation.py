"""Dual coefficients whose columns sum to 0, from some whose columns nearly do.

Seen from the labels, α is a flow: A_kl, the sum of α_il over the examples of label k, runs from k to l, and Σ_i β_ik is
what leaves k less what arrives there. A flow is a sum of cycles and of paths from labels that give too much to labels
that get too much; without the paths it is balanced, and no coefficient has grown.
"""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-15  # of all flow: less than this is none


def balance(beta: np.ndarray, y: np.ndarray) -> np.ndarray:
    """β with the α of each pair of labels made smaller by one factor, so that every column sums to 0."""
    n_labels = beta.shape[1]
    of_label = np.eye(n_labels, dtype=bool)[y]
    alpha = np.where(of_label, 0, -beta)
    flow = of_label.T.astype(np.float64) @ alpha
    balanced = without_paths(flow)
    alpha *= np.divide(balanced, flow, out=np.ones_like(flow), where=flow > 0)[y]
    return np.where(of_label, alpha.sum(axis=1, keepdims=True), -alpha)


def without_paths(flow: np.ndarray) -> np.ndarray:
    """The flow (Q, Q) less its shortest paths from labels that give more than they get, until there are none."""
    flow, least = flow.copy(), ROUNDING * flow.sum()
    while True:
        surplus = flow.sum(axis=1) - flow.sum(axis=0)
        giver = int(surplus.argmax())
        path = shortest_path(flow > least, giver, surplus < -least) if surplus[giver] > least else []
        if not path:
            return flow
        arcs = (path[:-1], path[1:])
        flow[arcs] -= min(surplus[giver], -surplus[path[-1]], flow[arcs].min())


def shortest_path(arcs: np.ndarray, start: int, goals: np.ndarray) -> list[int]:
    """Labels from `start` to the nearest of the `goals` along `arcs`, (Q, Q) of truth values; empty where none is."""
    paths = {start: [start]}
    front = [start]
    for label in front:  # which grows: the nearest are reached first
        reached = [after for after in np.flatnonzero(arcs[label]).tolist() if after not in paths]
        for after in reached:
            paths[after] = [*paths[label], after]
            if goals[after]:
                return paths[after]
        front += reached
    return []
