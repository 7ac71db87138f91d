from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import config, run
from sklearn.metrics import accuracy_score, log_loss
from trained import write_corpus

from audioclass.data import Clip, Corpus, Segment
from audioclass.engine.datasets import Dataset, gather
from audioclass.engine.evaluating import FoldedCorpus, cross_validate, evaluate_model, folds_of, trained_already
from audioclass.errors import CorpusError, UsageError


def labelled_of(clips):
    """Two windows of each clip."""
    which = np.repeat(np.arange(len(clips)), 2)
    segments = tuple(Segment(float(i % 2), i % 2 + 1.0) for i in range(len(which)))
    labels = tuple(sorted({clip.label for clip in clips}))
    return Dataset(np.zeros((len(which), 1)), labels, tuple(clips), which, segments, (), "")


def entries_of(groups, labels, folds=None):
    folds = folds or [""] * len(groups)
    return [
        Clip(Path(f"{i}.wav"), label, group=group, fold=fold)
        for i, (group, label, fold) in enumerate(zip(groups, labels, folds, strict=True))
    ]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=4, max_size=30), st.integers(2, 6))
def test_folds_never_part_a_group(members, n_folds):
    clips = entries_of([f"g{group}" for group, _ in members], ["ab"[is_a] for _, is_a in members])
    labelled = labelled_of(clips)
    if min(len({e.group for e in clips if e.label == label}) for label in labelled.labels) < 2:
        return
    folds = folds_of(labelled, str(n_folds))
    for group in set(labelled.groups):
        assert len(set(folds[labelled.groups == group])) == 1
    for clip in set(labelled.clip_names):
        assert len({fold for fold, other in zip(folds, labelled.clip_names, strict=True) if other == clip}) == 1


def test_folds_of_the_corpus_are_taken_where_it_states_them():
    labelled = labelled_of(entries_of("abcd", "xyxy", ["1", "1", "2", "2"]))
    assert folds_of(labelled).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert len(set(folds_of(labelled, "groups"))) == 4
    assert len(set(folds_of(labelled, "2"))) == 2


@pytest.mark.parametrize(
    ("clips", "said", "message"),
    [
        (entries_of("aabb", "xyxy", ["1", "2", "1", "2"]), "auto", "group 'a' stands in several folds of the corpus"),
        (entries_of("abcd", "xxyy", ["1"] * 4), "auto", "a single one of its folds, at least 2 are needed"),
        (entries_of("aaaa", "xxyy"), "groups", "a single one of its groups, at least 2 are needed"),
        (entries_of("aabc", "xxyy"), "3", "label 'x' has a single group, at least 2 are needed for folds"),
    ],
    ids=["parted", "one fold", "one group", "short label"],
)
def test_folds_that_cannot_be_are_one_line(clips, said, message):
    with pytest.raises(CorpusError, match=message):
        folds_of(labelled_of(clips), said)


@pytest.mark.parametrize("said", ["1", "many", "-3", "2.5"])
def test_folds_are_a_number_or_a_word(said):
    with pytest.raises(UsageError, match=f"folds '{said}' must be 'auto', 'groups' or a number from 2 on"):
        folds_of(labelled_of(entries_of("abcd", "xyxy")), said)


@pytest.fixture(scope="module")
def setup(small):
    return config(recipe=str(small / "small.toml"), criterion="fixed")


@pytest.fixture(scope="module")
def judged(small, setup):
    return cross_validate(small / "corpus", config=setup, folds="3", run=run(small / "cache"))


def test_numbers_are_those_of_scikit_learn(judged):
    evaluation = judged.evaluation(n_resamples=20)
    y = judged.dataset.y
    assert evaluation.windows.value("accuracy") == pytest.approx(accuracy_score(y, judged.P.argmax(axis=1)))
    assert evaluation.windows.value("log_loss") == pytest.approx(log_loss(y, judged.P))
    assert judged.machines > 0
    assert judged.train_seconds > 0
    assert judged.tree.startswith("# A tree of labels")


@pytest.mark.filterwarnings("ignore::UserWarning")  # turned labels are hard to learn
def test_a_fold_is_evaluated_by_machines_that_never_saw_it(small, setup, judged):
    """The posteriors of a fold do not change when its labels do."""
    labelled, held = judged.dataset, judged.folds == 0
    files = {labelled.clips[i].file for i in labelled.which[held]}
    turned = {"clicks": "noise", "noise": "tone", "tone": "clicks"}
    clips = [Clip(e.file, turned[e.label] if e.file in files else e.label) for e in labelled.clips]
    other = gather(Corpus(tuple(clips)), setup.recipe, run(small / "cache"))
    again = FoldedCorpus(other, judged.folds, None).evaluate(setup, run(small / "cache"), None)
    assert np.array_equal(again.P[held], judged.P[held])
    assert not np.array_equal(again.P[~held], judged.P[~held])


def test_processes_change_no_figure(small, setup, judged):
    again = cross_validate(small / "corpus", config=setup, folds="3", run=run(small / "cache", jobs=2))
    assert np.array_equal(again.P, judged.P)


def test_a_run_that_stopped_goes_on_with_the_next_fold(small, setup, judged, tmp_path):
    told = []

    def stop(stage, done, total):
        told.append(stage)
        if stage.startswith("fold 3"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_validate(small / "corpus", config=setup, folds="3", run=run(tmp_path, progress=stop))
    assert "fold 1 of 3, training" in told
    told.clear()
    again = cross_validate(
        small / "corpus", config=setup, folds="3", run=run(tmp_path, progress=lambda stage, *_: told.append(stage))
    )
    assert not any(stage.startswith(("fold 1", "fold 2")) for stage in told)
    assert np.array_equal(again.P, judged.P)
    assert not list((tmp_path / "folds").iterdir())


def test_a_label_in_one_fold_only_is_one_line(small, setup):
    labelled = cross_validate(small / "corpus", config=setup, folds="3", run=run(small / "cache")).dataset
    with pytest.raises(CorpusError, match="label 'clicks' stands in one fold only; the others have none of it"):
        FoldedCorpus(labelled, (labelled.y == 2).astype(int), None).evaluate(setup, run(small / "cache"), None)


def test_a_model_is_evaluated_on_a_corpus(trained, small, tmp_path):
    write_corpus(tmp_path / "test", 2, first=30)
    judged = evaluate_model(trained.model, tmp_path / "test", run=run(small / "cache"))
    assert judged.evaluation(20).main.n_examples == 6
    assert judged.folds is None
    assert not trained_already(trained.model, judged.dataset)
    assert judged.predictions().labels == trained.model.labels


def test_labels_that_the_corpus_lacks_are_no_matter(trained, small, tmp_path):
    write_corpus(tmp_path / "test", 2, labels=("tone",), first=6)
    judged = evaluate_model(trained.model, tmp_path / "test", run=run(small / "cache"))
    assert set(judged.dataset.y_among(trained.model.labels)) == {2}
    assert judged.evaluation(20).main.value("accuracy") == 1


def test_a_corpus_that_trained_the_model_is_known(trained, small):
    judged = evaluate_model(trained.model, small / "corpus", run=run(small / "cache"))
    assert trained_already(trained.model, judged.dataset)


def test_a_label_that_the_model_does_not_know_is_one_line(trained, tmp_path):
    write_corpus(tmp_path / "test", 1, labels=("tones",))
    with pytest.raises(
        CorpusError, match="the model has no label 'tones'; did you mean 'tone'.* it knows clicks, noise"
    ):
        evaluate_model(trained.model, tmp_path / "test")
