"""One `register_…` hook for each contract: the one door for built-ins and third parties alike.

A hook takes no arguments and returns a list of classes; nothing is registered by being imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pluggy

from audioclass.contracts import (
    Calibrator,
    CorpusReader,
    Criterion,
    Descriptor,
    DirectStrategy,
    Embedding,
    Kernel,
    LabelFormat,
    Pooling,
    Search,
    Smoother,
    Strategy,
    Trainer,
)

PROJECT = "audioclass"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def register_descriptors() -> list[type[Descriptor]]:
    """Offer descriptors, each named in a recipe; see `testing.check_descriptor`."""


@hookspec
def register_embeddings() -> list[type[Embedding]]:
    """Offer embeddings, each named in a recipe; see `testing.check_embedding`."""


@hookspec
def register_poolings() -> list[type[Pooling]]:
    """Offer poolings, each named in a recipe; see `testing.check_pooling`."""


@hookspec
def register_kernels() -> list[type[Kernel]]:
    """Offer kernels, each chosen with `--kernel NAME`; see `testing.check_kernel`."""


@hookspec
def register_trainers() -> list[type[Trainer]]:
    """Offer binary trainers, each chosen with `--trainer NAME`; see `testing.check_trainer`."""


@hookspec
def register_calibrators() -> list[type[Calibrator]]:
    """Offer calibrators, each chosen with `--calibrator NAME`; see `testing.check_calibrator`."""


@hookspec
def register_strategies() -> list[type[Strategy]]:
    """Offer multi-class strategies, each chosen with `--strategy NAME`; see `testing.check_strategy`."""


@hookspec
def register_direct_strategies() -> list[type[DirectStrategy]]:
    """Offer strategies that fit all labels at once, by `--strategy NAME`; see `testing.check_direct_strategy`."""


@hookspec
def register_criteria() -> list[type[Criterion]]:
    """Offer selection criteria, each chosen with `--criterion NAME`; see `testing.check_criterion`."""


@hookspec
def register_searches() -> list[type[Search]]:
    """Offer searches, each chosen with `--search NAME`; see `testing.check_search`."""


@hookspec
def register_smoothers() -> list[type[Smoother]]:
    """Offer smoothers, each chosen with `--smooth NAME`; see `testing.check_smoother`."""


@hookspec
def register_formats() -> list[type[LabelFormat]]:
    """Offer label formats, each chosen by its suffix or with `--format NAME`; see `testing.check_format`."""


@hookspec
def register_corpus_readers() -> list[type[CorpusReader]]:
    """Offer readers of corpora, each tried on the path that a user gives; see `testing.check_corpus_reader`."""


@dataclass(frozen=True)
class Kind:
    """A kind of component, as its hook states it: `kernel` is offered by `register_kernels` and must be a `Kernel`."""

    name: str
    hook: str
    contract: str
    summary: str

    @property
    def namespace(self) -> str:
        """Kinds that a user chooses by one option share their names: both sorts of strategy do."""
        return self.name.removeprefix("direct_")


def _kinds() -> Iterator[Kind]:
    for name, hook in globals().items():
        if name.startswith("register_"):
            contract = hook.__annotations__["return"].removeprefix("list[type[").removesuffix("]]")
            words = re.sub(r"(?<!^)(?=[A-Z])", "_", contract).lower()
            yield Kind(words.removeprefix("label_"), name, contract, hook.__doc__)


KINDS: dict[str, Kind] = {kind.name: kind for kind in list(_kinds())}
