"""A corpus read by the reader of its layout, with every reader and label format that there is."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from audioclass.contracts import CorpusReader, LabelFormat, UsesFormats
from audioclass.corpora.choosing import read_corpus
from audioclass.data import Corpus
from audioclass.errors import PluginError, UsageError
from audioclass.outputs import refuse_inputs
from audioclass.parameters import parse_assignments
from audioclass.recordings import is_recording
from audioclass.run import Registry, Run
from audioclass.taxonomy import Taxonomy


def read_corpus_at(path: str | Path, run: Run, reader: str | None = None, settings: Sequence[str] = ()) -> Corpus:
    """The corpus at a path, by the reader whose layout it has, or by the one that is named.

    Refused before any work where an output of the run is one of its files.
    """
    corpus = read_corpus(Path(path), corpus_readers(run.registry, reader, settings))
    refuse_inputs(run.outputs, (Path(path), *files_of(corpus)))
    return corpus


def files_of(corpus: Corpus) -> Iterator[Path]:
    """The files of a corpus: what says its labels, and its recordings, those that are left out among them."""
    yield from corpus.sources
    yield from (clip.file for clip in corpus.clips)
    yield from (one.file for one in corpus.ignored if is_recording(one.file))


def corpus_readers(registry: Registry, reader: str | None = None, settings: Sequence[str] = ()) -> list[CorpusReader]:
    """Every reader there is, or only the one that is named, with settings such as `esc10=true`.

    A reader of label files is handed every format that loads.
    """
    if reader:
        values = parse_assignments(registry.load("corpus_reader", reader), settings)
        readers = [registry.make("corpus_reader", reader, values)]
    elif settings:
        raise UsageError(f"{settings[0]!r} is for one reader; name it with --reader")
    else:
        return [one for name in registry.names("corpus_reader") if (one := _reader_if_it_works(registry, name))]
    return [_with_formats(one, registry) for one in readers]


def _reader_if_it_works(registry: Registry, name: str) -> CorpusReader | None:
    """The reader of a name that nobody asked for; None where its plugin fails, which is told."""
    try:
        return _with_formats(registry.make("corpus_reader", name), registry)
    except PluginError as error:
        warnings.warn(f"{error}; corpora are read without it", stacklevel=2)
        return None


def _with_formats(reader: CorpusReader, registry: Registry) -> CorpusReader:
    return reader.with_formats(label_formats(registry)) if isinstance(reader, UsesFormats) else reader


def label_formats(registry: Registry) -> list[LabelFormat]:
    """Every format; one that does not load is in the manager's quarantine, with the reason."""
    formats: list[LabelFormat] = []
    for name in registry.names("format"):
        with contextlib.suppress(PluginError):
            formats.append(registry.make("format", name))
    return formats


def tree_for(
    corpus: Corpus, labels: Sequence[str], asked: Taxonomy | Literal["learn"] | None = None
) -> Taxonomy | None:
    """The taxonomy that was asked for: one that is given, none where it is to be learnt, else the corpus's own."""
    if asked is not None:
        return None if isinstance(asked, str) else asked
    paths = [path for path in corpus.paths if path[-1] in labels]
    return Taxonomy.of_paths(paths) if any(len(path) > 1 for path in paths) else None
