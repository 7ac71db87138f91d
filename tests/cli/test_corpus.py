import json
import subprocess
import sys

import numpy as np
import pytest
import soundfile
from signals import noise, tone

from audioclass.cli import run
from audioclass.corpora.manifest import Manifest


@pytest.fixture
def corpus(tmp_path):
    """Two labels in a group and one beside it, five recordings of each."""
    for i in range(15):
        path = tmp_path / "corpus" / ("animal/dog", "animal/cat", "engine")[i % 3] / f"{i}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, noise(0.3, seed=i), 16000)
    return tmp_path / "corpus"


def test_a_good_corpus_is_found_good(corpus, capsys):
    assert run(["corpus", "check", str(corpus)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    found = "read as folders; clips 15, labels 3, recordings 15, ignored 0; 0 errors, 0 notes"
    assert captured.err == f"{corpus}: {found}\n"


@pytest.fixture
def spoilt(corpus):
    dog = corpus / "animal" / "dog"
    soundfile.write(dog / "silent.wav", np.zeros(4000), 16000)
    soundfile.write(dog / "loud.wav", np.clip(tone(100, 0.5, level=2.0), -1, 1), 16000)
    soundfile.write(corpus / "engine" / "copy.flac", soundfile.read(dog / "0.wav")[0], 16000)
    (dog / "text.wav").write_text("a letter")
    (dog / "notes.md").write_text("notes")
    return corpus


def test_what_is_wrong_is_listed(spoilt, capsys):
    assert run(["corpus", "check", str(spoilt), "--jobs", "2"]) == 1
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(state, kind, where.removeprefix(f"{spoilt}/")) for state, kind, where, _ in lines] == [
        ("note", "ignored", "animal/dog/notes.md"),
        ("wrong", "unreadable", "animal/dog/text.wav"),
        ("wrong", "silent", "animal/dog/silent.wav"),
        ("note", "clipped", "animal/dog/loud.wav"),
        ("wrong", "two labels", "engine/copy.flac"),
    ]


def test_findings_for_programs(spoilt, capsys):
    assert run(["corpus", "check", str(spoilt), "--json", "--folds", "6"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["reader"], report["clips"], report["labels"]) == ("folders", 19, ["cat", "dog", "engine"])
    assert report["wrong"] == sum(finding["is_wrong"] for finding in report["findings"]) == 3
    assert {"kind": "few groups", "where": "cat", "detail": "5 groups, 6 folds need 6", "is_wrong": False} in report[
        "findings"
    ]


def test_many_findings_of_one_kind_are_cut_short(corpus, capsys):
    for i in range(25):
        (corpus / "engine" / f"{i:02}.txt").touch()
    assert run(["corpus", "check", str(corpus)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 22
    assert lines[-1].endswith("and 5 more; --json lists all")


def test_amounts_are_counted(corpus, capsys):
    assert run(["corpus", "stats", str(corpus)]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1] == "cat\t5\t33.3 %\t5\t5\t1.5"
    assert captured.out.splitlines()[-1] == "all\t15\t100.0 %\t15\t15\t4.5"
    assert "clips last 0.30 to 0.30 s, half of them at most 0.30 s; evenness of labels 1.000" in captured.err
    assert run(["corpus", "stats", str(corpus), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["labels"]["dog"] == {"clips": 5, "recordings": 5, "groups": 5, "seconds": 1.5, "folds": {}}


def test_a_recording_without_length_is_named(corpus, capsys):
    (corpus / "engine" / "text.wav").write_text("a letter")
    assert run(["corpus", "stats", str(corpus)]) == 1
    assert f"{corpus / 'engine' / 'text.wav'}: the file is text, not audio\n" in capsys.readouterr().err


def test_folds_are_written_down_and_read_again(corpus, capsys):
    output = corpus.parent / "folds.csv"
    assert run(["corpus", "split", str(corpus), "-o", str(output)]) == 0
    assert f"5 folds of 3, 3, 3, 3, 3 clips\na manifest holds no tree of labels: train with --taxonomy {corpus}\n" in (
        capsys.readouterr().err
    )
    clips = Manifest().read(output).clips
    assert {(clip.label, clip.fold) for clip in clips} == {
        (label, str(fold)) for label in ("cat", "dog", "engine") for fold in range(1, 6)
    }
    assert output.read_text().splitlines()[1].startswith("corpus/animal/cat/1.wav,cat,,,animal/cat/1.wav,")
    assert run(["corpus", "stats", str(output)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "cat\t5\t33.3 %\t5\t5\t1.5\t1\t1\t1\t1\t1"


def test_the_seed_decides(corpus, tmp_path):
    texts = []
    for seed in ("0", "0", "1"):
        assert run(["corpus", "split", str(corpus), "--folds", "2", "--seed", seed, "-o", str(tmp_path / "f.csv")]) == 0
        texts.append((tmp_path / "f.csv").read_text())
    assert texts[0] == texts[1] != texts[2]


def test_folds_go_to_standard_output(corpus):
    command = [sys.executable, "-m", "audioclass", "corpus", "split", "corpus", "-o", "-", "--folds", "3"]
    done = subprocess.run(command, cwd=corpus.parent, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "file,label,start,end,group,fold,weight"
    assert done.stdout.splitlines()[1].startswith("corpus/animal/cat/1.wav,cat,")


def test_a_reader_can_be_chosen_and_told(tmp_path, capsys):
    (tmp_path / "meta").mkdir()
    (tmp_path / "audio").mkdir()
    lines = ["filename,fold,category,esc10,src_file", "a.wav,1,dog,True,1", "b.wav,2,cat,False,2"]
    (tmp_path / "meta" / "esc50.csv").write_text("\n".join(lines))
    for name in ("a.wav", "b.wav"):
        soundfile.write(tmp_path / "audio" / name, noise(0.1), 16000)
    assert run(["corpus", "stats", str(tmp_path)]) == 0
    assert "read as esc50; clips 2," in capsys.readouterr().err
    assert run(["corpus", "stats", str(tmp_path), "--reader", "esc50", "--set", "esc10=true"]) == 0
    assert "read as esc50; clips 1," in capsys.readouterr().err
    assert run(["corpus", "stats", str(tmp_path), "--reader", "folders"]) == 0
    assert "read as folders; clips 2, labels 1," in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["check", "nothing"], 2, "nothing: no such file or folder"),
        (["check", "corpus", "--reader", "foldr"], 2, "unknown corpus reader 'foldr'; did you mean 'folders'?"),
        (["check", "corpus", "--set", "group=x"], 2, "'group=x' is for one reader; name it with --reader"),
        (["stats", "."], 0, ""),
        (["stats", "corpus/engine"], 1, "corpus/engine: no corpus that a reader knows; known are"),
        (
            ["split", "corpus", "-o", "folds.csv", "--folds", "6"],
            1,
            "label 'cat' has 5 groups, 6 folds need at least 6",
        ),
        (["split", "corpus", "-o", "no/where/folds.csv"], 2, "no/where/folds.csv: no such folder"),
        (["split", "corpus"], 2, "missing option '--output' / '-o'"),
        (["split", "corpus", "-o", "f.csv", "--folds", "1"], 2, "invalid value for '--folds'"),
    ],
)
def test_errors_are_one_line(corpus, monkeypatch, capsys, arguments, code, message):
    monkeypatch.chdir(corpus.parent)
    assert run(["corpus", *arguments]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not (corpus.parent / "folds.csv").exists()


def test_help_imports_nothing_heavy():
    lines = ("import sys", "from audioclass.cli import run", "run(['corpus', 'check', '--help'])")
    code = "; ".join([*lines, "sys.exit('numpy' in sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert "audioclass corpus check recordings/" in done.stdout
