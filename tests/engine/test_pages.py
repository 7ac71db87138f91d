"""Pages of a recording that was classified and of an evaluation."""

import pytest
import soundfile
from runs import segmentation
from trained import RATE, mixture

from audioclass.engine.classifying import classify_recording
from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.models import load_model
from audioclass.engine.pages import classify_to_page, write_evaluation_page
from audioclass.errors import AudioFileError


@pytest.fixture(scope="module")
def model(model_file):
    return load_model(model_file)


def test_a_recording_with_a_page_is_classified_as_without(model, tmp_path):
    recording, page = tmp_path / "talk.wav", tmp_path / "page.html"
    soundfile.write(recording, mixture(), RATE, subtype="FLOAT")
    result = classify_to_page(recording, page, model, segmentation()).result
    assert result.segments == classify_recording(recording, model, segmentation()).result.segments
    labels = ", ".join(sorted({segment.label for segment in result.segments}))
    assert f"<title>talk.wav: {labels}</title>" in page.read_text(encoding="utf-8")


def test_a_recording_that_cannot_be_read_has_no_page(model, tmp_path):
    with pytest.raises(AudioFileError, match="no such file"):
        classify_to_page(tmp_path / "no.wav", tmp_path / "page.html", model, segmentation())
    assert not list(tmp_path.iterdir())


def test_the_page_of_an_evaluation_names_its_corpus_and_model(model, model_file, small, tmp_path):
    corpus, page = small / "corpus", tmp_path / "page.html"
    evaluated = evaluate_model(model, corpus)
    write_evaluation_page(page, evaluated, evaluated.evaluation(n_resamples=10), corpus, model_file)
    text = page.read_text(encoding="utf-8")
    assert "<title>Evaluation on corpus</title>" in text
    assert str(corpus) in text
    assert str(model_file) in text
