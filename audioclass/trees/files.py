"""Trees in files: TOML and Newick's notation are read and written, SVG is written; the suffix tells which."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from audioclass.errors import UsageError, unknown_name
from audioclass.recordings import not_endless
from audioclass.trees.drawing import draw_svg
from audioclass.trees.newick import read_newick, write_newick
from audioclass.trees.reading import read_toml
from audioclass.trees.text import WrittenTree

SUFFIXES = {".toml": "toml", ".nwk": "newick", ".newick": "newick", ".svg": "svg"}
WRITERS: Mapping[str, Callable[[WrittenTree], str]] = {
    "toml": WrittenTree.to_toml,
    "newick": write_newick,
    "svg": draw_svg,
}
READERS: Mapping[str, Callable[[str], WrittenTree]] = {"toml": read_toml, "newick": read_newick}


def tree_format(path: Path | None = None, stated: str | None = None) -> str:
    """The format that was stated, or the one of a file's suffix; TOML where there is neither."""
    if stated is not None:
        if stated not in WRITERS:
            raise unknown_name("format of a tree", stated, WRITERS)
        return stated
    if path is None or not path.suffix:
        return "toml"
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path}: suffix {path.suffix!r} is no format of a tree, must be {', '.join(SUFFIXES)}")
    return SUFFIXES[path.suffix.lower()]


def read_tree(path: Path) -> WrittenTree:
    """The tree in a file that somebody may have edited."""
    form = tree_format(path)
    if form not in READERS:
        raise UsageError(f"{path}: a tree is not read from {form}, only from {' or '.join(READERS)}")
    not_endless(path)
    try:
        return READERS[form](path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not a text in UTF-8") from error
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
