"""What `audioclass calibrate` does: a model file whose calibration is fitted anew."""

from __future__ import annotations

from pathlib import Path

from audioclass.classifier.saving import SUFFIX, save_model
from audioclass.cli import screen
from audioclass.cli.actions.corpus_run import corpus_run
from audioclass.cli.options import CorpusOptions
from audioclass.engine import calibrating


def calibrate(model: str, corpus: Path, gathering: CorpusOptions, *, output: Path | None, json: bool) -> None:
    """Fit the calibration anew, save the model and say what that did to the log-loss."""
    output = output or Path(f"{Path(model).stem}-calibrated{SUFFIX}")
    screen.check_place(output, [Path(model)])
    with screen.progress() as progress:
        run = corpus_run(gathering, progress, outputs=[output])
        calibrated = calibrating.calibrate(model, corpus, reader=gathering.reader, run=run)
    save_model(calibrated.model, output)
    before, after = calibrated.log_loss_before, calibrated.log_loss_after
    if json:
        screen.out_json(
            {"model": str(output), "log_loss_before": before, "log_loss_after": after if after == after else None}
        )
    else:
        screen.out(f"{output}: log-loss {before:.3f} before, {after:.3f} after, on groups that were held out")
    if not after < before:
        screen.warn("the new calibration is no better than the old one on recordings that it did not see")
