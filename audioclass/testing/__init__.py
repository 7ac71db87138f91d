"""The contracts as checks: one line in the tests of whoever writes a piece, and in ours for every registered name.

    from audioclass.testing import check_kernel

    def test_laplacian_keeps_its_contract():
        check_kernel(Laplacian())

A check runs every law of the contract and raises one AssertionError that lists those that are broken.
"""

from __future__ import annotations

from typing import Any

from audioclass.testing import (
    calibrators,
    corpus_readers,
    criteria,
    descriptors,
    direct_strategies,
    embeddings,
    exports,
    kernels,
    poolings,
    searches,
    smoothers,
    strategies,
    trainers,
)
from audioclass.testing.laws import Law, Verdict, check, judge

LAWS: dict[str, tuple[Law, ...]] = {
    "descriptor": descriptors.LAWS,
    "embedding": embeddings.LAWS,
    "pooling": poolings.LAWS,
    "kernel": kernels.LAWS,
    "trainer": trainers.LAWS,
    "calibrator": calibrators.LAWS,
    "strategy": strategies.LAWS,
    "direct_strategy": direct_strategies.LAWS,
    "criterion": criteria.LAWS,
    "search": searches.LAWS,
    "smoother": smoothers.LAWS,
    "export": exports.LAWS,
    "corpus_reader": corpus_readers.LAWS,
}


def judge_piece(kind: str, piece: Any) -> list[Verdict]:
    """The verdict of every law of the contract, for those who want to show them all."""
    return judge(piece, LAWS[kind])


def check_piece(kind: str, piece: Any) -> None:
    """Check a piece of any kind."""
    check(piece, LAWS[kind])


def check_descriptor(descriptor: Any) -> None:
    """A descriptor gives finite rows that depend on their frames alone."""
    check_piece("descriptor", descriptor)


def check_embedding(embedding: Any) -> None:
    """An embedding gives one finite vector for any window."""
    check_piece("embedding", embedding)


def check_pooling(pooling: Any) -> None:
    """A pooling summarises each window by itself."""
    check_piece("pooling", pooling)


def check_kernel(kernel: Any) -> None:
    """A kernel is symmetric, keeps its Mercer statement, and its gradients are right."""
    check_piece("kernel", kernel)


def check_trainer(trainer: Any) -> None:
    """A trainer tells two sides apart, respects weights, and returns arrays."""
    check_piece("trainer", trainer)


def check_calibrator(calibrator: Any) -> None:
    """A calibrator gives probabilities that fit the labels and never fall as the score rises."""
    check_piece("calibrator", calibrator)


def check_strategy(strategy: Any) -> None:
    """A strategy plans sound dichotomies and combines their answers into posteriors."""
    check_piece("strategy", strategy)


def check_direct_strategy(strategy: Any) -> None:
    """A direct strategy tells all labels apart and gives posteriors."""
    check_piece("direct_strategy", strategy)


def check_criterion(criterion: Any) -> None:
    """A criterion prefers truth to chance, and its gradient is right."""
    check_piece("criterion", criterion)


def check_search(search: Any) -> None:
    """A search finds a good point inside the space and keeps its whole trace."""
    check_piece("search", search)


def check_smoother(smoother: Any) -> None:
    """A smoother keeps posteriors posteriors."""
    check_piece("smoother", smoother)


def check_export(export: Any) -> None:
    """An export writes every segment, and reads back what it wrote where it can."""
    check_piece("export", export)


def check_corpus_reader(reader: Any) -> None:
    """A corpus reader knows, writes and reads its own layout."""
    check_piece("corpus_reader", reader)
