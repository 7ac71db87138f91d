"""The format of an output, by its name or by the suffix of the file, and the writing of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from audioclass.cli import screen
from audioclass.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from audioclass.data import Result


def export_for(format: str | None, output: Path | None) -> Any:  # noqa: A002 (the name of the option)
    """The export that was asked for, by name or by the suffix of the output; None for lines or a timeline."""
    from audioclass.plugins.manager import plugin_manager

    if format is None and output is None:
        return None
    manager = plugin_manager()
    if format is not None:
        return manager.make("export", format)
    exports = [manager.make("export", offer.name) for offer in manager.offers("export")]
    found = [export for export in exports if output.name.lower().endswith(export.suffix.lower())]
    if not found:
        known = ", ".join(sorted({f"{export.name} ({export.suffix})" for export in exports}))
        raise UsageError(f"{output}: the suffix does not tell the format; name it with --format: {known}")
    return max(found, key=lambda export: len(export.suffix))


def write_result(export: Any, result: Result, output: Path | None) -> None:
    """To a file that appears only when it is whole, or to standard output."""
    from audioclass.storage import atomic_open

    is_binary = getattr(export, "binary", False)
    if output is None or str(output) == "-":
        export.write(result, sys.stdout.buffer if is_binary else sys.stdout)
        return
    with atomic_open(output, "wb" if is_binary else "w") as stream:
        export.write(result, stream)
    screen.note(f"{output}: {len(result.segments)} segments as {export.name}")
