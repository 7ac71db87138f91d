"""Windows that fit what is labelled: by default events in long recordings train as with windows that were stated."""

from pathlib import Path

import numpy as np
import pytest
from labelled_events import write_events, write_long_recipe
from runs import config, recipe, run
from trained import write_corpus, write_recipe

from audioclass.cli import run as command
from audioclass.data import Clip
from audioclass.engine.comparing import compare_configs
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.durations import Durations
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.recipe_choice import choose_recipe
from audioclass.engine.training import train
from audioclass.engine.window_choice import FittingWindows

LINE = "windows of 2 s every 1 s: labelled segments last 4 s (median), recordings "
QUICK = {"criterion": "fixed", "group_weights": "equal", "link": "none", "second_stage": "none"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("events")
    write_events(folder / "events")
    write_long_recipe(folder)
    return folder


def trained(place, **options):
    setup = config(recipe=str(place / "long.toml"), **{**QUICK, **options})
    return train(place / "events", config=setup, run=run(place / "cache"))


@pytest.fixture(scope="module")
def default(place):
    return trained(place)


def events_of(trained_one):
    return len(np.unique(trained_one.dataset.which))


def accuracy(trained_one):
    return trained_one.grouped.main.measures["accuracy"].value


def test_events_of_four_seconds_train_by_default_as_with_windows_of_two(default, place):
    stated = trained(place, window=2, hop=1)
    assert (default.model.recipe.window, default.model.recipe.window_hop) == (2, 1)
    assert events_of(default) == events_of(stated) == 48
    np.testing.assert_array_equal(default.training.held_out, stated.training.held_out)
    assert accuracy(default) == accuracy(stated) >= 0.95
    assert next(line for line in default.choices if "windows of" in line).startswith(LINE)
    assert not default.dataset.remarks
    assert not [line for line in stated.choices if "windows of" in line]


@pytest.mark.filterwarnings("ignore::UserWarning")  # windows of ten seconds hold several labels
def test_windows_that_do_not_fit_lose_no_event_and_name_those_that_do(place):
    coarse = trained(place, window=10, hop=10)
    assert events_of(coarse) == 48
    [remark] = [line for line in coarse.warnings if "no window" in line]
    assert "of 48 labelled segments have no window of 10 s every 10 s and got one of their own" in remark
    assert remark.endswith("--window 2 --hop 1 fits them")


def test_a_window_that_is_stated_alone_has_half_of_it_as_hop(place):
    assert (config(recipe=str(place / "long.toml"), window=3).recipe.window_hop) == 1.5
    assert (config(recipe=str(place / "long.toml"), window=20).recipe.window_hop) == 10


def test_folds_and_comparisons_have_the_same_windows(place):
    setup = config(recipe=str(place / "long.toml"), **QUICK)
    evaluated = cross_validate(place / "events", config=setup, folds="2", run=run(place / "cache"))
    assert {round(segment.duration) for segment in evaluated.dataset.segments} == {2}
    assert evaluated.notes[0].startswith(LINE)
    assert len(np.unique(evaluated.dataset.which)) == 48
    configs = {name: config(recipe=str(place / "long.toml"), strategy=name, **QUICK) for name in ("one_vs_rest", "dag")}
    with pytest.warns(UserWarning, match="windows of 2 s every 1 s"):
        compare_configs(place / "events", configs, folds="2", run=run(place / "cache"))


def test_a_recipe_is_chosen_with_windows_that_fit(place, monkeypatch):
    corpus = read_corpus_at(place / "events", run())
    table = {"shipped": {}}
    monkeypatch.setattr("audioclass.engine.recipe_choice.candidates", lambda: table)
    long = recipe(str(place / "long.toml"))
    monkeypatch.setattr("audioclass.engine.recipe_choice.load_recipe", lambda name, registry: long)
    windows = FittingWindows.for_corpus(corpus, config(recipe="auto"))
    assert choose_recipe(corpus, run(place / "cache"), windows=windows).recipe.window == 2


def test_the_command_states_the_windows(place, capsys):
    options = [f"--{name.replace('_', '-')}={value}" for name, value in QUICK.items()]
    arguments = ["--recipe", place / "long.toml", "-o", place / "m.audioclass", "--cache", place / "cache"]
    assert command(["train", str(place / "events"), *map(str, arguments), *options]) == 0
    assert LINE in (error := capsys.readouterr().err)
    assert "warning" not in error
    assert command(["model", "show", str(place / "m.audioclass")]) == 0
    assert "windows of 2 s every 1 s" in capsys.readouterr().out
    assert command(["model", "card", str(place / "m.audioclass")]) == 0
    assert "Labelled segments last 4 s (median), recordings " in capsys.readouterr().out


def test_whole_recordings_keep_the_windows_of_the_recipe(small):
    corpus = read_corpus_at(small / "corpus", run())
    fitting = FittingWindows.for_corpus(corpus, config(recipe=write_recipe(small)))
    own = recipe(write_recipe(small))
    assert fitting.longest == np.inf
    assert fitting.applied(own) == own
    assert fitting.reason(own) == ""


def test_a_segment_that_is_nearly_all_of_its_recording_is_that_recording(tmp_path):
    write_corpus(tmp_path / "corpus", 1)
    lines = [f"{file},{file.parent.name},0,0.98" for file in (tmp_path / "corpus").rglob("*.wav")]
    (tmp_path / "segments.csv").write_text("\n".join(["file,label,start,end", *lines, ""]), encoding="utf-8")
    corpus = read_corpus_at(tmp_path / "segments.csv", run())
    assert FittingWindows.for_corpus(corpus, config()).longest == np.inf


def fitting_of(seconds, recording=100.0):
    """Windows for segments of so many seconds, each in a recording of its own; None is all of the recording."""
    clips = [Clip(Path(f"{i}.wav"), "a", 0.0, length) for i, length in enumerate(seconds)]
    return FittingWindows.of(Durations.of(clips, {clip.file: recording for clip in clips}))


@pytest.mark.parametrize(
    ("seconds", "longest"),
    [
        ([4.0] * 10, 2.0),
        ([1.0, *[4.0] * 9], 2.0),
        ([2.0] * 5 + [8.0] * 5, 1.0),
        ([0.2] * 10, 0.5),
        ([4.0] * 2 + [None] * 8, np.inf),
        ([4.0] * 5 + [None] * 5, 2.0),
        ([None] * 10, np.inf),
    ],
    ids=["alike", "one short", "half short", "very short", "few parts", "many parts", "no parts"],
)
def test_most_segments_hold_two_windows(seconds, longest):
    assert fitting_of(seconds).longest == longest


@pytest.mark.parametrize("seconds", [0.5, 1.0, 4.0, 60.0])
def test_windows_are_never_longer_than_the_recipe_s(place, seconds):
    long = recipe(str(place / "long.toml"))
    fitted = fitting_of([seconds] * 4, 300.0).applied(long)
    assert 0.5 <= fitted.window <= long.window
    assert fitted.window <= max(seconds / 2, 0.5)
    assert fitted == long if seconds == 60 else fitted.window_hop == fitted.window / 2
    assert fitting_of([seconds] * 4, 300.0).applied(fitted) == fitted


def test_a_model_knows_the_durations_that_it_was_trained_on(default):
    durations = default.model.about["durations"]
    assert durations["segments"]["0.5"] == pytest.approx(4.0)
    assert durations["recordings"]["0.5"] > 30
    assert durations["labels"] == {label: pytest.approx(4.0) for label in default.model.labels}
    assert (durations["parts"], durations["hop_is_stated"]) == (1.0, False)
