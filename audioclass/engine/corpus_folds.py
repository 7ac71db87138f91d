"""The folds of a corpus: those that it publishes, or made so that they part no group."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from audioclass.data import Corpus
from audioclass.engine.datasets import Dataset
from audioclass.errors import CorpusError, UsageError, listed
from audioclass.label_sets import NO_LABEL
from audioclass.training.folds import fold_count, grouped_folds

N_FOLDS = 5
AUTO, GROUPS = "auto", "groups"


def folds_of(dataset: Dataset, stated: str = AUTO) -> np.ndarray:
    """The fold of each row: `auto` takes those of the corpus or makes five, `groups` leaves one group out, or a number.

    Groups stay together and labels are spread over the folds, but for folds of a corpus, which are taken as they are.
    """
    if dataset.is_multi_label:
        return _folds(*rarest_labels(dataset), dataset.groups, dataset.folds, stated)
    return _folds(dataset.labels, dataset.y, dataset.groups, dataset.folds, stated)


def rarest_labels(dataset: Dataset) -> tuple[Sequence[str], np.ndarray]:
    """Of labels that overlap, the rarest that holds in each row, by which folds are evened; all that hold none are one.

    Sets of labels may each be of a few groups, where no label is.
    """
    labels = dataset.single_labels
    holds = dataset.holds_among(labels)
    order = np.argsort(holds.sum(axis=0), kind="stable")
    return (*labels, NO_LABEL), np.where(holds.any(axis=1), order[holds[:, order].argmax(axis=1)], len(labels))


def folds_of_clips(corpus: Corpus, stated: str = AUTO) -> np.ndarray:
    """The same for the clips of a corpus, before any is read."""
    return _folds(corpus.labels, *_columns_of(corpus), stated)


def _folds(labels: Sequence[str], y: np.ndarray, groups: np.ndarray, published: np.ndarray, stated: str) -> np.ndarray:
    if stated == AUTO and (published != "").all():
        return _several(np.unique(published, return_inverse=True)[1], "folds")
    groups = np.unique(groups, return_inverse=True)[1]
    if stated == GROUPS:
        return _several(groups, "groups")
    wanted = N_FOLDS if stated == AUTO else _number(stated)
    count = fold_count(y, groups, wanted)
    if count < 2:
        short = [label for k, label in enumerate(labels) if len(np.unique(groups[y == k])) < 2]
        raise CorpusError(f"{_named('label', short)} a single group, at least 2 are needed for folds")
    return grouped_folds(y, groups, count)


def check_folds(corpus: Corpus, stated: str) -> None:
    """Refuse folds that cannot be trained on, and warn of published folds that part groups or are not of all clips."""
    y, groups, published = _columns_of(corpus)
    check_labels_of_folds(corpus.labels, y, _folds(corpus.labels, y, groups, published, stated))
    without = int((published == "").sum())
    if stated == AUTO and 0 < without < len(published):
        warnings.warn(
            f"{without} of {len(published)} clips have no fold: the folds of the corpus are not used, {N_FOLDS} others"
            " are made",
            stacklevel=2,
        )
    elif stated == AUTO and not without:
        _mention_parted_groups(groups, published)


def _columns_of(corpus: Corpus) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The label index, the group and the published fold of each clip."""
    place = {label: k for k, label in enumerate(corpus.labels)}
    y = np.array([place[clip.label] for clip in corpus.clips])
    groups = np.array([clip.held_out_with for clip in corpus.clips])
    return y, groups, np.array([clip.fold for clip in corpus.clips])


def _mention_parted_groups(groups: np.ndarray, published: np.ndarray) -> None:
    folds: dict[str, set[str]] = {}
    for group, fold in zip(groups.tolist(), published.tolist(), strict=True):
        folds.setdefault(group, set()).add(fold)
    parted = [f"{group!r} ({', '.join(sorted(names))})" for group, names in sorted(folds.items()) if len(names) > 1]
    if parted:
        stand = "group stands" if len(parted) == 1 else "groups stand"
        warnings.warn(
            f"{len(parted)} of {len(folds)} {stand} in several folds of the corpus: {listed(parted)}; the folds are"
            " taken as they are published, with recordings of these groups in training and test, which flatters the"
            f" figures; --folds {N_FOLDS} makes folds that part no group",
            stacklevel=2,
        )


def check_labels_of_folds(labels: Sequence[str], y: np.ndarray, folds: np.ndarray) -> None:
    """Refuse a label that all folds but one have none of: it could not be trained without that one."""
    alone = [label for k, label in enumerate(labels) if len(np.unique(folds[y == k])) == 1]
    if alone:
        raise CorpusError(f"{_named('label', alone, 'stands', 'stand')} in one fold only; the others have none of it")


def _named(what: str, names: Sequence[str], one: str = "has", several: str = "have") -> str:
    plural, verb = ("", one) if len(names) == 1 else ("s", several)
    return f"{what}{plural} {listed([repr(name) for name in names])} {verb}"


def _several(codes: np.ndarray, what: str) -> np.ndarray:
    if codes.max() < 1:
        raise CorpusError(f"the corpus has a single one of its {what}, at least 2 are needed")
    return codes


def _number(stated: str) -> int:
    if not stated.isdecimal() or int(stated) < 2:
        raise UsageError(f"folds {stated!r} must be {AUTO!r}, {GROUPS!r} or a number from 2 on")
    return int(stated)
