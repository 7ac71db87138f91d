import itertools
import json

import numpy as np
import pytest
from trained import write_corpus

from audioclass.cli import run
from audioclass.engine.models import load_model


@pytest.fixture
def train(small, tmp_path, monkeypatch):
    """Run `audioclass train` on the small corpus, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments, corpus=small / "corpus", recipe=True):
        fixed = ["--recipe", str(small / "small.toml"), "--criterion", "fixed"] if recipe else []
        return run(["train", str(corpus), "--cache", str(small / "cache"), *fixed, *map(str, arguments)])

    return command


def test_a_model_is_written_with_its_tree_and_report(train, tmp_path, capsys):
    assert train() == 0
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[0] == "group 1"
    assert sum("log-loss" in line and "gaussian_unscaled sigma=1 C=10" in line for line in lines) >= 3
    assert "out of fold\taccuracy\tlog-loss\tECE" in lines
    assert [line.split("\t")[0] for line in lines[-4:]] == [
        "held out by recording, per recording",
        "held out by recording, per window",
        "random split, leaks recordings, per recording",
        "random split, leaks recordings, per window",
    ]
    assert captured.err.startswith("corpus.audioclass: 3 labels, ")
    assert load_model(tmp_path / "corpus.audioclass").labels == ("clicks", "noise", "tone")


def test_machines_without_a_tree_are_a_table(train, capsys):
    assert train("--strategy", "one_vs_rest") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "label or group\tagainst\tkernel\tC\texamples\tlog-loss"
    assert [line.split("\t")[:4] for line in lines[1:4]] == [
        [label, "the rest", "gaussian_unscaled sigma=1", "10"] for label in ("clicks", "noise", "tone")
    ]


def test_one_window_a_recording_is_reported_once(train, capsys):
    assert train("--window", 5, "--hop", 5) == 0
    out = capsys.readouterr().out
    assert "held out by recording, per recording" in out
    assert "per window" not in out


def test_the_report_for_programs(train, capsys):
    assert train("--json", "-o", "m.audioclass") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["model"] == "m.audioclass"
    assert said["report"]["grouped"]["recording"]["accuracy"] == 1
    assert set(said["report"]["random_split"]) == {"recording", "window"}
    assert said["corpus"]["recordings"] == 18
    assert len(said["machines"]) >= 3


def test_choices_may_stand_in_a_file(train, tmp_path, capsys):
    (tmp_path / "mine.toml").write_text('strategy = "dag"\nC = 3\nseed = 5\n'.replace("C =", "error_factor ="))
    assert train("--config", "mine.toml", "--seed", 6, "-o", "m.audioclass") == 0
    choices = load_model(tmp_path / "m.audioclass").about["choices"]
    assert (choices["strategy"], choices["C"], choices["seed"]) == ("dag:order=[]", 3, 6)


def test_components_of_a_file_are_tables(train, tmp_path):
    (tmp_path / "mine.toml").write_text('[strategy]\nname = "one_vs_one"\ncoupling = "price"\n[kernel]\nsigma = 2\n')
    assert train("--config", "mine.toml", "-o", "m.audioclass") == 0
    choices = load_model(tmp_path / "m.audioclass").about["choices"]
    assert choices["strategy"] == "one_vs_one:coupling=price"
    assert choices["kernel"] == "gaussian_unscaled:sigma=2.0"


@pytest.mark.parametrize("place", ["corpus/audioclass.toml", "audioclass.toml"])
def test_a_project_file_beside_the_corpus_counts_unless_something_else_is_stated(train, tmp_path, capsys, place):
    corpus = write_corpus(tmp_path / "corpus", 4)
    (tmp_path / place).write_text('normalisation = "standard"\nheld_out = "folds"\nfolds = 3\nseed = 7\n')
    (tmp_path / "mine.toml").write_text("folds = 4\n")
    assert train("--config", "mine.toml", "--seed", 8, "-o", "m.audioclass", corpus=corpus) == 0
    choices = load_model(tmp_path / "m.audioclass").about["choices"]
    assert (choices["normalisation"], choices["folds"], choices["seed"]) == ("standard", 4, 8)
    assert capsys.readouterr().err.startswith(f"{tmp_path / place}: options of the project\n")


def test_a_wrong_project_file_is_named(train, tmp_path, capsys):
    corpus = write_corpus(tmp_path / "corpus", 2)
    (corpus / "audioclass.toml").write_text("[kernel]\nsigma = -1\n")
    assert train(corpus=corpus) == 2
    assert "audioclass.toml: gaussian_unscaled: sigma=-1.0 must be positive" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--folds", 3), "folds=3 has no effect: trainer least_squares holds groups out by closed_form"),
        (
            ("--held-out", "span"),
            "held_out=span: trainer least_squares does not have it, it has auto, closed_form, folds",
        ),
        (("--search", "grid", "--criterion", "fixed"), "has no effect: criterion=fixed chooses nothing"),
    ],
)
def test_an_option_without_effect_is_refused_before_any_work(train, tmp_path, capsys, arguments, message):
    assert train(*arguments, "-o", "m.audioclass", corpus=tmp_path) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m.audioclass").exists()


def test_folds_of_a_file_count_unless_they_are_given(train, tmp_path):
    (tmp_path / "mine.toml").write_text('folds = 3\nheld_out = "folds"\n')
    assert train("--config", "mine.toml", "-o", "a.audioclass") == 0
    assert train("--config", "mine.toml", "--folds", 4, "-o", "b.audioclass") == 0
    folds = [load_model(tmp_path / f"{name}.audioclass").about["choices"]["folds"] for name in "ab"]
    assert folds == [3, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('strateg = "dag"', "mine.toml: unknown option 'strateg'; did you mean 'strategy'?"),
        ("strategy = 3", "mine.toml: strategy=3 must be a name or a strategy"),
        ('window = "long"', "mine.toml: window='long' must be a float"),
        ("taxonomy = true", "mine.toml: taxonomy=True must be a path or `learn`"),
        ("seed = -1", "mine.toml: seed=-1 must be a whole number of at least 0"),
        ("strategy", "mine.toml: not a TOML file"),
        ('strategy = "one_vs_on"', "unknown strategy 'one_vs_on'; did you mean 'one_vs_one'?"),
        ('normalisation = "ranks"', "unknown normalisation 'ranks'; did you mean 'rank'?"),
        ('recipe = "enviroment"', "unknown recipe 'enviroment'; did you mean 'environment'?"),
    ],
)
def test_wrong_files_of_choices_are_one_line(small, tmp_path, monkeypatch, capsys, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(text)
    assert run(["train", str(small / "corpus"), "--config", "mine.toml"]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not list(tmp_path.glob("*.audioclass"))


def test_a_missing_file_of_choices_is_one_line(train, capsys):
    assert train("--config", "none.toml") == 2
    assert "none.toml: cannot be read: No such file" in capsys.readouterr().err


def test_a_damaged_recording_is_named_and_the_exit_code_says_so(train, tmp_path, capsys):
    corpus = write_corpus(tmp_path / "mine", 3)
    bad = corpus / "tone" / "bad.wav"
    bad.write_text("no audio")
    assert train(corpus=corpus) == 1
    assert f"{bad}: the file is text, not audio\n" in capsys.readouterr().err
    assert (tmp_path / "mine.audioclass").exists()


def test_a_corpus_that_cannot_train_writes_nothing(train, tmp_path, capsys):
    corpus = write_corpus(tmp_path / "mine", 2, labels=("tone",))
    assert train(corpus=corpus) == 1
    assert capsys.readouterr().err == "only the label 'tone' has recordings, at least 2 labels are needed\n"
    assert not list(tmp_path.glob("*.audioclass"))


def test_a_link_to_itself_is_no_corpus(train, tmp_path, capsys):
    (tmp_path / "round").symlink_to("round")
    assert train(corpus="round") == 2
    assert capsys.readouterr().err == "round: no such file or folder\n"


def test_a_place_that_cannot_be_written_is_told_before_the_work(train, capsys):
    assert train("-o", "nowhere/m.audioclass") == 2
    assert "nowhere/m.audioclass: no such folder" in capsys.readouterr().err


def test_a_model_is_added_to(train, tmp_path, capsys):
    assert train("-o", "m.audioclass", "--strategy", "one_vs_one") == 0
    more = write_corpus(tmp_path / "more", 2, first=6)
    assert train("--update", "m.audioclass", "-o", "grown.audioclass", corpus=more, recipe=False) == 0
    old, new = (load_model(tmp_path / f"{name}.audioclass") for name in ("m", "grown"))
    assert new.labels == old.labels
    assert new.classifier.n_support > old.classifier.n_support
    assert np.isfinite(new.golden.P).all()


@pytest.mark.parametrize(
    ("option", "value"),
    [("--strategy", "dag"), ("--recipe", "broadcast"), ("--error-factor", 3), ("--seed", 1), ("--folds", 3)],
)
def test_options_that_an_update_would_ignore_are_refused(train, model_file, tmp_path, capsys, option, value):
    more = write_corpus(tmp_path / "more", 1)
    assert train("--update", model_file, option, value, corpus=more, recipe=False) == 2
    said = capsys.readouterr().err
    assert said == f"{option} cannot be given with --update: a model is added to by its own method\n"


def test_a_configuration_that_is_shipped_is_known_by_its_name(train, small, capsys):
    quick = ("--criterion", "fixed", "--second-stage", "none", "--link", "none", "--no-judge-versions")
    assert train("--config", "small", *quick, "-o", "m.audioclass", recipe=False) == 0
    assert "recipe small is taken at 8000 Hz" in capsys.readouterr().err
    model = load_model("m.audioclass")
    assert model.recipe.name == "small"
    assert model.recipe.versions == (1.0,)  # those that it answers with


def test_a_configuration_of_an_unknown_name_is_one_line(train, capsys):
    assert train("--config", "smal") == 2
    assert capsys.readouterr().err == (
        "smal: cannot be read: No such file or directory; configurations by name: small\n"
    )


@pytest.mark.parametrize("option", ["--taxonomy", "--config"])
def test_a_file_of_options_that_is_not_there_is_wrong_use(train, tmp_path, capsys, option):
    assert train(option, "nowhere.toml", "-o", "m.audioclass") == 2
    assert capsys.readouterr().err.startswith("nowhere.toml: ")
    assert not (tmp_path / "m.audioclass").exists()


def test_a_tree_may_be_given_or_learnt(train, tmp_path, capsys):
    (tmp_path / "tree.toml").write_text('steady = ["noise", "tone"]\n[clicks]\n')
    assert train("--taxonomy", "tree.toml", "-o", "m.audioclass") == 0
    assert "steady" in capsys.readouterr().out
    assert load_model(tmp_path / "m.audioclass").paths[1] == ("steady", "noise")
    assert train("--taxonomy", "learn", "-o", "l.audioclass") == 0
    (tmp_path / "tree.toml").write_text('steady = ["noise", "tune"]\n[clicks]\n')
    assert train("--taxonomy", "tree.toml") == 1
    assert "label 'tone' is not in the taxonomy; did you mean 'tune'?" in capsys.readouterr().err


def grouped_table(small, folder, groups):
    """A table of the small corpus whose recordings have these groups, one after the other."""
    files = sorted((small / "corpus").rglob("*.wav"))
    rows = [f"{file},{file.parent.name},{group}" for file, group in zip(files, itertools.cycle(groups), strict=False)]
    path = folder / "table.csv"
    path.write_text("\n".join(["file,label,group", *rows, ""]), encoding="utf-8")
    return path


def test_the_report_says_what_was_held_out(train, small, tmp_path, capsys):
    assert train(corpus=grouped_table(small, tmp_path, "abc")) == 0
    out = capsys.readouterr().out
    assert "held out by group, per recording" in out
    assert "random split, leaks groups, per window" in out


def test_where_everything_is_one_group_nothing_was_held_out(train, small, tmp_path, capsys):
    assert train("-o", "one.audioclass", corpus=grouped_table(small, tmp_path, "a")) == 0
    captured = capsys.readouterr()
    assert "held out by" not in captured.out
    assert "nothing held out, one group, per recording" in captured.out
    assert "warning: all recordings are one group, so that nothing could be held out: the figures" in captured.err
    assert run(["model", "card", "one.audioclass"]) == 0
    assert "Nothing was held out: all recordings are one group" in capsys.readouterr().out
    assert run(["model", "show", "one.audioclass"]) == 0
    assert "nothing held out, one group, per recording: accuracy" in capsys.readouterr().out
