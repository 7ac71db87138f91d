"""What `audioclass calibrate` does: a model file whose calibration is fitted anew."""

from __future__ import annotations

from pathlib import Path

import typer

from audioclass.classifier.saving import SUFFIX, save_model
from audioclass.cli import screen
from audioclass.cli.actions.corpus_run import corpus_progress, corpus_run
from audioclass.cli.actions.evaluate_model import GateError
from audioclass.cli.options import CorpusOptions
from audioclass.engine import calibrating
from audioclass.engine.calibrating import Recalibrated


def calibrate(
    model: str, corpus: Path, gathering: CorpusOptions, *, output: Path | None, anyway: bool, json: bool
) -> None:
    """Fit the calibration anew, say what that did to the log-loss, and save the model where it did good.

    With `anyway` it is saved whatever it did.
    """
    output = output or Path(f"{Path(model).stem}-calibrated{SUFFIX}")
    screen.check_place(output, [Path(model)])
    with corpus_progress(gathering) as progress:
        run = corpus_run(gathering, progress, outputs=[output])
        calibrated = calibrating.calibrate(model, corpus, reader=gathering.reader, run=run)
    is_written = calibrated.is_better or anyway
    if is_written:
        save_model(calibrated.model, output)
    _show(calibrated, output if is_written else None, json=json)
    if not calibrated.is_better:
        _tell_no_better(calibrated, output, is_written=is_written)
    raise typer.Exit(1 if calibrated.dataset.failures else 0)


def _tell_no_better(calibrated: Recalibrated, output: Path, *, is_written: bool) -> None:
    """Say that the new calibration is no better; an error where it was not written for that."""
    reason = "the new calibration is no better than the old one on recordings that it did not see"
    if calibrated.log_loss_after != calibrated.log_loss_after:
        reason = "a label has recordings of one group alone: nothing tells whether the new calibration is better"
    if not is_written:
        raise GateError(f"{output}: not written: {reason}; --anyway writes it")
    screen.warn(reason)


def _show(calibrated: Recalibrated, output: Path | None, *, json: bool) -> None:
    before, after = calibrated.log_loss_before, calibrated.log_loss_after
    if json:
        screen.out_json(
            {
                "model": None if output is None else str(output),
                "log_loss_before": before,
                "log_loss_after": after if after == after else None,
            }
        )
    else:
        name = "calibration" if output is None else str(output)
        known = f"{after:.3f}" if after == after else "unknown"
        screen.out(f"{name}: log-loss {before:.3f} before, {known} after, on groups that were held out")
    for _, reason in calibrated.dataset.failures:
        screen.note(reason)
    for warning in calibrated.dataset.remarks:
        screen.warn(warning)
