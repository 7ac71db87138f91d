"""No command writes over what it reads; links and devices are written through."""

import os
import shutil

import pytest
from trained import QUICK, write_corpus

from audioclass.cli import run

TREE = 'sounding = ["tone", "noise", "clicks"]\n'


@pytest.fixture
def place(tmp_path, monkeypatch, model_file, small):
    """A folder with one of everything that a command reads; what stands in it, by name."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(model_file, "m.audioclass")
    shutil.copy(model_file, "n.audioclass")
    shutil.copy(small / "small.toml", "recipe.toml")
    (tmp_path / "taxonomy.toml").write_text(TREE)
    (tmp_path / "config.toml").write_text('criterion = "fixed"\n')
    write_corpus(tmp_path / "corpus", 1)
    write_corpus(tmp_path / "beside", 1)
    for path in (tmp_path / "beside").rglob("*.wav"):
        path.with_suffix(".txt").write_text(f"0\t1\t{path.parent.name}\n")
    (tmp_path / "table.csv").write_text("file,label\ncorpus/tone/tone-0.wav,tone\ncorpus/noise/noise-0.wav,noise\n")
    assert run(["tree", "export", "m.audioclass", "-o", "tree.toml"]) == 0
    return tmp_path


def content(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}


RECORDING = "corpus/tone/tone-0.wav"
COMMANDS = [
    f"classify {RECORDING} -m m.audioclass -f csv -o {RECORDING}",
    f"classify {RECORDING} -m m.audioclass --report {RECORDING}",
    "classify corpus -m m.audioclass -f csv -o corpus/noise/noise-0.wav",
    "classify corpus -m m.audioclass -f csv -o m.audioclass",
    "classify corpus/tone -m m.audioclass -f csv -o page --report page",
    "extract corpus --recipe recipe.toml -o link.csv",
    "train corpus --recipe recipe.toml -o recipe.toml",
    "train corpus --recipe recipe.toml --taxonomy taxonomy.toml -o taxonomy.toml",
    "train corpus --recipe recipe.toml --config config.toml -o config.toml",
    f"train corpus --recipe recipe.toml -o {RECORDING}",
    "train table.csv --recipe recipe.toml -o table.csv",
    "train beside --recipe recipe.toml -o beside/noise/noise-0.txt",
    "train corpus --update m.audioclass -o m.audioclass",
    "train corpus --recipe recipe.toml --tree tree.toml -o tree.toml",
    "evaluate m.audioclass corpus --report m.audioclass",
    f"evaluate m.audioclass corpus --report {RECORDING}",
    f"evaluate corpus --recipe recipe.toml --report {RECORDING}",
    "evaluate corpus --recipe recipe.toml --config config.toml --report config.toml",
    "compare table.csv --with m.audioclass --with n.audioclass --report n.audioclass",
    "compare table.csv --with m.audioclass --with n.audioclass --report table.csv",
    f"compare corpus --recipe recipe.toml --with one_vs_one --with one_vs_rest --report {RECORDING}",
    "calibrate m.audioclass corpus -o m.audioclass",
    f"calibrate m.audioclass corpus -o {RECORDING}",
    "tree export m.audioclass -o m.audioclass -f toml",
    "tree edit m.audioclass --tree tree.toml -C tone=2 -o tree.toml",
    "corpus split table.csv --folds 2 -o table.csv",
    f"corpus split corpus --folds 2 -o {RECORDING}",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_that_is_an_input_is_refused(place, command, capsys):
    (place / "link.csv").symlink_to("corpus/tone/tone-0.wav")
    before = content(place)
    assert run([*command.split(), *(["--cache", "-"] if command.split()[0] in ("train", "evaluate") else [])]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    message = captured.err.splitlines()[-1]
    assert "the output must be another file" in message or "is written twice" in message
    assert content(place) == before


@pytest.mark.parametrize("command", ["classify", "extract"])
def test_a_link_stays_a_link_and_a_device_a_device(place, command, monkeypatch):
    (place / "out.csv").symlink_to("elsewhere.csv")
    (place / "null.csv").symlink_to(os.devnull)
    arguments = ["-m", "m.audioclass"] if command == "classify" else ["--recipe", "recipe.toml", "--no-cache"]
    for name in ("out.csv", "out.csv", "null.csv"):
        assert run([command, "corpus/tone", *arguments, "-o", name]) == 0
    assert (place / "out.csv").is_symlink()
    assert (place / "elsewhere.csv").read_text().startswith("file,start,end,")
    assert (place / "null.csv").is_char_device()
    assert not [path for path in place.iterdir() if path.name.startswith(".")]


def test_a_model_may_be_written_again_into_its_corpus(place):
    shutil.copy("m.audioclass", "corpus/corpus.audioclass")
    arguments = ["--recipe", "recipe.toml", *QUICK, "--cache", "cache"]
    write_corpus(place / "corpus", 4, first=1)
    assert run(["train", "corpus", *arguments, "-o", "corpus/corpus.audioclass"]) == 0
