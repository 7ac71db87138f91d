"""Two sides of examples from a CSV, or from the feature file of `audioclass extract` and a table of labels."""

from __future__ import annotations

import csv
import gzip
import hashlib
import math
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from audioclass.errors import UsageError, unknown_name
from audioclass.recordings import not_endless

KEYS = ("file", "start", "end")  # columns that say where a row comes from


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of features, NaN where one is missing, with a label and a group each."""

    X: np.ndarray
    labels: np.ndarray
    groups: np.ndarray

    @property
    def digest(self) -> str:
        """What the table holds, in short: results of the same rows can be used again."""
        parts = (self.X.tobytes(), "\n".join(self.labels).encode(), "\n".join(map(str, self.groups)).encode())
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]

    def sides(self, positive: str | None = None, negative: str | None = None) -> tuple[Table, np.ndarray]:
        """The rows of two sides and their y in ±1: `positive` against `negative`, or against all the rest."""
        known = sorted(set(self.labels))
        for name in (positive, negative):
            if name is not None and name not in known:
                raise unknown_name("label", name, known)
        if positive is None and len(known) != 2:
            raise UsageError(f"{len(known)} labels, say which one is to be told from the rest: --positive LABEL")
        positive = positive or known[0]
        rows = np.isin(self.labels, [positive, negative]) if negative else np.ones(len(self.labels), bool)
        y = np.where(self.labels[rows] == positive, 1, -1)
        if len(np.unique(y)) < 2:
            raise UsageError(f"every example is {positive!r}, two sides are needed")
        return replace(self, X=self.X[rows], labels=self.labels[rows], groups=self.groups[rows]), y

    def filled(self) -> np.ndarray:
        """The features, missing ones by the mean of their column; a column without any value is 0."""
        missing = np.isnan(self.X)
        sums = np.where(missing, 0, self.X).sum(axis=0)
        means = sums / np.maximum((~missing).sum(axis=0), 1)
        return np.where(missing, means, self.X)


def read_table(path: Path, label: str | None = None, group: str | None = None, labels: Path | None = None) -> Table:
    """A CSV with a header (`.csv`, `.csv.gz`) or an `.npz` of features.

    `label` names the column of labels (default: `label`, else the last one) and `group` that of groups. `labels` is a
    CSV of the columns file, label and perhaps group, for features that `audioclass extract` wrote.
    """
    for file in filter(None, (path, labels)):
        not_endless(file)
    try:
        return _of_npz(path, labels) if path.suffix == ".npz" else _of_csv(path, label, group, labels)
    except UsageError:
        raise
    except gzip.BadGzipFile as error:
        raise UsageError(f"{path}: not a table of features: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, csv.Error, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise UsageError(f"{path}: not a table of features: {error}") from error


def _of_csv(path: Path, label: str | None, group: str | None, labels: Path | None) -> Table:
    with _opened(path) as stream:
        header, *lines = list(csv.reader(stream)) or [[]]
    if not lines:
        raise UsageError(f"{path}: no rows below a header")
    for number, line in enumerate(lines, start=2):
        if len(line) != len(header):
            raise UsageError(f"{path}, line {number}: {len(line)} fields where the header has {len(header)}")
    columns = {name: [line[i] for line in lines] for i, name in enumerate(header)}
    if labels is not None:
        told = _told(labels)
        answers = [_answer(told, name, labels) for name in _column(columns, "file", path)]
        used, names, groups = set(KEYS), [answer[0] for answer in answers], [answer[1] for answer in answers]
    else:
        label = label or ("label" if "label" in header else header[-1])
        names = _column(columns, label, path)
        groups = _column(columns, group, path) if group else list(map(str, range(len(lines))))
        used = {label, *([group] if group else []), *KEYS}
    features = [i for i, name in enumerate(header) if name not in used]
    if not features:
        raise UsageError(f"{path}: no column of features besides {', '.join(header)}")
    X = [[_number(line[i], path, number, header[i]) for i in features] for number, line in enumerate(lines, start=2)]
    return Table(np.array(X), np.array(names), np.array(groups))


def _of_npz(path: Path, labels: Path | None) -> Table:
    """Labels are told by the table of labels, or by an array `label` in the file itself."""
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
        try:
            X = np.asarray(arrays["X"], np.float64)
            if labels is None:
                names = arrays["label"].astype(str)
                groups = arrays["group"].astype(str) if "group" in arrays else np.arange(len(X)).astype(str)
                return _checked(path, Table(X, names, groups))
            files, of_row = arrays["files"].tolist(), arrays["file"]
        except KeyError as error:
            raise UsageError(f"{path}: no array {error.args[0].split(' ')[0]}; say labels with --labels") from error
    told = _told(labels)
    answers = [_answer(told, name, labels) for name in files]
    of_rows = [answers[i] for i in of_row]
    return _checked(path, Table(X, np.array([name for name, _ in of_rows]), np.array([group for _, group in of_rows])))


def _checked(path: Path, table: Table) -> Table:
    if table.X.ndim != 2 or not len(table.X) or len(table.labels) != len(table.X):
        raise UsageError(f"{path}: features of shape {table.X.shape} for {len(table.labels)} labels")
    return table


def _opened(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _told(path: Path) -> Mapping[str, tuple[str, str]]:
    """Label and group of each file, by its path and by its name alone."""
    with _opened(path) as stream:
        rows = list(csv.DictReader(stream))
    if not rows or not {"file", "label"} <= rows[0].keys():
        raise UsageError(f"{path}: must have the columns file and label")
    told = {row["file"]: (row["label"], row.get("group") or row["file"]) for row in rows}
    return told | {Path(name).name: answer for name, answer in told.items()}


def _answer(told: Mapping[str, tuple[str, str]], name: str, path: Path) -> tuple[str, str]:
    answer = told.get(name) or told.get(Path(name).name)
    if answer is None:
        raise UsageError(f"{path}: no label for {name}")
    return answer


def _column(columns: Mapping[str, list[str]], name: str, path: Path) -> list[str]:
    if name not in columns:
        raise UsageError(f"{path}: {unknown_name('column', name, columns)}")
    return columns[name]


def _number(text: str, path: Path, line: int, column: str) -> float:
    if text.strip() in ("", "?", "NA", "nan", "NaN"):
        return math.nan
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise UsageError(f"{path}, line {line}: {column}={text[:40]!r} must be a number")
    return value
