"""Parquet, as databases and data frames read it; needs the extra `parquet`."""

from __future__ import annotations

from importlib import import_module
from typing import IO, Any, ClassVar

from audioclass.contracts import LabelFormat
from audioclass.data import Result
from audioclass.errors import UsageError
from audioclass.formats.rows import COLUMNS, known_columns, label_names, rows_of
from audioclass.hookspecs import hookimpl
from audioclass.parameters import component

TEXTS = ("file", "label", "runner_up")


@component
class Parquet:
    """The whole table in columns: file, times, label, probability, runner-up, path, and the posterior of each label."""

    name: ClassVar[str] = "parquet"
    suffix: ClassVar[str] = ".parquet"
    carries_probabilities: ClassVar[bool] = True
    binary: ClassVar[bool] = True

    def write(self, result: Result, stream: IO[bytes]) -> None:
        """One row a segment; `path` is a list of names, `probability` null for a label outside the taxonomy.

        `cut` is where a damaged recording could be read no further, in seconds; null elsewhere. `novelty` and `set`, a
        list of labels, are there where they are known.
        """
        arrow, parquet = _import_parquet()
        rows = list(rows_of(result))
        types = {name: arrow.string() if name in TEXTS else arrow.float64() for name in COLUMNS}
        types |= {"path": arrow.list_(arrow.string()), "cut": arrow.float64()}
        columns = {key: arrow.array([getattr(row, key) for row in rows], kind) for key, kind in types.items()}
        further = {"novelty": arrow.float64(), "set": arrow.list_(arrow.string())}
        for key in known_columns(result):
            columns[key] = arrow.array([getattr(row, key) for row in rows], further[key])
        for label, posteriors in zip(label_names(result), result.P.T, strict=True):
            columns[f"posterior_{label}"] = arrow.array(posteriors, arrow.float64())
        parquet.write_table(arrow.table(columns), stream)


def _import_parquet() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise UsageError("parquet needs pyarrow: pip install 'audioclass[parquet]'") from error


@hookimpl
def register_formats() -> list[type[LabelFormat]]:
    """Parquet."""
    return [Parquet]
