"""The contract of a link from what a strategy says of the labels to logits."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from audioclass.numerics import log_loss, softmax
from audioclass.plain import is_plain
from audioclass.problems import LabelEvidence
from audioclass.testing.checks import COMMON, Check, repeated, require, require_close, require_refusal, unchanged


def _evidence(n: int = 300, n_labels: int = 4, seed: int = 0) -> tuple[LabelEvidence, np.ndarray, np.ndarray]:
    """Posteriors that are fainter than they may be, scores of targets ±1 beside them, labels, weights of one."""
    rng = np.random.default_rng(seed)
    z = rng.normal(0, 1.5, (n, n_labels))
    y = (softmax(z).cumsum(axis=1) < rng.random((n, 1))).sum(axis=1).clip(max=n_labels - 1)
    return LabelEvidence(softmax(z / 2), 2 * softmax(z) - 1 + rng.normal(0, 0.05, z.shape)), y, np.ones(n)


def _both(n: int = 300, seed: int = 0) -> list[tuple[LabelEvidence, np.ndarray, np.ndarray]]:
    """With the scores of labels, and of a strategy that has none."""
    evidence, y, weights = _evidence(n, seed=seed)
    return [(evidence, y, weights), (LabelEvidence(evidence.P), y, weights)]


def _arrays(evidence: LabelEvidence) -> list[np.ndarray]:
    return [part for part in (evidence.P, evidence.scores) if part is not None]


def fitted_numbers_are_plain(link: Any) -> None:
    """What it learns is plain numbers that JSON can hold."""
    for evidence, y, weights in _both():
        fitted = unchanged([*_arrays(evidence), y, weights], partial(link.fit, evidence, y, weights))
        require(is_plain(dict(fitted)), f"{fitted} holds something that JSON cannot")


def logits_are_finite(link: Any) -> None:
    """There are finite logits for each row and label, the same again to the bit."""
    for evidence, y, weights in _both():
        fitted = link.fit(evidence, y, weights)
        z = repeated(partial(unchanged, _arrays(evidence), partial(link.logits, evidence, fitted)), "logits")
        require(np.shape(z) == evidence.P.shape, f"shape {np.shape(z)} for posteriors of shape {evidence.P.shape}")
        require(bool(np.isfinite(z).all()), "NaN or infinite values")


def rows_are_by_themselves(link: Any) -> None:
    """The logits of a row are its own: it may come by itself or with others."""
    for evidence, y, weights in _both():
        fitted = link.fit(evidence, y, weights)
        some = link.logits(evidence.take(np.arange(3)), fitted)
        require_close(some, link.logits(evidence, fitted)[:3], 1e-12, "logits of some rows")


def labels_are_alike(link: Any) -> None:
    """Permuting the labels permutes the logits."""
    order = np.array([2, 0, 3, 1])
    for evidence, y, weights in _both():
        scores = None if evidence.scores is None else evidence.scores[:, order]
        other = LabelEvidence(evidence.P[:, order], scores)
        z = softmax(link.logits(evidence, link.fit(evidence, y, weights)))[:, order]
        permuted = softmax(link.logits(other, link.fit(other, np.argsort(order)[y], weights)))
        require_close(permuted, z, 1e-3, "posteriors of permuted labels")


def posteriors_fit_the_labels(link: Any) -> None:
    """On new rows it predicts labels better than their frequencies do, and no worse than faint posteriors."""
    for (evidence, y, weights), (new, truth, _) in zip(_both(2000), _both(2000, seed=1), strict=True):
        loss = log_loss(softmax(link.logits(new, link.fit(evidence, y, weights))), truth)
        before = log_loss(new.P, truth)
        require(loss < before, f"log-loss {loss:.3f}, {before:.3f} without the link")


def weight_two_is_twice(link: Any) -> None:
    """An example of weight 2 counts as two examples."""
    for evidence, y, weights in _both(60):
        heavy = weights.copy()
        heavy[evidence.P.argmax(axis=1) != y] = 2
        twice = np.repeat(np.arange(60), heavy.astype(int))
        weighted = link.logits(evidence, link.fit(evidence, y, heavy))
        again = link.logits(evidence, link.fit(evidence.take(twice), y[twice], np.ones(len(twice))))
        require_close(softmax(weighted), softmax(again), 1e-3, "posteriors")


def odd_posteriors_are_survived(link: Any) -> None:
    """Posteriors of 0 and 1, equal ones, and those that are always right are survived: logits stay finite."""
    y = np.arange(20) % 4
    for P in (np.eye(4)[y], np.full((20, 4), 0.25), np.eye(4)[(y + 1) % 4]):
        for evidence in (LabelEvidence(P), LabelEvidence(P, 2 * P - 1), LabelEvidence(P, 2000 * P - 1000)):
            z = link.logits(evidence, link.fit(evidence, y, np.ones(20)))
            require(bool(np.isfinite(z).all()), f"NaN or infinite values for posteriors of {np.unique(P)}")


def bad_evidence_is_refused(link: Any) -> None:
    """NaN posteriors and no rows at all are a ValueError."""
    evidence, y, weights = _both(20)[1]
    P = evidence.P.copy()
    P[3, 1] = np.nan
    require_refusal(lambda: link.fit(LabelEvidence(P), y, weights), "NaN")
    require_refusal(lambda: link.fit(evidence.take(np.arange(0)), y[:0], weights[:0]), "no row")


CHECKS: tuple[Check, ...] = (
    *COMMON,
    fitted_numbers_are_plain,
    logits_are_finite,
    rows_are_by_themselves,
    labels_are_alike,
    posteriors_fit_the_labels,
    weight_two_is_twice,
    odd_posteriors_are_survived,
    bad_evidence_is_refused,
)
