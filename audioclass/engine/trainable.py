"""What can be trained on: the rest is refused in one line that a user can act on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from audioclass.classifier.model import Model
from audioclass.engine.datasets import Dataset
from audioclass.errors import AudioclassError, CorpusError, UsageError
from audioclass.taxonomy import Taxonomy


@contextlib.contextmanager
def one_line_refusals() -> Iterator[None]:
    """What a component finds wrong with these examples becomes an error that a user can put right."""
    try:
        yield
    except AudioclassError:
        raise
    except ValueError as error:
        raise UsageError(f"cannot be trained so: {' '.join(str(error).split())}") from error


def check_labels(labels: Sequence[str], taxonomy: Taxonomy | None) -> None:
    """Refuse what cannot be trained on."""
    if len(labels) < 2:
        raise CorpusError(f"only the label {labels[0]!r} has recordings, at least 2 labels are needed")
    if taxonomy is not None:
        taxonomy.check_labels(labels)


def refuse_multi_label(model: Model, what: str) -> None:
    """Refuse a model whose labels overlap where that is not known how."""
    if model.is_multi_label:
        raise UsageError(f"{model.name}: its labels overlap, and such a model cannot be {what}; train it again")


def check_read(dataset: Dataset) -> None:
    """Refuse a corpus of whose labels one would be missing because none of its recordings could be read."""
    if not dataset.lost:
        return
    label = dataset.lost[0]
    files = {clip.file for clip in dataset.clips if clip.label == label}
    files |= {one.file for one in dataset.missing if label in one.labels}
    reasons = [reason for file, reason in dataset.failures if file in files]
    count = f"{len(reasons)} failed, such as " if len(reasons) > 1 else ""
    raise CorpusError(
        f"label {label!r}: none of its recordings could be read ({count}{reasons[0]});"
        " mend them, or take the label out of the corpus"
    )
