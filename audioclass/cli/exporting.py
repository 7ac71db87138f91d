"""The format of an output, by its name or by the suffix of the file, and the writing of it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import cast

from audioclass.cli import screen
from audioclass.contracts import LabelFormat, WritesBytes
from audioclass.data import Result
from audioclass.errors import PluginError, UsageError
from audioclass.hookspecs import PROJECT
from audioclass.outputs import atomic_open
from audioclass.parameters import parse_assignments, parse_component
from audioclass.plugins.manager import PluginManager, plugin_manager


def output_format(format: str | None, output: Path | None) -> LabelFormat | None:  # noqa: A002 (the name of the option)
    """The format that was asked for, by name or by the suffix of the output; None for lines or a timeline.

    A name may be followed by parameters, `raven:high=4000`; `:high=4000` is for the format that the suffix tells.
    """
    if format is None and output is None:
        return None
    manager = plugin_manager()
    name, assignments = parse_component(format or "")
    if not name:
        name = name_by_suffix(output or Path("-"), manager)
    values = parse_assignments(manager.load("format", name), assignments)
    return cast("LabelFormat", manager.make("format", name, values))


def name_by_suffix(output: Path, manager: PluginManager) -> str:
    """The format with the longest suffix that the output has; manifests tell the suffixes, no format is imported.

    Of several with the same suffix the built-in one is meant, and the others are named.
    """
    suffixes = _suffixes(manager)
    alike = [name for name, suffix in suffixes.items() if output.name.lower().endswith(suffix.lower())]
    if not alike:
        known = ", ".join(f"{name} ({suffix})" for name, suffix in sorted(suffixes.items()))
        raise UsageError(f"{output}: the suffix does not tell the format; name it with --format: {known}")
    longest = max((suffixes[name] for name in alike), key=len)
    entries = [manager.find("format", name) for name in alike if len(suffixes[name]) == len(longest)]
    if len(entries) == 1:
        return entries[0].name
    clash = (
        f"{output}: {' and '.join(f'{one.name} of {one.distribution}' for one in entries)} have the suffix {longest}"
    )
    builtin = [one.name for one in entries if one.distribution == PROJECT]
    if len(builtin) != 1:
        raise UsageError(f"{clash}; choose one with --format")
    screen.note(f"{clash}; written as {builtin[0]}, another is chosen with --format")
    return builtin[0]


def _suffixes(manager: PluginManager) -> dict[str, str]:
    """The suffix of each format; where a manifest does not state it, the class does, if it loads."""
    suffixes = {}
    for entry in manager.entries("format"):
        with contextlib.suppress(PluginError):
            suffixes[entry.name] = entry.facts.get("suffix") or manager.load("format", entry.name).suffix
    return suffixes


def write_result(format: LabelFormat, result: Result, output: Path | None) -> None:  # noqa: A002 (as above)
    """To a file that appears only when it is whole, or to standard output."""
    is_binary = isinstance(format, WritesBytes) and format.binary
    if output is None or str(output) == "-":
        if is_binary:
            format.write(result, sys.stdout.buffer)
        else:
            with screen.text_output() as stream:
                format.write(result, stream)
        return
    with atomic_open(output, "wb" if is_binary else "w") as stream:
        format.write(result, stream)
    screen.note(f"{output}: {len(result.segments)} segments as {format.name}")
