"""Models of an archive: their files are kept in it, so that it can be asked and cut anew wherever it lies."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audioclass.classifier.model import Model
from audioclass.classifier.projection import Projection
from audioclass.engine.archive_rows import now, table_of
from audioclass.engine.models import SUFFIX, ModelFile, loaded, model_path
from audioclass.errors import ModelError
from audioclass.index.schema import MODELS
from audioclass.index.snapshot import KnownModel, Snapshot
from audioclass.index.tables import Table
from audioclass.outputs import replacing
from audioclass.run import Run

ID_LENGTH = 12  # digits of the digest that tell the models of an archive apart


@dataclass(frozen=True, eq=False)
class ArchivedModel:
    """A model with what an archive knows of it."""

    known: KnownModel
    model: Model
    file: ModelFile
    projection: Projection


def register_model(address: str, model: str | Path) -> ArchivedModel:
    """The model as the archive has it; its file is put there where it is not."""
    with model_path(model) as path:
        content = path.read_bytes()
    file, digest = ModelFile.of(model), hashlib.sha256(content).hexdigest()
    read = file.load()
    known = KnownModel(
        digest[:ID_LENGTH], read.name, digest, read.labels, read.recipe.window, read.recipe.window_hop
    )
    if (stored := _stored_projection(Snapshot(address), known)) is None:
        projection = Projection.of(read)
        row = {
            "model": [known.id],
            "name": [known.name],
            "digest": [digest],
            "labels": [list(known.labels)],
            "window_s": [known.window],
            "hop_s": [known.hop],
            "file": [content],
            "projection": [projection.to_bytes()],
            "added_at": [now()],
        }

        def absent(version: object) -> object:
            """The row, unless somebody else was first."""
            return None if _stored_projection(Snapshot(address), known) is not None else table_of(MODELS, row)

        Table.named(address, "models").commit(absent)
        stored = _stored_projection(Snapshot(address), known) or projection
    return ArchivedModel(known, read, file, stored)


@contextlib.contextmanager
def archived_model(snapshot: Snapshot, named: str | None, run: Run) -> Iterator[ArchivedModel]:
    """A model from its file in the archive, which is kept in the cache of the run, or while the context lasts."""
    known = snapshot.model(named)
    content, projection = snapshot.model_file(known)
    if hashlib.sha256(content).hexdigest() != known.digest:
        raise ModelError(f"{snapshot.address}: the file of model {known.name} ({known.id}) is damaged")
    try:
        read = Projection.of_bytes(projection)
    except (ValueError, OSError, KeyError) as error:
        raise ModelError(f"{snapshot.address}: the projection of model {known.name} is damaged: {error}") from error
    with _file_of(content, known, run) as path:
        yield ArchivedModel(known, loaded(path), ModelFile.of(path), read)


@contextlib.contextmanager
def _file_of(content: bytes, known: KnownModel, run: Run) -> Iterator[Path]:
    """The model as a file, in the cache where there is one."""
    if run.cache is None:
        with tempfile.TemporaryDirectory(prefix="audioclass-") as folder:
            path = Path(folder) / f"{known.digest}{SUFFIX}"
            path.write_bytes(content)
            yield path
        return
    path = run.cache / "models" / f"{known.digest}{SUFFIX}"
    if not path.exists() or path.stat().st_size != len(content):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            part.write_bytes(content)
    yield path


def _stored_projection(snapshot: Snapshot, known: KnownModel) -> Projection | None:
    rows = snapshot.rows("SELECT projection FROM models WHERE model = ? LIMIT 1", [known.id])
    return Projection.of_bytes(bytes(rows[0][0])) if rows else None
