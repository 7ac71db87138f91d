"""Which recordings a model was trained on, and what that means for those that come to it later.

A recording is known by its content, whatever its name; a group by its name. Two groups of one name are one group, also
where two corpora mean different things by it: held out together they cost a little certainty, apart they could make
the report of a speaker, or of a recording, that was trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audioclass.classifier.bank import Bank
from audioclass.classifier.model import Memory, Model, TrainedRecordings
from audioclass.engine.datasets import Dataset

FORGOT = "is older than the names of recordings in models: one that it was trained on cannot be recognised"
SAME = 1e-6  # mean squared difference of the features of a window that was computed twice: those of others are about 1


def remember(dataset: Dataset) -> TrainedRecordings:
    """The recordings of a corpus, and for each of its windows which one it is of and when."""
    names, groups = np.unique(dataset.groups, return_inverse=True)
    contents = [dataset.contents.get(clip.file, b"") or str(clip.file).encode() for clip in dataset.clips]
    place = {content: i for i, content in enumerate(dict.fromkeys(contents[i] for i in dataset.which))}
    rows = np.array([place[contents[i]] for i in dataset.which], dtype=np.int64)
    group_of = np.zeros(len(place), dtype=np.int64)
    group_of[rows[::-1]] = groups[::-1]  # the first where a recording stands twice in the corpus
    times = np.array([(segment.start, segment.end) for segment in dataset.segments]).reshape(-1, 2)
    digests = np.frombuffer(b"".join(content[:16].ljust(16, b"\0") for content in place), np.uint8).reshape(-1, 16)
    return TrainedRecordings(tuple(map(str, names)), digests, group_of, rows, times)


def trained_on(model: Model, dataset: Dataset) -> np.ndarray:
    """(n,): whether each window is of a recording that the model was trained on, as far as the model remembers."""
    if model.recordings is None or not len(dataset.X):
        return np.zeros(len(dataset.X), dtype=bool)
    recordings = remember(dataset)
    known = {digest.tobytes() for digest in model.recordings.digests}
    is_known = np.array([digest.tobytes() in known for digest in recordings.digests], dtype=bool)
    return np.asarray(is_known[recordings.rows])


def remembers_recordings(model: Model) -> bool:
    """Whether the model can tell each recording that it was trained on; not where it is older than such names."""
    return model.recordings is not None and not (model.recordings.rows < 0).any()


def count_recordings(dataset: Dataset, rows: np.ndarray) -> int:
    """How many recordings some of the windows are of."""
    return len({dataset.clips[i].file for i in dataset.which[rows]})


@dataclass(frozen=True, eq=False)
class Joined:
    """The rows that a model remembers and those of a corpus, as one set of examples.

    `stays` tells which of the remembered rows nothing takes the place of; they come first. `groups` and `recordings`
    are of the rows that stay and of those added, `is_known` of the added: of a recording that was trained on before.
    """

    stays: np.ndarray
    groups: np.ndarray
    recordings: TrainedRecordings
    is_known: np.ndarray
    remarks: tuple[str, ...]


def join(old: Model, bank: Bank, memory: Memory, dataset: Dataset) -> Joined:
    """What a model remembers and a corpus that is added to it.

    A recording of both is counted once: its windows take the place of those remembered, and its groups are one.
    """
    before, added = old.recordings or _unnamed(old, memory), remember(dataset)
    numbers, names = _numbered(before, added.names)
    leaders = _Leaders(len(names))
    stays, is_known = np.ones(len(bank.X), dtype=bool), np.zeros(len(dataset.X), dtype=bool)
    place = {digest.tobytes(): i for i, digest in enumerate(before.digests)}
    matched = {j: place[d.tobytes()] for j, d in enumerate(added.digests) if d.tobytes() in place}
    for j, i in matched.items():
        leaders.join(numbers[added.groups[j]], int(before.groups[i]))
        windows = added.rows == j
        is_known |= windows
        stays &= ~((before.rows == i) & _overlaps(before.times, added.times[windows]))
    if (before.rows < 0).any():
        for row, same in _same_rows(old, bank, dataset):
            recording = added.rows[row]
            leaders.join(numbers[added.groups[recording]], int(memory.groups[same]))
            stays[same], is_known[added.rows == recording] = False, True
    merged = _merged(before, added, matched, stays, [leaders.of(numbers[g]) for g in added.groups], leaders, names)
    of_added = np.array(numbers, dtype=int)[added.groups[added.rows]]
    groups = np.concatenate([leaders.all(memory.groups[stays]), leaders.all(of_added)])
    remarks = tuple(_remarks(before, added, dataset, is_known))
    return Joined(stays, *_renumbered(groups, merged, leaders), is_known, remarks)


def _unnamed(old: Model, memory: Memory) -> TrainedRecordings:
    """What a model of before groups had names tells: numbers."""
    n = int(memory.groups.max(initial=-1)) + 1
    nothing = np.zeros((0, 16), np.uint8)
    rows = np.full(len(memory.y), -1)
    names = tuple(f"group {i} of {old.name}, whose name is not known" for i in range(n))
    return TrainedRecordings(names, nothing, np.zeros(0, np.int64), rows, np.zeros((len(rows), 2)))


def _numbered(before: TrainedRecordings, added: Sequence[str]) -> tuple[list[int], list[str]]:
    """The number of each added group, that of the group that has or had the same name, and the names of all numbers."""
    known = {**before.aliases, **{name: i for i, name in enumerate(before.names)}}
    names = [*before.names, *(name for name in added if name not in known)]
    numbers = known | {name: i for i, name in enumerate(names)}
    return [numbers[name] for name in added], names


class _Leaders:
    """Groups that turned out to be one have the lowest of their numbers."""

    def __init__(self, n: int) -> None:
        self._leader = list(range(n))

    def of(self, group: int) -> int:
        while self._leader[group] != group:
            group = self._leader[group]
        return group

    def all(self, groups: np.ndarray) -> np.ndarray:
        return np.array([self.of(int(group)) for group in groups], dtype=np.int64)

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.of(one), self.of(other)))
        self._leader[high] = low


def _overlaps(times: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n,): whether each stretch of time meets any of the others."""
    if not len(others):
        return np.zeros(len(times), dtype=bool)
    order = np.argsort(others[:, 0])
    latest = np.maximum.accumulate(others[order, 1])
    place = np.searchsorted(others[order, 0], times[:, 1])  # those that begin before it ends
    return np.asarray((place > 0) & (latest[np.maximum(place - 1, 0)] > times[:, 0]))


def _same_rows(old: Model, bank: Bank, dataset: Dataset) -> Iterator[tuple[int, int]]:
    """Added windows whose features a model remembers: all that tells of a recording where no digest does."""
    first_versions = dataset.X[:, : old.preprocessing.n_features]
    X, B = old.preprocessing.apply(first_versions), bank.X.astype(np.float64)
    squares, farthest = (B**2).sum(axis=1), SAME * max(X.shape[1], 1)
    if bank.levels is not None:  # a row lies within half a step of what is kept of it
        farthest = max(farthest, float((bank.levels.step.astype(np.float64) ** 2).sum()) / 4)
    for first in range(0, len(X), 256):
        block = X[first : first + 256]
        distances = (block**2).sum(axis=1)[:, None] + squares - 2 * block @ B.T
        for row, same in zip(*np.nonzero(distances <= farthest), strict=True):
            yield first + int(row), int(same)


def _merged(
    before: TrainedRecordings,
    added: TrainedRecordings,
    matched: dict[int, int],
    stays: np.ndarray,
    added_groups: Sequence[int],
    leaders: _Leaders,
    names: Sequence[str],
) -> TrainedRecordings:
    """The recordings of both, each once, and of which each row is."""
    new = [j for j in range(len(added.digests)) if j not in matched]
    place = matched | {j: len(before.digests) + k for k, j in enumerate(new)}
    placed = np.array([place[j] for j in range(len(added.digests))], dtype=np.int64)
    return TrainedRecordings(
        tuple(names),
        np.concatenate([before.digests, added.digests[new]]),
        np.concatenate([leaders.all(before.groups), np.array([added_groups[j] for j in new], dtype=np.int64)]),
        np.concatenate([before.rows[stays], placed[added.rows]]),
        np.concatenate([before.times[stays], added.times]),
        before.aliases,
    )


def _renumbered(
    groups: np.ndarray, recordings: TrainedRecordings, leaders: _Leaders
) -> tuple[np.ndarray, TrainedRecordings]:
    """Groups in use numbered without gaps, in their order, those that no row is of after them.

    The name of a group that is one with another stays as an alias.
    """
    used = list(dict.fromkeys([*np.unique(groups).tolist(), *np.unique(recordings.groups).tolist()]))
    number = {group: i for i, group in enumerate(used)}
    names = tuple(recordings.names[group] for group in used)
    every = {**recordings.aliases, **{name: i for i, name in enumerate(recordings.names)}}
    leading = {name: leaders.of(i) for name, i in every.items()}
    aliases = {name: number[i] for name, i in leading.items() if i in number and recordings.names[i] != name}
    renumbered = np.array([number[int(g)] for g in recordings.groups], dtype=np.int64)
    of_rows = np.array([number[int(g)] for g in groups], dtype=np.int64)
    return of_rows, replace(recordings, names=names, groups=renumbered, aliases=aliases)


def _remarks(
    before: TrainedRecordings, added: TrainedRecordings, dataset: Dataset, is_known: np.ndarray
) -> Iterator[str]:
    if is_known.any():
        n, total = count_recordings(dataset, is_known), count_recordings(dataset, np.ones(len(is_known), dtype=bool))
        yield (
            f"{n} of {total} recordings are in the model already: they count once, their windows take the place of"
            " those that it remembers"
        )
    new = {added.names[group] for group in added.groups[np.unique(added.rows[~is_known])]}
    same = sorted(new & {*before.names, *before.aliases})
    if same:
        shown = ", ".join(same[:3]) + (", …" if len(same) > 3 else "")
        yield f"{len(same)} groups have the name of a group in the model ({shown}): each is held out as one"
    if (before.rows < 0).any() and not is_known.all():
        yield (
            "the model was first written before models kept the names of groups: a speaker or recording of both may"
            " stand on both sides of a fold, and make the figures too good; train again on both corpora to be sure"
        )
