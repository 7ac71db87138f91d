"""The page of a model or a configuration that was evaluated."""

from __future__ import annotations

from pathlib import Path

from audioclass.engine.evaluated import Evaluated
from audioclass.evaluation.evaluation import Evaluation
from audioclass.evaluation.multi_label import MultiLabelEvaluation
from audioclass.reports.evaluation import write_evaluation
from audioclass.reports.multi_label import write_multi_label
from audioclass.reports.players import relative_link
from audioclass.trees.drawing import draw_svg
from audioclass.trees.reading import read_toml


def write_evaluation_page(
    page: Path,
    evaluated: Evaluated,
    evaluation: Evaluation | MultiLabelEvaluation,
    corpus: Path,
    model: Path | None = None,
) -> None:
    """The page of an evaluation on a corpus: of a model, or of a configuration where there is none."""

    def link(clip: str) -> str:
        return relative_link(Path(clip.partition("#t=")[0]), page.resolve())

    notes = {"corpus": str(corpus), "recordings": str(len(set(evaluated.dataset.clip_names)))}
    if model is not None:
        notes["model"] = str(model)
    elif evaluated.tree:
        notes["tree"] = "as it was learnt without the first fold"
    if warnings := evaluated.warnings(evaluation):
        notes["mind"] = "; ".join(warnings)
    if isinstance(evaluation, MultiLabelEvaluation):
        write_multi_label(page, evaluation, title=f"Evaluation on {corpus.resolve().name}", notes=notes)
        return
    drawing = draw_svg(read_toml(evaluated.tree)) if evaluated.tree else ""
    title = f"Evaluation on {corpus.resolve().name}"
    write_evaluation(page, evaluation, title=title, notes=notes, drawing=drawing, audio=link)
