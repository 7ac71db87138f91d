"""Sets at a stated risk that are nodes of a tree: a label, a group of labels, or all of them.

The nodes that hold the likeliest label of a row lie within one another, from that label alone to all labels. The set is
the smallest whose posterior, the sum over its labels, is above a threshold. The nonconformity of a row with its true
label is the posterior of the largest of these nodes that lacks it, 0 where it is the likeliest; the threshold leaves a
share of at most the risk of the training groups that were held out beyond it, as with sets of labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from audioclass.classifier.risk import RISK_MEMBERS, Risk
from audioclass.taxonomy import Taxonomy

NODES_MEMBERS = ("nodes", *RISK_MEMBERS)
MOST_NODES = 2**13


@dataclass(frozen=True, eq=False)
class NodeRisk:
    """The groups of a tree as (n_groups, n_labels) marks of what is in each, and what their sets are calibrated on.

    Groups of a single label and of all need no row.
    """

    nodes: np.ndarray
    risk: Risk

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, np.ndarray], n_labels: int) -> NodeRisk:
        """From arrays by name; a ValueError where they cannot be those of a tree of so many labels and its risk."""
        nodes = arrays["nodes"]
        if nodes.dtype != np.bool_ or nodes.ndim != 2 or nodes.shape[1] != n_labels or len(nodes) > MOST_NODES:
            raise ValueError(f"nodes of {nodes.dtype} and {nodes.shape} for {n_labels} labels")
        return cls(nodes, Risk.of_arrays(arrays))

    def arrays(self) -> dict[str, np.ndarray]:
        """Every array by its name."""
        return {"nodes": self.nodes, **self.risk.arrays()}

    def members_of(self, P: np.ndarray, threshold: float) -> np.ndarray:
        """(n, n_labels): whether each label is in the node of each row."""
        inside = np.ones(P.shape, bool)
        for rows, chain in _chains_of_rows(P, self.nodes):
            # Thresholds are kept in single precision: a label at the border is within.
            is_enough = _posteriors_of(chain, P[rows]) > threshold + 1e-6
            has_one = is_enough.any(axis=1)
            inside[rows[has_one]] = chain[is_enough.argmax(axis=1)[has_one]]
        return inside


def marks_of_groups(taxonomy: Taxonomy, labels: Sequence[str]) -> np.ndarray:
    """(n_groups, n_labels): which labels are in each group of a taxonomy but that of all."""
    groups = [node.labels for node in taxonomy.groups if len(node.labels) < len(labels)]
    return np.array([[label in group for label in labels] for group in groups], bool).reshape(-1, len(labels))


def node_nonconformities(P: np.ndarray, y: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """(n,): the posterior of the largest node on the path of the likeliest label that lacks the true one."""
    values = np.zeros(len(P))
    for rows, chain in _chains_of_rows(P, nodes):
        lacks = ~chain[:, y[rows]].T
        values[rows] = np.where(lacks, _posteriors_of(chain, P[rows]), 0).max(axis=1)
    return np.clip(values, 0, 1)


def _chains_of_rows(P: np.ndarray, nodes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each label that is the likeliest somewhere, those rows, and the nodes that hold it from the smallest up."""
    likeliest = P.argmax(axis=1)
    labels = np.unique(likeliest).tolist()
    return [(np.flatnonzero(likeliest == label), _chain(label, nodes)) for label in labels]


def _posteriors_of(chain: np.ndarray, P: np.ndarray) -> np.ndarray:
    """(n, n_nodes): the posteriors of the nodes in a chain, each row the same however many come with it."""
    return np.stack([np.take(P, np.flatnonzero(node), axis=1).sum(axis=1) for node in chain], axis=1)


def _chain(label: int, nodes: np.ndarray) -> np.ndarray:
    """(n, n_labels) marks: the label alone, then the nodes that hold it, each around the one before.

    Where a label stands in groups that overlap, the smallest is taken, and what does not lie around it is passed by.
    """
    alone = np.zeros(nodes.shape[1], bool)
    alone[label] = True
    chain = [alone]
    holding = nodes[nodes[:, label]]
    for node in holding[np.argsort(holding.sum(axis=1), kind="stable")]:
        if node[chain[-1]].all() and node.sum() > chain[-1].sum():
            chain.append(node)
    return np.array(chain)
