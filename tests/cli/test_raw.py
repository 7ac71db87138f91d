"""Raw samples: `--rate`, `--encoding` and `--channels` of `audioclass classify`."""

import io
import types

import pytest
import soundfile
from trained import RATE, mixture

import audioclass
from audioclass.cli import run

STATED = ["--rate", str(RATE), "--encoding", "s16le"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recording with a header, and its samples without one."""
    folder = tmp_path_factory.mktemp("raw")
    soundfile.write(folder / "mixture.wav", mixture(), RATE, subtype="PCM_16")
    samples, _ = soundfile.read(folder / "mixture.wav", dtype="int16")
    (folder / "mixture.raw").write_bytes(samples.astype("<i2").tobytes())
    return folder


def rows(capsys):
    return [line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()[1:]]


@pytest.fixture
def standard_input(monkeypatch):
    def put(content):
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=io.BytesIO(content)))

    return put


def test_raw_samples_from_a_file_a_folder_a_pipe_and_a_live_stream_give_the_lines_of_the_recording(
    folder, model_file, capsys, standard_input
):
    model = ["-m", str(model_file)]
    assert run(["classify", str(folder / "mixture.wav"), *model]) == 0
    expected = rows(capsys)
    for paths in ([str(folder / "mixture.raw")], [str(folder)], ["-"], ["--follow", "-"]):
        standard_input((folder / "mixture.raw").read_bytes())
        assert run(["classify", *paths, *model, *STATED]) == 0
        assert rows(capsys) == expected


def test_raw_samples_in_python_are_those_of_the_recording(folder, model_file):
    model = audioclass.load_model(model_file)
    recording = audioclass.classify(folder / "mixture.wav", model)
    stream = io.BytesIO((folder / "mixture.raw").read_bytes())
    raw = audioclass.classify(stream, model, sample_rate=RATE, encoding="s16le")
    assert raw.segments == recording.segments
    assert raw.P.tobytes() == recording.P.tobytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["mixture.raw", "--encoding", "s16le"], "the rate must be stated too, such as --rate 16000"),
        (["mixture.raw", "--rate", "16000", "--encoding", "s16"], "unknown encoding 's16'"),
        (["mixture.raw", "--channels", "2"], "the rate and the encoding must be stated too"),
        (["mixture.wav", *STATED], "mixture.wav: has the header of WAV"),
        (["-", *STATED], "standard input: has the header of WAV"),
        (["-", "--follow", *STATED], "standard input: has the header of WAV"),
        (["mixture.raw", *STATED, "--report", "page.html"], "--report goes without --encoding"),
    ],
)
def test_contradictions_are_one_line(folder, model_file, monkeypatch, capsys, standard_input, arguments, message):
    monkeypatch.chdir(folder)
    standard_input((folder / "mixture.wav").read_bytes())
    assert run(["classify", "-m", str(model_file), *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_part_of_a_sample_is_reported_and_the_rest_classified(folder, model_file, capsys, standard_input):
    standard_input((folder / "mixture.raw").read_bytes()[:-1])
    assert run(["classify", "-", "-m", str(model_file), *STATED]) == 1
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 5
    assert "ends with 1 of the 2 bytes of a sample; classified up to there" in err


def test_a_batch_goes_on_only_with_what_was_stated(folder, model_file, tmp_path, monkeypatch, capsys):
    output = tmp_path / "segments.csv"
    ledger = tmp_path / ".segments.csv.ledger"
    monkeypatch.setattr("audioclass.engine.batches.Ledger.close", lambda self: None)
    arguments = ["classify", str(folder / "mixture.raw"), "-m", str(model_file), "-o", str(output)]
    assert run([*arguments, *STATED]) == 0
    assert ledger.exists()
    assert run([*arguments, "--rate", "11025", "--encoding", "s16le", "--resume"]) == 2
    assert "made with another model or other options" in capsys.readouterr().err
    assert run([*arguments, *STATED, "--resume"]) == 0
    assert "(1 from before)" in capsys.readouterr().err
