"""Options that several commands share, declared once: single ones, and groups of them as one argument of a command."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

import typer

from audioclass.cli import screen
from audioclass.cli.stated_options import SEED, StatedOptions, find_project_file, read_config
from audioclass.errors import UsageError
from audioclass.run import Executor, executor_for
from audioclass.training.config import OPTIONS
from audioclass.training.options import Option

Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
Cache = Annotated[
    Path | None, typer.Option("--cache", envvar="AUDIOCLASS_CACHE", help="Where results are kept.", show_default=False)
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse damaged recordings instead of using what can be read of them.")
]


class OptionGroup:
    """Some options of a command that reach it as one argument."""

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """One keyword for each option, as Typer reads it."""
        hints = typing.get_type_hints(cls, include_extras=True)
        fields = dataclasses.fields(typing.cast("Any", cls))
        return [_keyword(field.name, hints[field.name], field.default) for field in fields]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """The group from the values of its options."""
        return cls(**values)

    def close(self) -> None:
        """Called when the command ends, however it does."""


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a group replaced by the options of the group."""
    hints = typing.get_type_hints(command, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        single = [_keyword(name, hints[name], parameter.default)]
        parameters += groups[name].parameters() if name in groups else single

    @functools.wraps(command)
    def run(**values: Any) -> None:
        arguments = {
            name: group.of({each.name: values.pop(each.name) for each in group.parameters()})
            for name, group in groups.items()
        }
        with contextlib.ExitStack() as stack:
            for group in arguments.values():
                stack.callback(group.close)
            command(**values, **arguments)

    signature = inspect.Signature(sorted(parameters, key=lambda one: one.default is not inspect.Parameter.empty))
    vars(run)["__signature__"] = signature
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _keyword(name: str, hint: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


@dataclass(frozen=True)
class TrainingOptions(OptionGroup):
    """The options of a training, made from the fields of its configuration; `values` holds those that were stated."""

    values: Mapping[str, Any]
    config: Path | None = None
    left_out: ClassVar[Collection[str]] = ()

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """An option for each field of the configuration, the seed, and the file that may hold them."""
        seed = typer.Option("--seed", min=0, help="Where all randomness starts (0).", show_default=False)
        file = typer.Option(
            "--config", help="TOML file with any of these options, or `small`, which is shipped; the command line wins."
        )
        return [
            *(_training_keyword(option) for option in OPTIONS if option.name not in cls.left_out),
            _keyword(SEED, Annotated[int | None, seed], None),
            _keyword("config", Annotated[Path | None, file], None),
        ]

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """What was stated on the command line is known by not being None."""
        stated = {name: value for name, value in values.items() if value is not None and name != "config"}
        return cls(stated, values["config"])

    def beside(self, corpus: Path) -> StatedOptions:
        """What was stated in the project file beside a corpus, in the file of `--config`, and here; the last wins."""
        stated, project = StatedOptions(), find_project_file(corpus)
        if project is not None:  # nobody typed its name: what it changes must not surprise
            screen.note(f"{project}: options of the project")
        for file in filter(None, [project, self.config]):
            stated = stated.updated(read_config(file), str(file))
        return stated.updated(self.values)

    def files(self, corpus: Path | None = None) -> list[Path]:
        """The files that options were read from or name: of options, a recipe, a taxonomy; whether there or not."""
        project = None if corpus is None else find_project_file(corpus)
        named = [self.values.get(name) for name in ("recipe", "taxonomy")]
        return [Path(file) for file in (project, self.config, *named) if file]

    def refuse(self, why: str, *, but: Collection[str] = ()) -> None:
        """Where nothing is trained by them, options are refused instead of ignored."""
        table = read_config(self.config) if self.config else {}
        for name in {**table, **self.values}:
            if name not in but:
                flags = {option.name: option.flags[0] for option in OPTIONS}
                raise UsageError(f"{flags.get(name, f'--{name}')} {why}")


class EvaluationOptions(TrainingOptions):
    """Those of a training that is evaluated on folds, whose number is an option of its own."""

    left_out: ClassVar[Collection[str]] = ("folds",)


class ComparisonOptions(TrainingOptions):
    """Those that all trainings of a comparison share."""

    left_out: ClassVar[Collection[str]] = ("folds", "strategy")


@dataclass(frozen=True)
class WorkOptions(OptionGroup):
    """Where the work is done."""

    jobs: Annotated[int, typer.Option("--jobs", min=0, help="How many processes; 0 for one a core.")] = 1
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Work on what a Dask scheduler knows, such as tcp://10.0.0.1:8786; local:4 for four workers here.",
            show_default=False,
        ),
    ] = None

    @functools.cached_property
    def executor(self) -> Executor:
        """That many processes, or this one, or the workers of a cluster."""
        if self.cluster is None:
            return executor_for(self.jobs)
        if self.jobs != WorkOptions.jobs:
            raise UsageError("--cluster goes without --jobs: its workers are all there are")
        from audioclass.cluster.executor import ClusterExecutor

        return ClusterExecutor(self.cluster)

    def close(self) -> None:
        """End what was started for the work."""
        if "executor" in vars(self):
            self.executor.close()


@dataclass(frozen=True)
class CorpusOptions(WorkOptions):
    """How a corpus is read, where the work on it is done and what is kept."""

    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
            help="The layout of the corpus, where it cannot be told; see `audioclass plugins`.",
            show_default=False,
        ),
    ] = None
    cache: Cache = None
    strict: Strict = False


def _training_keyword(option: Option) -> inspect.Parameter:
    default = option.default if not isinstance(option.default, tuple) else list(option.default)
    shown = f" ({default})" if default not in (None, "", [], True, False) else ""
    choices = f" One of {', '.join(option.parameter.choices)}." if option.parameter and option.parameter.choices else ""
    text = f"{option.help[:1].upper()}{option.help[1:]}{shown}.{choices}"
    flags = option.flags if option.type is not bool else (f"{option.flags[0]}/--no-{option.flags[0][2:]}",)
    hint = Annotated[option.type | None, typer.Option(*flags, help=text, show_default=False)]  # type: ignore[name-defined]
    return _keyword(option.name, hint, None)
