"""Which reader reads a path: of those whose layout it looks like, the most specific."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from audioclass.contracts import CorpusReader, StatesGenerality
from audioclass.data import Clip, Corpus
from audioclass.errors import CorpusError, PluginError, UsageError
from audioclass.recordings import ABSENT, irregularity


def read_corpus(path: Path, readers: Sequence[CorpusReader]) -> Corpus:
    """The corpus at a path, by the reader whose layout it has; groups that share a recording are one group."""
    corpus = choose_reader(path, readers).read(path)
    if not corpus.clips:
        first = next((f", such as {one.file}: {one.reason}" for one in corpus.ignored), "")
        raise CorpusError(f"{path}: no labelled recording; {len(corpus.ignored)} files ignored{first}")
    return replace(corpus, clips=with_joined_groups(corpus.clips))


def choose_reader(path: Path, readers: Sequence[CorpusReader]) -> CorpusReader:
    """The reader of the lowest generality among those that match; two of the same are an error that names both.

    A single reader was chosen already: it says itself what is wrong with the path.
    """
    if irregularity(path) == ABSENT:
        raise UsageError(f"{path}: no such file or folder")
    if len(readers) == 1:
        return readers[0]
    for _, alike in groupby(sorted(readers, key=generality), key=generality):
        matching = [reader for reader in alike if _matches(reader, path)]
        if len(matching) > 1:
            names = " and like ".join(reader.name for reader in matching)
            raise UsageError(f"{path}: looks like {names}; choose one with --reader")
        if matching:
            return matching[0]
    raise CorpusError(f"{path}: no corpus that a reader knows; {_layouts(readers)}")


def _matches(reader: CorpusReader, path: Path) -> bool:
    """Whether a reader takes the path for its layout; a plugin's reader that cannot say does not, and is named."""
    try:
        return bool(reader.matches(path))
    except PluginError as error:
        warnings.warn(f"{error}; the corpus is read without it", stacklevel=2)
        return False


def generality(reader: CorpusReader) -> int:
    """How easily a folder of another layout is taken for one of this reader's; 0 where it does not say."""
    try:
        return reader.generality if isinstance(reader, StatesGenerality) else 0
    except PluginError:  # a reader that fails here fails to look at the path too, or can be taken at its word
        return 0


def with_joined_groups(clips: Sequence[Clip]) -> tuple[Clip, ...]:
    """The same clips, in which groups that share a recording have the name of the first of them.

    A recording of two speakers makes one group of both: else its windows could stand on both sides of a fold.
    """
    leaders: dict[str, str] = {}
    groups: dict[Path, str] = {}
    for clip in clips:
        first = _leader(leaders, groups.setdefault(clip.file, clip.group))
        leaders[_leader(leaders, clip.group)] = first
    return tuple(replace(clip, group=_leader(leaders, clip.group)) for clip in clips)


def _leader(leaders: dict[str, str], group: str) -> str:
    """The group that stands for all that are joined with this one; paths to it are halved on the way (union-find)."""
    while leaders.setdefault(group, group) != group:
        leaders[group] = leaders[leaders[group]]
        group = leaders[group]
    return group


def _layouts(readers: Sequence[CorpusReader]) -> str:
    """What each layout looks like, as its class says."""
    summaries = [(reader.name, (inspect.getdoc(type(reader)) or "").split("\n")[0].rstrip(".")) for reader in readers]
    return "known are " + "; ".join(f"{name} ({summary})" for name, summary in sorted(summaries))
