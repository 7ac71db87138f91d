"""The contracts as checks: one line in the tests of whoever writes a component, and in ours for every registered name.

    from audioclass.testing import check_kernel

    def test_laplacian_keeps_its_contract():
        check_kernel(Laplacian())

`check_kernel` runs every check of the contract and raises one AssertionError that lists those that fail.
"""

from __future__ import annotations

from typing import Any

from audioclass.testing import (
    calibrators,
    commands,
    corpus_readers,
    criteria,
    descriptors,
    direct_strategies,
    embeddings,
    fitted_poolings,
    formats,
    kernels,
    links,
    poolings,
    searches,
    smoothers,
    strategies,
    trainers,
)
from audioclass.testing.checks import Check, CheckFailed, CheckResult, require_checks, run_checks

__all__ = [
    "CHECKS",
    "CheckFailed",
    "CheckResult",
    "check_calibrator",
    "check_command",
    "check_component",
    "check_corpus_reader",
    "check_criterion",
    "check_descriptor",
    "check_direct_strategy",
    "check_embedding",
    "check_fitted_pooling",
    "check_format",
    "check_kernel",
    "check_link",
    "check_pooling",
    "check_search",
    "check_smoother",
    "check_strategy",
    "check_trainer",
    "run_checks",
]

CHECKS: dict[str, tuple[Check, ...]] = {
    "descriptor": descriptors.CHECKS,
    "embedding": embeddings.CHECKS,
    "pooling": poolings.CHECKS,
    "kernel": kernels.CHECKS,
    "trainer": trainers.CHECKS,
    "calibrator": calibrators.CHECKS,
    "strategy": strategies.CHECKS,
    "direct_strategy": direct_strategies.CHECKS,
    "link": links.CHECKS,
    "criterion": criteria.CHECKS,
    "search": searches.CHECKS,
    "smoother": smoothers.CHECKS,
    "format": formats.CHECKS,
    "corpus_reader": corpus_readers.CHECKS,
    "command": commands.CHECKS,
}


def check_component(kind: str, component: Any) -> None:
    """Check a component of any kind."""
    require_checks(component, CHECKS[kind])


def check_descriptor(descriptor: Any) -> None:
    """A descriptor gives finite rows that depend on their frames alone."""
    check_component("descriptor", descriptor)


def check_embedding(embedding: Any) -> None:
    """An embedding gives one finite vector for any window."""
    check_component("embedding", embedding)


def check_pooling(pooling: Any) -> None:
    """A pooling summarises each window by itself; one that learns is checked as such."""
    check_component("pooling", pooling)


def check_fitted_pooling(pooling: Any) -> None:
    """A fitted pooling learns small arrays, the same for a seed, and summarises each window by itself to the bit."""
    require_checks(pooling, fitted_poolings.CHECKS)


def check_kernel(kernel: Any) -> None:
    """A kernel is symmetric, keeps its Mercer statement, and its gradients are right."""
    check_component("kernel", kernel)


def check_trainer(trainer: Any) -> None:
    """A trainer tells two sides apart, respects weights, and returns arrays."""
    check_component("trainer", trainer)


def check_calibrator(calibrator: Any) -> None:
    """A calibrator gives probabilities that fit the labels and never fall as the score rises."""
    check_component("calibrator", calibrator)


def check_strategy(strategy: Any) -> None:
    """A strategy plans sound dichotomies and combines their answers into posteriors."""
    check_component("strategy", strategy)


def check_direct_strategy(strategy: Any) -> None:
    """A direct strategy tells all labels apart and gives posteriors."""
    check_component("direct_strategy", strategy)


def check_link(link: Any) -> None:
    """A link gives logits that fit the labels, each row by itself, the same for every order of labels."""
    check_component("link", link)


def check_criterion(criterion: Any) -> None:
    """A criterion prefers truth to chance, and its gradient is right."""
    check_component("criterion", criterion)


def check_search(search: Any) -> None:
    """A search finds a good point inside the space and keeps its whole trace."""
    check_component("search", search)


def check_smoother(smoother: Any) -> None:
    """A smoother keeps posteriors posteriors."""
    check_component("smoother", smoother)


def check_format(format: Any) -> None:  # noqa: A002 (the word of the command line)
    """A label format writes every segment and, where it reads, gives back exactly what it wrote."""
    check_component("format", format)


def check_corpus_reader(reader: Any) -> None:
    """A corpus reader knows, writes and reads its own layout."""
    check_component("corpus_reader", reader)


def check_command(command: Any) -> None:
    """A command explains itself and refuses what it does not know."""
    check_component("command", command)
