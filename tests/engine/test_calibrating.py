from dataclasses import replace

import numpy as np
import pytest
from runs import run
from trained import train_small, write_corpus

from audioclass.classifier.saving import save_model
from audioclass.engine.calibrating import calibrate
from audioclass.engine.evaluating import evaluate_model, trained_already
from audioclass.errors import CorpusError
from audioclass.numerics import log_loss


@pytest.fixture(scope="module")
def too_sure(small, tmp_path_factory):
    """A model that is sure of what is wrong: its calibration is spoilt, its machines are good."""
    model = train_small(small, strategy="one_vs_one").model
    spoilt = tuple(
        dict(fitted, offset=fitted["offset"] + 4 * (-1) ** i) for i, fitted in enumerate(model.classifier.calibrations)
    )
    path = tmp_path_factory.mktemp("spoilt") / "spoilt.audioclass"
    classifier = replace(model.classifier, calibrations=spoilt)
    spoilt_model = type(model).of("spoilt", model.recipe, model.preprocessing, classifier, model.taxonomy, model.about)
    save_model(spoilt_model, path)
    return path


def test_a_bad_calibration_is_mended(too_sure, small, tmp_path):
    local = write_corpus(tmp_path / "local", 4, first=6)
    made = calibrate(too_sure, local, run=run(small / "cache"))
    assert made.log_loss_after < 0.5 * made.log_loss_before
    new, y = made.model, made.dataset.y
    assert log_loss(new.posteriors_of(made.dataset.X), y) < made.log_loss_before
    assert new.about["calibrated_on"] == made.dataset.fingerprint


def test_machines_stay_as_they_are(too_sure, small, tmp_path):
    from audioclass.engine.models import load_model

    made = calibrate(too_sure, write_corpus(tmp_path / "local", 3, first=6), run=run(small / "cache")).model
    old, new = load_model(too_sure).classifier.machines, made.classifier.machines
    assert np.array_equal(old.X, new.X)
    assert all(
        one.coefficients.tobytes() == two.coefficients.tobytes() for one, two in zip(old.parts, new.parts, strict=True)
    )


def test_a_single_group_cannot_say_whether_it_helped(too_sure, small, tmp_path):
    made = calibrate(too_sure, write_corpus(tmp_path / "local", 1, first=6), run=run(small / "cache"))
    assert np.isnan(made.log_loss_after)


def test_every_label_is_needed(too_sure, small, tmp_path):
    with pytest.raises(CorpusError, match="label 'noise' has no recording; calibration needs some of every label"):
        calibrate(too_sure, write_corpus(tmp_path / "local", 2, labels=("clicks", "tone")), run=run(small / "cache"))
    with pytest.raises(CorpusError, match="the model has no label 'tones'; did you mean 'tone'"):
        calibrate(too_sure, write_corpus(tmp_path / "other", 2, labels=("tones",)), run=run(small / "cache"))


def test_an_old_model_says_that_it_cannot_recognise_recordings(trained, small, tmp_path):
    """One of before models kept the names of recordings, on recordings that may have trained it."""
    old = replace(trained.model, recordings=None)
    save_model(old, tmp_path / "old.audioclass")
    write_corpus(tmp_path / "local", 4, first=20)
    expected = "is older than the names of recordings in models: one that it was trained on cannot be recognised"
    calibrated = calibrate(tmp_path / "old.audioclass", tmp_path / "local", run=run(small / "cache"))
    assert [remark for remark in calibrated.dataset.remarks if "older" in remark] == [f"{old.name} {expected}"]
    evaluated = evaluate_model(old, tmp_path / "local", run=run(small / "cache"))
    assert trained_already(old, evaluated.dataset) == expected
    assert not trained_already(trained.model, evaluated.dataset)
