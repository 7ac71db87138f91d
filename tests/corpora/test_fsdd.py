import pytest

from audioclass.corpora.fsdd import SpokenDigits
from audioclass.errors import CorpusError


def test_names_say_digit_and_speaker(written):
    names = ("7_jackson_10.wav", "7_jackson_9.wav", "0_theo_0.wav", "readme.md", "10_theo_0.wav", ".DS_Store")
    folder = written({f"recordings/{name}": "" for name in names})
    corpus = SpokenDigits().read(folder)
    assert [(clip.file.name, clip.label, clip.group) for clip in corpus.clips] == [
        ("0_theo_0.wav", "zero", "theo"),
        ("7_jackson_9.wav", "seven", "jackson"),
        ("7_jackson_10.wav", "seven", "jackson"),
    ]
    assert [one.file.name for one in corpus.ignored] == ["10_theo_0.wav", "readme.md"]
    assert {one.reason for one in corpus.ignored} == {"not named {digit}_{speaker}_{index}.wav"}
    assert {clip.fold for clip in corpus.clips} == {""}


def test_nothing_to_read_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="recordings: no folder with files in it"):
        SpokenDigits().read(tmp_path)
