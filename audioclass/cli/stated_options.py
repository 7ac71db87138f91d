"""What a user stated of a training: in the file beside a corpus, in that of `--config`, and on the command line."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audioclass.errors import UsageError, unknown_name
from audioclass.recordings import ABSENT, FOLDER, irregularity, not_endless
from audioclass.run import Run
from audioclass.training.config import OPTIONS, TrainingConfig
from audioclass.training.shipped import shipped_configs

PROJECT_FILE = "audioclass.toml"
SEED = "seed"


@dataclass(frozen=True)
class StatedOptions:
    """Options in the order in which they were stated, each layer with the file that it stands in; the last wins."""

    layers: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def updated(self, values: Mapping[str, Any], source: str = "") -> StatedOptions:
        """With more of them, which win."""
        return StatedOptions((*self.layers, (source, values)))

    @property
    def values(self) -> dict[str, Any]:
        """What holds in the end."""
        return {name: value for _, values in self.layers for name, value in values.items()}

    @property
    def sources(self) -> dict[str, str]:
        """The file that each of them stands in; empty for those of the command line."""
        return {name: source for source, values in self.layers for name in values}

    @property
    def seed(self) -> int:
        """Where all randomness starts."""
        seed = self.values.get(SEED, 0)
        if type(seed) is not int or seed < 0:
            raise UsageError(
                f"{self.sources.get(SEED) or '--seed'}: seed={seed!r} must be a whole number of at least 0"
            )
        return seed

    def config(self, run: Run) -> TrainingConfig:
        """The configuration; what was stated without effect is refused."""
        [config] = self._checked([{}], run)
        return config

    def configs(self, run: Run, strategies: Sequence[str]) -> dict[str, TrainingConfig]:
        """One for each strategy; refused is what has no effect in any."""
        configs = self._checked([{"strategy": strategy} for strategy in strategies], run)
        return dict(zip(strategies, configs, strict=True))

    def _checked(self, variants: Sequence[Mapping[str, Any]], run: Run) -> list[TrainingConfig]:
        from audioclass.training.effects import check_effects  # help goes without it

        configs = [self._unchecked(variant, run) for variant in variants]
        check_effects(configs, self.sources, overruled=self._overruled(run))
        return configs

    def _unchecked(self, further: Mapping[str, Any], run: Run) -> TrainingConfig:
        options = {name: value for name, value in {**self.values, **further}.items() if name != SEED}
        return TrainingConfig.of(options, run, sources=self.sources, checks_effects=False)

    def _overruled(self, run: Run) -> set[str]:
        """Fields that a file states with effect, unless something stated after it takes the effect away."""
        from audioclass.training.effects import without_effect

        fields: set[str] = set()
        for number, (_, values) in enumerate(self.layers, start=1):
            stated = {option.field for option in OPTIONS if option.name in values}
            fields -= stated
            if number < len(self.layers):
                with contextlib.suppress(UsageError):  # a file that means nothing without what is stated after it
                    config = StatedOptions(self.layers[:number])._unchecked({}, run)
                    fields |= stated - without_effect(config).keys()
        return fields


def find_project_file(corpus: Path) -> Path | None:
    """The file of options that belongs to a corpus: in its folder, or beside it."""
    places = [corpus, corpus.parent] if irregularity(corpus) == FOLDER else [corpus.parent]
    return next((place / PROJECT_FILE for place in places if not irregularity(place / PROJECT_FILE)), None)


def read_config(path: Path) -> dict[str, Any]:
    """The options that a TOML file states: numbers and texts, and a table for a component with its parameters.

    A name without a suffix, where there is no such file, is that of a configuration that comes with the package.
    """
    shipped = shipped_configs()
    if str(path) in shipped and irregularity(path) == ABSENT:
        return dict(shipped[str(path)])
    try:
        table = tomllib.loads(not_endless(path).read_text(encoding="utf-8"))
    except OSError as error:
        hint = "" if path.suffix or len(path.parts) > 1 else f"; configurations by name: {', '.join(shipped)}"
        raise UsageError(f"{path}: cannot be read: {error.strerror}{hint}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error
    names = {name: option.name for option in OPTIONS for name in option.names} | {SEED: SEED}
    for key in table:
        if key not in names:
            raise UsageError(f"{path}: {unknown_name('option', key, names)}")
    return {names[key]: value for key, value in table.items()}
