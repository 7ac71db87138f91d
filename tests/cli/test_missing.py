"""Recordings that a corpus names and that are not there: told of, and the exit code says that some are missing."""

import pytest
from trained import write_corpus

from audioclass.cli import run


def without(folder, part, gone, layout):
    """A corpus of the layout in which one recording, or every one of a label, is not there; and the missing files."""
    write_corpus(folder / "audio", 4)
    files = sorted((folder / "audio").rglob("*.wav"))
    missing = [file for file in files if file.parent.name == gone][: None if part == "all" else 1]
    (folder / "audio" / "README").write_text("no recording", encoding="utf-8")
    (folder / "audio" / ".hidden.wav").symlink_to(folder / "nowhere")
    for file in missing:
        file.unlink()
    if layout == "folders":
        for file in missing:
            file.symlink_to(folder / "nowhere.wav")
        return folder / "audio", missing
    if layout == "table":
        rows = [f"audio/{file.parent.name}/{file.name},{file.parent.name}" for file in files]
        (folder / "table.csv").write_text("\n".join(["file,label", *rows, ""]), encoding="utf-8")
        return folder / "table.csv", missing
    for file in files:
        if file not in missing:
            file.rename(folder / "audio" / file.name)
    rows = [f"{file.name},1,0,{file.parent.name},False,{file.stem},A" for file in files]
    (folder / "meta").mkdir()
    header = "filename,fold,target,category,esc10,src_file,take"
    (folder / "meta" / "esc50.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return folder, [folder / "audio" / file.name for file in missing]


pytestmark = pytest.mark.filterwarnings("ignore:platt")  # so few recordings
LAYOUTS = ["folders", "table", "esc50"]


@pytest.fixture
def commands(small, model_file, tmp_path):
    """The commands that read a corpus, each with the words before and after it."""
    training = ["--recipe", str(small / "small.toml"), "--cache", str(tmp_path / "cache")]
    caching = ["--cache", str(tmp_path / "cache")]
    return {
        "train": lambda corpus: ["train", corpus, *training, "-o", str(tmp_path / "m.audioclass")],
        "evaluate": lambda corpus: ["evaluate", corpus, "--folds", "2", *training],
        "evaluate a model": lambda corpus: ["evaluate", str(model_file), corpus, *caching],
        "compare": lambda corpus: [
            *("compare", corpus, "--with", "one_vs_one", "--with", "one_vs_rest", "--folds", "2"),
            *training,
        ],
    }


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("command", ["train", "evaluate", "evaluate a model", "compare"])
def test_a_missing_recording_is_told_of(commands, tmp_path, capsys, layout, command):
    corpus, [missing] = without(tmp_path / "corpus", "one", "tone", layout)
    assert run(commands[command](str(corpus))) == 1
    error = capsys.readouterr().err
    assert f"{missing}: no such file" in error
    assert "README" not in error
    assert ".hidden" not in error


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("command", ["train", "evaluate", "compare"])
def test_a_label_of_which_all_is_missing_is_refused(commands, tmp_path, capsys, layout, command):
    corpus, missing = without(tmp_path / "corpus", "all", "tone", layout)
    assert run(commands[command](str(corpus))) == 1
    assert f"label 'tone': none of its recordings could be read (4 failed, such as {missing[0]}" in (
        capsys.readouterr().err
    )
    assert not (tmp_path / "m.audioclass").exists()


def test_calibration_tells_of_missing_recordings(small, model_file, tmp_path, capsys):
    write_corpus(tmp_path / "corpus", 4, first=20)
    missing = tmp_path / "corpus" / "tone" / "gone.wav"
    missing.symlink_to(tmp_path / "nowhere.wav")
    command = ["calibrate", str(model_file), str(tmp_path / "corpus"), "--anyway", "--cache", str(tmp_path / "cache")]
    assert run([*command, "-o", str(tmp_path / "new.audioclass")]) == 1
    assert f"{missing}: no such file\n" in capsys.readouterr().err
    assert (tmp_path / "new.audioclass").exists()
