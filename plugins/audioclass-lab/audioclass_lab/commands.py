"""`audioclass lab`: experiments on how kernels and C are chosen, on any table of features."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audioclass.cli import screen
from audioclass.cli.options import Json, OptionGroup, grouped
from audioclass.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from audioclass_lab.ledger import Ledger
    from audioclass_lab.sweeps import Sides

CRITERIA = (
    "exact_leave_one_out", "k_fold_error", "xi_alpha", "support_vectors", "radius_margin", "alignment", "alignment_c",
    "class_separability", "regularised_separability", "class_separability_c", "leave_group_out_log_loss",
)  # fmt: skip
SWEEP_C = screen.examples(
    "audioclass lab sweep-c ionosphere.csv",
    "audioclass lab sweep-c spam.csv --sigma 0.5 --points 13 -o spam-c.csv --figure spam-c.png",
)
SWEEP_SIGMA = screen.examples(
    "audioclass lab sweep-sigma ionosphere.csv --C joachims --figure ionosphere.png",
    "audioclass lab sweep-sigma features.npz --labels corpus.csv --positive speech --criterion alignment_c",
)

app = typer.Typer(
    name="lab",
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Experiments on how kernels and C are chosen.",
    epilog=screen.examples(
        "audioclass lab sweep-c ionosphere.csv",
        "audioclass lab sweep-sigma ionosphere.csv -o sigma.csv --figure sigma.svg",
        "audioclass lab surfaces --figure board.png",
    ),
)


Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE", help="A CSV with a header, or an .npz of `audioclass extract`.", show_default=False
    ),
]
Points = Annotated[int, typer.Option("--points", min=2, help="How many values are tried.")]


@dataclass(frozen=True)
class SideOptions(OptionGroup):
    """Which two sides of the examples of a table are told apart."""

    label: Annotated[str | None, typer.Option("--label", help="Column of the labels; `label` or the last one.")] = None
    group: Annotated[str | None, typer.Option("--group", help="Column of what must stay together in folds.")] = None
    labels: Annotated[
        Path | None, typer.Option("--labels", help="CSV of file, label and group, for features without labels.")
    ] = None
    positive: Annotated[str | None, typer.Option("--positive", help="The label on one side.")] = None
    negative: Annotated[str | None, typer.Option("--negative", help="The other side; all other labels by default.")] = (
        None
    )
    normalisation: Annotated[str, typer.Option("--normalisation", help="standard, rank, waves or none.")] = "standard"

    def read(self, path: Path) -> Sides:
        """The two sides of a table, prepared."""
        from audioclass.classifier.preprocessing import NORMALISATIONS
        from audioclass_lab.sweeps import Sides
        from audioclass_lab.tables import read_table

        if self.normalisation not in NORMALISATIONS:
            raise unknown_name("normalisation", self.normalisation, NORMALISATIONS)
        table, y = read_table(path, self.label, self.group, self.labels).sides(self.positive, self.negative)
        X = table.filled()
        digest = f"{table.digest} {self.normalisation} {self.positive} {self.negative}"
        return Sides(NORMALISATIONS[self.normalisation](X).apply(X), y, table.groups, digest)


@dataclass(frozen=True)
class OutputOptions(OptionGroup):
    """Where results go. What was computed is kept in a ledger beside them."""

    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table here: .csv or .json.")] = None
    figure: Annotated[Path | None, typer.Option("--figure", help="Draw it: .png, .svg or .pdf.")] = None
    json: Json = False

    def check(self, inputs: Sequence[Path | None] = ()) -> None:
        """Refuse what cannot be written, or is an input, before any work is done."""
        from audioclass.outputs import refuse_inputs
        from audioclass_lab.figures import check_figure

        if self.output is not None:
            if self.output.suffix.lower() not in (".csv", ".json"):
                raise UsageError(f"{self.output}: unknown format {self.output.suffix!r}; known: .csv, .json")
            screen.check_place(self.output)
        check_figure(self.figure)
        written = [place for place in (self.output, self.figure) if place is not None]
        refuse_inputs(written, [path for path in inputs if path is not None])

    def ledger(self, name: str) -> Ledger:
        """Beside the output or the figure, else in the user's cache."""
        from audioclass.engine.runs import user_cache
        from audioclass.outputs import written_file
        from audioclass_lab.ledger import Ledger

        place = next((file for file in map(written_file, filter(None, (self.output, self.figure))) if file), None)
        folder = user_cache() / "lab"
        return Ledger(folder / f"{name}.jsonl" if place is None else place.with_name(f"{place.name}.ledger.jsonl"))

    def show(self, rows: Sequence[Mapping[str, Any]], everything: Any) -> None:
        """The rows as a table on the screen and as a file, or everything as JSON."""
        from audioclass.outputs import atomic_write

        if self.output is not None:
            is_json = self.output.suffix.lower() == ".json"
            atomic_write(self.output, _as_json(everything) if is_json else _as_csv(rows))
        if self.json:
            screen.out_json(everything)
        elif self.output is None:
            screen.table(list(rows[0]), [[_shown(value) for value in row.values()] for row in rows])


@app.command("sweep-c", epilog=SWEEP_C)
@grouped
def sweep_c(
    *,
    path: Table,
    data: SideOptions,
    outputs: OutputOptions,
    sigma: Annotated[float, typer.Option("--sigma", help="Of the gaussian kernel.")] = 1.0,
    low: Annotated[float, typer.Option("--from", help="Smallest C.")] = 1e-6,
    high: Annotated[float, typer.Option("--to", help="Largest C.")] = 1e6,
    points: Points = 25,
) -> None:
    """Errors, support vectors and time of a machine over C, with Joachims' value marked."""
    from audioclass.kernels.gaussian import Gaussian
    from audioclass_lab.figures import draw_error_factors
    from audioclass_lab.sweeps import sweep_error_factor

    outputs.check([path, data.labels])
    values = _log_grid("C", low, high, points)
    kernel, sides = Gaussian(sigma), data.read(path)
    with screen.progress() as progress:
        rows, summary = sweep_error_factor(sides, kernel, values, outputs.ledger("sweep-c"), progress)
    if outputs.figure is not None:
        draw_error_factors(outputs.figure, rows, summary)
    outputs.show(rows, {"rows": rows, "summary": summary})
    screen.note("; ".join(f"{name.replace('_', ' ')} {_shown(value)}" for name, value in summary.items()))


@app.command("sweep-sigma", epilog=SWEEP_SIGMA)
@grouped
def sweep_sigma(
    *,
    path: Table,
    data: SideOptions,
    outputs: OutputOptions,
    kernel: Annotated[str, typer.Option("--kernel", help="Any kernel that has a sigma.")] = "gaussian",
    criterion: Annotated[
        list[str] | None,
        typer.Option("--criterion", help="One of those to compare, again for more; the usual ones by default."),
    ] = None,
    error_factor: Annotated[str, typer.Option("--C", "-C", help="A number, or joachims.")] = "1",
    low: Annotated[float, typer.Option("--from", help="Smallest sigma.")] = 0.1,
    high: Annotated[float, typer.Option("--to", help="Largest sigma.")] = 20.0,
    points: Points = 25,
) -> None:
    """What each criterion says over sigma, which sigma it chooses, and the exact leave-one-out error there."""
    from audioclass.plugins.manager import plugin_manager
    from audioclass_lab import sweeps
    from audioclass_lab.figures import draw_sigmas

    outputs.check([path, data.labels])
    manager = plugin_manager()
    criteria = [manager.make("criterion", name) for name in dict.fromkeys(criterion or CRITERIA)]
    swept = manager.make("kernel", kernel)
    if not hasattr(swept, "sigma"):
        raise UsageError(f"kernel {kernel!r} has no sigma to sweep")
    values, C = _log_grid("sigma", low, high, points), _error_factor(error_factor)
    sides = data.read(path)
    with screen.progress() as progress:
        sweep = sweeps.sweep_sigma(sides, swept, values, criteria, C, outputs.ledger("sweep-sigma"), progress)
    if outputs.figure is not None:
        draw_sigmas(outputs.figure, sweep.rows, sweep.chosen, {one.name: one.better for one in criteria})
    outputs.show(sweep.chosen, {"rows": sweep.rows, "chosen": sweep.chosen})


@app.command(epilog=screen.examples("audioclass lab surfaces --set curve --sigma 0.1 --sigma 1 --C 2 --figure c.png"))
@grouped
def surfaces(
    *,
    outputs: OutputOptions,
    name: Annotated[str, typer.Option("--set", help="checkerboard or curve.")] = "checkerboard",
    examples: Annotated[int, typer.Option("--examples", min=4, help="How many.")] = 100,
    sigma: Annotated[list[float] | None, typer.Option("--sigma", help="Again for more.")] = None,
    error_factor: Annotated[list[float] | None, typer.Option("--C", "-C", help="Again for more.")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Of the examples.")] = 0,
) -> None:
    """Decision surfaces of two made-up sets for several sigma and C."""
    import numpy as np

    from audioclass_lab import surfaces as shapes
    from audioclass_lab.figures import draw_surfaces

    outputs.check()
    if name not in shapes.SETS:
        raise unknown_name("set", name, shapes.SETS)
    sigmas, Cs = sigma or [0.05, 0.2, 1.0], error_factor or [1.0, 10.0, 1000.0]
    for value in [*sigmas, *Cs]:
        _positive("sigma and C", value)
    X, y = shapes.SETS[name](examples, np.random.default_rng(seed))
    with screen.progress() as progress:
        drawn = shapes.surfaces(X, y, sigmas, Cs, outputs.ledger("surfaces"), progress)
    if outputs.figure is not None:
        draw_surfaces(outputs.figure, X, y, drawn)
    rows = [{key: value for key, value in vars(surface).items() if key != "scores"} for surface in drawn]
    outputs.show(rows, {"set": name, "rows": rows})


def _log_grid(name: str, low: float, high: float, points: int) -> list[float]:
    import numpy as np

    _positive(name, low)
    _positive(name, high)
    if not low < high:
        raise UsageError(f"{name}: from {low:g} must be below to {high:g}")
    return [float(value) for value in np.geomspace(low, high, points)]


def _positive(name: str, value: float) -> None:
    if not 0 < value < float("inf"):
        raise UsageError(f"{name}={value} must be positive and finite")


def _error_factor(text: str) -> float | None:
    """None for Joachims' value."""
    if text == "joachims":
        return None
    try:
        C = float(text)
    except ValueError as error:
        raise UsageError(f"C={text!r} must be a number or 'joachims'") from error
    _positive("C", C)
    return C


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _as_json(everything: Any) -> str:
    return dumps(everything, ensure_ascii=False, indent=2) + "\n"


def _as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(rows[0])
    lines.writerows(["" if value is None else value for value in row.values()] for row in rows)
    return text.getvalue()
