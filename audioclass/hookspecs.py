"""One `register_…` hook for each contract: the one door for built-ins and third parties alike.

A hook takes no arguments and returns a list of classes; nothing is registered by being imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pluggy

from audioclass.contracts import (
    Calibrator,
    Command,
    CorpusReader,
    Criterion,
    Descriptor,
    DirectStrategy,
    Embedding,
    Kernel,
    LabelFormat,
    LabelLink,
    Pooling,
    Search,
    Smoother,
    Strategy,
    Trainer,
)

PROJECT = "audioclass"
NOT_INSTALLED = "not installed"  # what stands for the version of a plugin that is used from its file
API_VERSION = 1  # of the hooks and contracts; raised when a plugin written for them would no longer work
OUR_COMMANDS = (
    "calibrate", "classify", "compare", "corpus", "evaluate", "extract", "find", "index", "model", "plugins", "recipes",
    "train", "tree",
)  # fmt: skip
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_descriptors() -> list[type[Descriptor]]:
    """Offer descriptors, each named in a recipe; see `testing.check_descriptor`."""
    return []


@hookspec
def register_embeddings() -> list[type[Embedding]]:
    """Offer embeddings, each named in a recipe; see `testing.check_embedding`."""
    return []


@hookspec
def register_poolings() -> list[type[Pooling]]:
    """Offer poolings, fixed or fitted to training recordings, each named in a recipe; see `testing.check_pooling`."""
    return []


@hookspec
def register_kernels() -> list[type[Kernel]]:
    """Offer kernels, each chosen with `--kernel NAME`; see `testing.check_kernel`."""
    return []


@hookspec
def register_trainers() -> list[type[Trainer]]:
    """Offer binary trainers, each chosen with `--trainer NAME`; see `testing.check_trainer`."""
    return []


@hookspec
def register_calibrators() -> list[type[Calibrator]]:
    """Offer calibrators, each chosen with `--calibrator NAME`; see `testing.check_calibrator`."""
    return []


@hookspec
def register_strategies() -> list[type[Strategy]]:
    """Offer multi-class strategies, each chosen with `--strategy NAME`; see `testing.check_strategy`."""
    return []


@hookspec
def register_direct_strategies() -> list[type[DirectStrategy]]:
    """Offer strategies that fit all labels at once, by `--strategy NAME`; see `testing.check_direct_strategy`."""
    return []


@hookspec
def register_links() -> list[type[LabelLink]]:
    """Offer links from scores or posteriors of labels to logits, by `--link NAME`; see `testing.check_link`."""
    return []


@hookspec
def register_criteria() -> list[type[Criterion]]:
    """Offer selection criteria, each chosen with `--criterion NAME`; see `testing.check_criterion`."""
    return []


@hookspec
def register_searches() -> list[type[Search]]:
    """Offer searches, each chosen with `--search NAME`; see `testing.check_search`."""
    return []


@hookspec
def register_smoothers() -> list[type[Smoother]]:
    """Offer smoothers, each chosen with `--smooth NAME`; see `testing.check_smoother`."""
    return []


@hookspec
def register_formats() -> list[type[LabelFormat]]:
    """Offer label formats, each chosen by its suffix or with `--format NAME`; see `testing.check_format`."""
    return []


@hookspec
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer readers of corpora, each tried on the path that a user gives; see `testing.check_corpus_reader`."""
    return []


@hookspec
def register_commands() -> list[type[Command]]:
    """Offer commands, each run by `audioclass NAME`; see `testing.check_command`."""
    return []


@dataclass(frozen=True)
class Kind:
    """A kind of component: a `kernel` comes in by `register_kernels` and must be a `Kernel`.

    `facts` are class attributes that stand in listings and manifests, so that a component can be chosen by them without
    being imported. `chosen_as` is the kind whose option chooses this one too: both sorts of strategy share their names.
    `reserved` are names that are ours and no component's.
    """

    name: str
    specification: Callable[[], Sequence[Any]]
    contract: Any  # a Protocol, or a union of Protocols of which one must be satisfied
    facts: tuple[str, ...] = ()
    chosen_as: str = ""
    reserved: tuple[str, ...] = ()

    @property
    def hook(self) -> str:
        """The name of the function that a plugin marks with `hookimpl`."""
        return self.specification.__name__

    @property
    def namespace(self) -> str:
        """What no two components of one name may share."""
        return self.chosen_as or self.name


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("descriptor", register_descriptors, Descriptor),
        Kind("embedding", register_embeddings, Embedding),
        Kind("pooling", register_poolings, Pooling),
        Kind("kernel", register_kernels, Kernel),
        Kind("trainer", register_trainers, Trainer),
        Kind("calibrator", register_calibrators, Calibrator),
        Kind("strategy", register_strategies, Strategy),
        Kind("direct_strategy", register_direct_strategies, DirectStrategy, chosen_as="strategy"),
        Kind("link", register_links, LabelLink),
        Kind("criterion", register_criteria, Criterion),
        Kind("search", register_searches, Search),
        Kind("smoother", register_smoothers, Smoother),
        Kind("format", register_formats, LabelFormat, facts=("suffix",)),
        Kind("corpus_reader", register_corpus_readers, CorpusReader),
        Kind("command", register_commands, Command, reserved=OUR_COMMANDS),
    )
}
