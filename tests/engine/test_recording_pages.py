import pytest
import soundfile
from runs import segmentation
from trained import RATE, mixture

from audioclass.engine.classifying import classify_recording
from audioclass.engine.models import load_model
from audioclass.engine.recording_pages import classify_to_page
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
