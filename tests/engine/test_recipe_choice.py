"""A recipe is chosen on a sample of clips, by groups that were held out, and in an evaluation on other folds alone."""

from pathlib import Path

import numpy as np
import pytest
from runs import config, run
from trained import LABELS, RECIPE, write_corpus

from audioclass.classifier.about import check_about
from audioclass.data import Clip, Corpus
from audioclass.engine import recipe_choice
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.evaluated import Evaluated
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.recipe_choice import (
    RecipeChoice,
    best_of,
    candidates,
    choose_recipe,
    spread_clips,
    with_chosen_recipe,
)
from audioclass.engine.training import recipe_of, train
from audioclass.errors import CorpusError, ModelError, UsageError

DEAF = """
summary = "Nothing but the level, of which no label is made."
sample_rate = 8000
frame_length = 512
hop_length = 256
window = 0.5
window_hop = 0.5

[[parts]]
group = "noise"
descriptors = [{ name = "level" }]
poolings = [{ name = "statistics", values = ["slope"] }]
"""


def clips_of(text: str) -> list[Clip]:
    """A clip for each pair of a label and a group."""
    return [Clip(Path(f"{i}.wav"), one[0], group=one[1:]) for i, one in enumerate(text.split())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("choice")
    write_corpus(folder / "corpus")
    (folder / "deaf.toml").write_text(DEAF, encoding="utf-8")
    (folder / "small.toml").write_text(RECIPE, encoding="utf-8")
    return folder


@pytest.fixture
def two(folder, monkeypatch) -> tuple[str, str]:
    """Two candidates, of which one tells the labels apart."""
    names = str(folder / "deaf.toml"), str(folder / "small.toml")
    monkeypatch.setattr(recipe_choice, "candidates", lambda: {name: {} for name in names})
    return names


def test_a_sample_has_every_label_and_every_group_in_turn():
    clips = clips_of("a1 a1 a1 a2 a2 a3 b1 b1 b1 b1")
    assert [clip.label + clip.group for clip in spread_clips(clips, 5)] == ["a1", "a2", "a3", "b1", "b1"]
    assert spread_clips(clips, 100) == tuple(clips)


def test_the_recipe_that_tells_the_labels_apart_is_chosen(folder, two):
    choice = choose_recipe(read_corpus_at(folder / "corpus", run()), run(folder / "cache"))
    assert choice.recipe.name == "small"
    assert choice.losses[two[1]] < 0.3 < np.log(len(LABELS)) / 2 < choice.losses[two[0]]
    assert str(choice).startswith("recipe small was chosen (held-out log-loss on 18 clips: ")


def test_candidates_are_left_out_by_the_length_of_clips(folder, two, monkeypatch):
    bounds = {two[0]: {"longest": 0.5}, two[1]: {"shortest": 0.5, "longest": 1.5}}
    monkeypatch.setattr(recipe_choice, "candidates", lambda: bounds)
    choice = choose_recipe(read_corpus_at(folder / "corpus", run()), run(folder / "cache"))
    assert choice.reasons == {two[0]: "is for clips of 0.5 s and less"}
    assert list(choice.losses) == [two[1]]


def test_one_group_takes_the_first_candidate(folder, two):
    read = read_corpus_at(folder / "corpus", run())
    alone = Corpus(tuple(Clip(clip.file, clip.label, group="all") for clip in read.clips))
    choice = choose_recipe(alone, run(folder / "cache"))
    assert choice.recipe.name == "deaf"
    assert str(choice) == "recipe deaf was chosen (nothing could be held out)"


@pytest.mark.parametrize(
    ("losses", "best"),
    [
        ({"general": 0.5, "special": 0.3}, "special"),
        ({"general": 0.5, "special": 0.49}, "general"),
        ({"general": 0.5, "special": 0.6}, "general"),
        ({"special": 0.6, "other": 0.5}, "other"),
        ({}, "general"),
    ],
    ids=["clear", "not clear", "worse", "alone", "nothing held out"],
)
def test_the_general_recipe_gives_way_to_what_is_clearly_better(losses: dict[str, float], best: str):
    assert best_of(losses, "general") == best


def test_the_general_recipe_is_the_first_candidate():
    assert next(iter(candidates())) == "environment"
    assert {"speech", "music"} < set(candidates())


@pytest.mark.usefixtures("two")
def test_a_training_says_what_was_chosen_and_its_model_keeps_it(folder):
    options = {"recipe": "auto", "criterion": "fixed", "window": 0.6, "hop": 0.3}
    trained = train(folder / "corpus", config=config(**options), run=run(folder / "cache"))
    assert trained.choices[0].startswith("recipe small was chosen")
    assert trained.model.recipe.name == "small"
    assert trained.model.recipe.window == 0.6
    assert trained.model.about["recipe_choice"]["clips"] == 18


def test_a_recipe_that_is_named_is_taken_as_it_is(two):
    named = config(recipe=two[0])
    assert with_chosen_recipe(named, Corpus(()), run()) == (named, None)
    with pytest.raises(UsageError, match="recipe=auto is chosen where one model is trained or evaluated"):
        recipe_of(config(recipe="auto"))


@pytest.mark.filterwarnings("ignore::UserWarning")  # the level alone is hard to learn from
def test_folds_are_evaluated_with_recipes_chosen_on_the_others(folder, two, monkeypatch):
    asked = []

    def choose(corpus, run, used, _windows):
        asked.append(set(used))
        recipe = choose_recipe(corpus, run, used).recipe if len(asked) == 1 else recipe_of(config(recipe=two[0]))
        return RecipeChoice(recipe, len(used), {}, {})

    monkeypatch.setattr(recipe_choice, "choose_recipe", choose)
    setup = config(recipe="auto", criterion="fixed")
    judged = cross_validate(folder / "corpus", config=setup, folds="3", run=run(folder / "cache"))
    members = [set(judged.dataset.which[judged.folds == fold].tolist()) for fold in range(3)]
    assert all(not used & held for used, held in zip(asked, members, strict=True))
    assert all(used | held == set(range(18)) for used, held in zip(asked, members, strict=True))
    assert len(judged.P) == len(judged.dataset.segments) == len(judged.dataset.y)
    assert [note[:20] for note in judged.notes] == [
        "fold 1: recipe small",
        "fold 2: recipe deaf ",
        "fold 3: recipe deaf ",
    ]
    alone = cross_validate(
        folder / "corpus", config=config(recipe=two[1], criterion="fixed"), folds="3", run=run(folder / "cache")
    )
    held = judged.folds == 0
    order = [np.lexsort((each.dataset.which[rows],)) for each, rows in ((judged, held), (alone, alone.folds == 0))]
    np.testing.assert_array_equal(judged.P[held][order[0]], alone.P[alone.folds == 0][order[1]])


def test_folds_of_different_labels_do_not_join(folder, two):
    first = cross_validate(folder / "corpus", config=config(recipe=two[1], criterion="fixed"), folds="2", run=run())
    other = Evaluated(first.dataset, ("other",), first.P, first.paths, first.folds)
    with pytest.raises(CorpusError, match="cannot read recordings of the same labels"):
        Evaluated.joined([first, other])


@pytest.mark.parametrize(
    "stated", [{"log_loss": {"speech": "low"}}, {"left_out": {"music": 3}}, {"log_loss": []}, {"clips": "many"}]
)
def test_a_model_that_states_its_choice_wrongly_is_refused(stated):
    with pytest.raises(ModelError):
        check_about({"recipe_choice": stated}, ("a", "b"), None)
