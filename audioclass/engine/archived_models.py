"""Models of an archive: their files are kept in it, so that it can be asked and cut anew wherever it lies."""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audioclass.audio.contours import cell_seconds
from audioclass.classifier.model import Model
from audioclass.classifier.projection import Projection
from audioclass.engine.archive_rows import now, table_of
from audioclass.engine.models import SUFFIX, ModelFile, model_path
from audioclass.engine.stream_windows import with_stream_windows
from audioclass.errors import AudioclassError, ModelError
from audioclass.index.schema import MODELS
from audioclass.index.snapshot import KnownModel, Snapshot
from audioclass.index.tables import Table
from audioclass.outputs import replacing
from audioclass.run import Run

ID_LENGTH = 12  # digits of the digest that tell the models of an archive apart


@dataclass(frozen=True, eq=False)
class ArchivedModel:
    """A model with what an archive knows of it; its file is read when the model is used."""

    known: KnownModel
    file: ModelFile
    projection: Projection

    @property
    def model(self) -> Model:
        """The model itself, with the windows that it classifies recordings with: the same for all of an archive."""
        return with_stream_windows(self.file.load())


def register_model(address: str, model: str | Path) -> ArchivedModel:
    """The model as the archive has it; its file is put there where it is not."""
    with model_path(model) as path:
        content = path.read_bytes()
    file, digest = ModelFile.of(model), hashlib.sha256(content).hexdigest()

    def absent(_version: object) -> Any:
        """Its row, unless somebody else was first."""
        is_there = _stored(Snapshot(address), digest) is not None
        return None if is_there else _row(with_stream_windows(file.load()), content, digest)

    stored = _stored(Snapshot(address), digest)
    if stored is None:
        Table.named(address, "models").commit(absent)
        stored = _stored(Snapshot(address), digest)
    if stored is None:
        raise AudioclassError(f"{address}: model {model} is gone while it was added")
    return ArchivedModel(stored[0], file, stored[1])


def _stored(snapshot: Snapshot, digest: str) -> tuple[KnownModel, Projection] | None:
    """What an archive holds of a model."""
    known = next((one for one in snapshot.models if one.digest == digest), None)
    return None if known is None else (known, _projection(snapshot, known))


def _row(model: Model, content: bytes, digest: str) -> Any:
    columns = {
        "model": [digest[:ID_LENGTH]],
        "name": [model.name],
        "digest": [digest],
        "labels": [list(model.labels)],
        "independent": [model.is_multi_label],
        "taxonomy": [json.dumps(model.taxonomy.leaf_paths)],
        "window_s": [model.recipe.window],
        "hop_s": [model.recipe.window_hop],
        "cell_s": [cell_seconds(model.recipe.framing.sample_rate)],
        "file": [content],
        "projection": [Projection.of(model).to_bytes()],
        "added_at": [now()],
    }
    return table_of(MODELS, columns)


@contextlib.contextmanager
def archived_model(snapshot: Snapshot, named: str | None, run: Run) -> Iterator[ArchivedModel]:
    """A model from its file in the archive, which is kept in the cache of the run, or while the context lasts."""
    known = snapshot.model(named)
    with _file_of(snapshot, known, run) as path:
        yield ArchivedModel(known, ModelFile.of(path), _projection(snapshot, known))


def _projection(snapshot: Snapshot, known: KnownModel) -> Projection:
    try:
        return Projection.of_bytes(snapshot.projection(known))
    except ValueError as error:
        raise ModelError(f"{snapshot.address}: the projection of model {known.name} is damaged: {error}") from error


@contextlib.contextmanager
def _file_of(snapshot: Snapshot, known: KnownModel, run: Run) -> Iterator[Path]:
    """The model as a file: that in the cache, if it is the model, else from the archive."""
    cached = None if run.cache is None else run.cache / "models" / f"{known.digest}{SUFFIX}"
    if cached is not None and _is_whole(cached, known):
        yield cached
        return
    content = snapshot.model_file(known)
    if hashlib.sha256(content).hexdigest() != known.digest:
        raise ModelError(f"{snapshot.address}: the file of model {known.name} ({known.id}) is damaged")
    if cached is not None and _is_kept(cached, content):
        yield cached
        return
    with tempfile.TemporaryDirectory(prefix="audioclass-") as folder:
        path = Path(folder) / f"{known.digest}{SUFFIX}"
        path.write_bytes(content)
        yield path


def _is_whole(path: Path, known: KnownModel) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == known.digest
    except OSError:
        return False


def _is_kept(path: Path, content: bytes) -> bool:
    """Whether a file could be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_bytes(content)
    except OSError:
        return False
    return True
