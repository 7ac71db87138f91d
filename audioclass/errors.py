"""What can go wrong in a way that a user can put right: one line each, never a traceback."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_LISTED = 20  # names in one line


class AudioclassError(Exception):
    """Its text is shown to the user as it is; `exit_code` is what the command ends with."""

    exit_code: ClassVar[int] = 1


class UsageError(AudioclassError, ValueError):
    """A name, parameter or path that was given is wrong; nothing was done."""

    exit_code: ClassVar[int] = 2


class MissingPackage(UsageError):
    """A component needs a package that an extra brings; the text names the command that installs it."""


class AudioFileError(AudioclassError):
    """A recording that cannot be read."""


class CorpusError(AudioclassError):
    """A corpus, taxonomy or label file that does not say what it should."""


class ModelError(AudioclassError):
    """A model file that is damaged, foreign or needs a component that is not installed."""


class PluginError(AudioclassError):
    """A plugin that does not load or does not keep its contract."""


class StorageError(AudioclassError):
    """A disk that has no room for what is to be written."""


class ClusterError(AudioclassError):
    """A scheduler that does not answer, a worker that differs from this process, or none that is left."""


class ComponentError(PluginError):
    """A component of a plugin failed while it was used, or gave something else than its contract promises."""


class ComponentRefusal(ComponentError, ValueError):
    """A component of a plugin cannot use what it was given; who called it may go on without it."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'gaussian'?` for the nearest known name, or nothing."""
    nearest = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"; did you mean {nearest[0]!r}?" if nearest else ""


def unknown_name(what: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name nobody offers, with the nearest one and all that are known."""
    known = sorted(known)
    suggestion = did_you_mean(name, known) or ";"
    return UsageError(f"unknown {what} {name!r}{suggestion} known: {listed(known) or 'none'}")


def listed(names: Sequence[str]) -> str:
    """The names one after the other, and how many more there are where they are too many for a line."""
    more = [f"and {len(names) - MOST_LISTED} more"] if len(names) > MOST_LISTED else []
    return ", ".join([*names[:MOST_LISTED], *more])


def text_of(error: BaseException) -> str:
    """The text of any exception in one line, also of one that cannot tell it."""
    try:
        return " ".join(str(error).split())
    except BaseException:  # a text of foreign code may raise anything
        return ""


def named_text_of(error: BaseException) -> str:
    """The class of an exception and its text, in one line."""
    return ": ".join(filter(None, [type(error).__name__, text_of(error)]))
