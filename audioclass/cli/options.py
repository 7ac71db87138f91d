"""Options that several commands share, declared once: single ones, and groups of them as small dataclasses."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import tomllib
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from audioclass.engine.training import Setup
    from audioclass.taxonomy import Taxonomy

Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
Jobs = Annotated[int, typer.Option("--jobs", min=0, help="How many processes; 0 for one a core.")]
Cache = Annotated[
    Path | None, typer.Option("--cache", envvar="AUDIOCLASS_CACHE", help="Where results are kept.", show_default=False)
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass replaced by options for its fields."""
    hints = typing.get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    parameters = []
    for name, parameter in inspect.signature(command).parameters.items():
        given = _fields(groups[name]) if name in groups else [_keyword(parameter, hints[name])]
        parameters += given

    @functools.wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__signature__ = inspect.Signature(
        sorted(parameters, key=lambda one: one.default is not inspect.Parameter.empty)
    )
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _keyword(parameter: inspect.Parameter, hint: Any) -> inspect.Parameter:
    return parameter.replace(annotation=hint, kind=inspect.Parameter.KEYWORD_ONLY)


def _fields(group: type) -> list[inspect.Parameter]:
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in dataclasses.fields(group)
    ]


def _option(*names: str, **said: Any) -> Any:
    return typer.Option(*names, show_default=False, **said)


@dataclass(frozen=True)
class Method:
    """How to train, but for the strategy: names of components, each `NAME` or `NAME:parameter=value,…`.

    A file may hold them too.
    """

    recipe: Annotated[
        str | None, _option("--recipe", help="How recordings become features; see `audioclass recipes` (environment).")
    ] = None
    kernel: Annotated[
        str | None, _option("--kernel", help="Kernel, or several that compete: `a+b` (gaussian_unscaled).")
    ] = None
    trainer: Annotated[str | None, _option("--trainer", help="Binary trainer (least_squares).")] = None
    calibrator: Annotated[str | None, _option("--calibrator", help="Scores to probabilities (platt).")] = None
    criterion: Annotated[
        str | None,
        _option(
            "--criterion", help="What chooses kernel parameters and C; `fixed` for none (leave_group_out_log_loss)."
        ),
    ] = None
    search: Annotated[str | None, _option("--search", help="How the criterion is searched (pattern).")] = None
    error_factor: Annotated[float | None, _option("--error-factor", "-C", help="C where nothing chooses it (10).")] = (
        None
    )
    normalisation: Annotated[
        str | None, _option("--normalisation", help="rank, standard or none, of each feature (rank).")
    ] = None
    weigh_groups: Annotated[
        bool | None, _option("--weigh-groups", help="Weigh groups of features by the gradient of the criterion.")
    ] = None
    taxonomy: Annotated[
        str | None, _option("--taxonomy", help="TOML file or folder with the tree of labels, or `learn`.")
    ] = None
    window: Annotated[float | None, _option("--window", help="Seconds of a window, instead of the recipe's.")] = None
    hop: Annotated[float | None, _option("--hop", help="Seconds between windows, instead of the recipe's.")] = None
    seed: Annotated[int | None, _option("--seed", min=0, help="Where all randomness starts (0).")] = None
    config: Annotated[
        Path | None, _option("--config", help="TOML file with any of these options; the command line wins.")
    ] = None

    def setup(self, **changes: Any) -> Setup:
        """The components behind the options, some of them changed; a change to None is none."""
        from audioclass.engine.config import Choices
        from audioclass.engine.training import DEFAULT_RECIPE, Setup

        said = self.said() | {name: value for name, value in changes.items() if value is not None}
        recipe, window, hop = said.pop("recipe", DEFAULT_RECIPE), said.pop("window", None), said.pop("hop", None)
        said.pop("taxonomy", None)
        if "error_factor" in said:
            said["C"] = said.pop("error_factor")
        return Setup.of(recipe, Choices.of(said, str(self.config or "options")), window=window, hop=hop)

    def tree(self) -> Taxonomy | str | None:
        """The taxonomy that was asked for: read from its file, `learn`, or None for the corpus's own."""
        from audioclass.taxonomy import Taxonomy

        asked = self.said().get("taxonomy")
        return asked if asked in (None, "learn") else Taxonomy.read(Path(asked))

    def said(self) -> dict[str, Any]:
        """What was stated, on the command line or else in the file."""
        own = {name: value for name, value in vars(self).items() if value is not None and name != "config"}
        return (_read_config(self.config) if self.config else {}) | own

    def refuse(self, why: str, *, but: Sequence[str] = ()) -> None:
        """Where nothing is trained by them, options are refused instead of ignored."""
        for name in self.said():
            if name not in but:
                raise UsageError(f"--{name.replace('_', '-')} {why}")


@dataclass(frozen=True)
class Learning(Method):
    """How to train, the strategy included."""

    strategy: Annotated[str | None, _option("--strategy", help="How labels are told apart (hybrid_dendrogram).")] = None


def _read_config(path: Path) -> dict[str, Any]:
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error
    kinds = _kinds()
    for key, value in table.items():
        if key not in kinds:
            raise UsageError(f"{path}: {unknown_name('option', key, kinds)}")
        is_right = type(value) is kinds[key] or (kinds[key] is float and type(value) is int)
        if not is_right:
            raise UsageError(f"{path}: {key}={value!r} must be {'a text' if kinds[key] is str else 'a number'}")
    return table


def _kinds() -> dict[str, type]:
    """The type of each option that a file may hold."""
    hints = typing.get_type_hints(Learning)
    own = {name: typing.get_args(hint)[0] for name, hint in hints.items() if name != "config"}
    return own | {"folds": int, "large": str}


@dataclass(frozen=True)
class Gathering:
    """How a corpus is read and where what is computed from it is kept."""

    reader: Annotated[
        str | None,
        _option("--reader", help="The layout of the corpus, where it cannot be told; see `audioclass plugins`."),
    ] = None
    jobs: Jobs = 1
    cache: Cache = None

    @property
    def options(self) -> dict[str, Any]:
        """As the engine takes them."""
        import os

        return {"reader": self.reader, "jobs": self.jobs or os.cpu_count() or 1, "cache": self.cache}
