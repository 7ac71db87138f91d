"""Figures of the experiments, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from audioclass.cli import screen
from audioclass.errors import UsageError
from audioclass.outputs import beside
from audioclass.recordings import FOLDER, irregularity
from audioclass_lab.surfaces import Surface

FORMATS = (".png", ".svg", ".pdf")


def check_figure(path: Path | None) -> None:
    """Refuse, before any work, a figure that cannot be drawn."""
    if path is None:
        return
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path}: unknown format {path.suffix!r}; known: {', '.join(FORMATS)}")
    if irregularity(path.parent) != FOLDER:
        raise UsageError(f"{path.parent}: not a folder")
    screen.check_place(path)


def draw_error_factors(path: Path, rows: Sequence[Mapping[str, Any]], summary: Mapping[str, Any]) -> None:
    """Error curves over C, with Joachims' value and the least leave-one-out error marked."""
    figure, [[axes]] = _figure(1, 1)
    Cs = [row["C"] for row in rows]
    for key, name in (
        ("training_error", "training error"),
        ("leave_one_out", "leave-one-out error"),
        ("support_vectors", "support vectors"),
        ("relative_time", "training time"),
    ):
        axes.plot(Cs, [np.nan if row[key] is None else row[key] for row in rows], label=name)
    axes.axvline(summary["joachims"], linestyle="--", color="black", label="Joachims' C")
    if summary["best"] is not None:
        axes.plot(summary["best"], summary["best_leave_one_out"], "o", color="black", label="least leave-one-out")
    axes.set(xscale="log", xlabel="C", ylabel="share of examples", ylim=(0, 1.02))
    axes.legend(fontsize="small")
    _save(figure, path)


def draw_sigmas(
    path: Path, rows: Sequence[Mapping[str, Any]], chosen: Sequence[Mapping[str, Any]], better: Any
) -> None:
    """Criteria over sigma in two panels, those to be minimised and those to be maximised; choices are dots.

    `better` tells which, by the name of the criterion; each curve is stretched from 0 to 1.
    """
    figure, [panels] = _figure(1, 2)
    sigmas = np.array([row["sigma"] for row in rows])
    for axes, direction in zip(panels, ("lower", "higher"), strict=True):
        for one in (one for one in chosen if better[one["criterion"]] == direction):
            values = np.array([np.nan if row[one["criterion"]] is None else row[one["criterion"]] for row in rows])
            low, high = (np.nanmin(values), np.nanmax(values)) if np.isfinite(values).any() else (0.0, 1.0)
            stretched = (values - low) / ((high - low) or 1.0)
            [line] = axes.plot(sigmas, stretched, label=one["criterion"])
            at = sigmas == one["sigma"]
            axes.plot(sigmas[at], stretched[at], "o", color=line.get_color())
        axes.set(xscale="log", xlabel="sigma", title=f"{direction} is better")
        if axes.lines:
            axes.legend(fontsize="x-small")
    _save(figure, path)


def draw_surfaces(path: Path, X: np.ndarray, y: np.ndarray, surfaces: Sequence[Surface]) -> None:
    """One panel for each surface, a row for each sigma: signs of the scores, the border and the examples."""
    sigmas = list(dict.fromkeys(surface.sigma for surface in surfaces))
    figure, panels = _figure(len(sigmas), len(surfaces) // len(sigmas))
    axis = np.linspace(0, 1, surfaces[0].scores.shape[0])
    for axes, surface in zip([axes for row in panels for axes in row], surfaces, strict=True):
        axes.contourf(axis, axis, surface.scores, levels=[-np.inf, 0, np.inf], colors=["#cfe3f5", "#f8dcc4"])
        axes.scatter(*X.T, c=np.where(y > 0, "#c4520e", "#0b5394"), s=8)
        axes.set(title=f"σ = {surface.sigma:g}, C = {surface.C:g}", xticks=[], yticks=[], aspect="equal")
    _save(figure, path)


def _figure(n_rows: int, n_columns: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow to import, and only figures need it
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * n_columns, 3.6 * n_rows), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(n_rows, n_columns, squeeze=False)


def _save(figure: Any, path: Path) -> None:
    with beside(path) as part:
        figure.savefig(part, format=path.suffix.lower().removeprefix("."), dpi=150)
