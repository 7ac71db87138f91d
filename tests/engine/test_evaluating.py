import re
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import config, run
from sklearn.metrics import accuracy_score, log_loss
from trained import LABELS, RATE, sound, write_corpus

from audioclass.data import Clip, Corpus, Segment
from audioclass.engine import evaluating
from audioclass.engine.datasets import Dataset, gather
from audioclass.engine.evaluating import (
    FoldedCorpus,
    cross_validate,
    evaluate_model,
    folds_of,
    prepare_folds,
    trained_already,
)
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
        (entries_of("abcd", "xxyy", ["1"] * 4), "auto", "a single one of its folds, at least 2 are needed"),
        (entries_of("aaaa", "xxyy"), "groups", "a single one of its groups, at least 2 are needed"),
        (entries_of("aabc", "xxyy"), "3", "label 'x' has a single group, at least 2 are needed for folds"),
        (entries_of("aabb", "xxyy"), "3", "labels 'x', 'y' have a single group, at least 2 are needed for folds"),
    ],
    ids=["one fold", "one group", "short label", "short labels"],
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
    assert "fold 1 of 3, training" in stages_until("fold 3", small, setup, tmp_path)
    told = []
    again = cross_validate(
        small / "corpus", config=setup, folds="3", run=run(tmp_path, progress=lambda stage, *_: told.append(stage))
    )
    assert not any(stage.startswith(("fold 1", "fold 2")) for stage in told)
    assert np.array_equal(again.P, judged.P)
    assert not list((tmp_path / "folds").iterdir())


def test_a_run_of_another_seed_evaluates_all_folds_anew(small, setup, tmp_path):
    stages_until("fold 2", small, setup, tmp_path)
    assert "fold 1 of 3, training" not in stages_until("fold 2", small, setup, tmp_path)
    assert "fold 1 of 3, training" in stages_until("fold 2", small, setup, tmp_path, seed=1)


def stages_until(last, small, setup, cache, seed=0):
    """The stages of an evaluation that is stopped in the last of them."""
    told = []

    def stop(stage, done, total):
        told.append(stage)
        if stage.startswith(last):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cross_validate(small / "corpus", config=setup, folds="3", run=run(cache, progress=stop, seed=seed))
    return told


def test_a_label_in_one_fold_only_is_one_line(small, setup):
    labelled = cross_validate(small / "corpus", config=setup, folds="3", run=run(small / "cache")).dataset
    with pytest.raises(CorpusError, match="labels 'clicks', 'noise' stand in one fold only; the others have none"):
        FoldedCorpus(labelled, np.where(labelled.y == 2, np.arange(len(labelled.y)) % 2, 0), None).evaluate(
            setup, run(small / "cache"), None
        )


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


# --- folds as they are published

TABLE = "filename,fold,target,category,esc10,src_file,take"


def write_esc50(folder, rows):
    """A corpus laid out as ESC-50 is, of (fold, source, label); sources may stand in several folds, as there."""
    (folder / "audio").mkdir(parents=True)
    (folder / "meta").mkdir()
    lines = [TABLE]
    for number, (fold, source, label) in enumerate(rows):
        name = f"{fold}-{source}-A-{number}.wav"
        soundfile.write(folder / "audio" / name, sound(label, number % 6), RATE)
        lines.append(f"{name},{fold},0,{label},False,{source},A")
    (folder / "meta" / "esc50.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return folder


ROWS = [(fold, f"{fold}{take}", label) for fold in (1, 2, 3) for take, label in enumerate(["tone", "noise", "clicks"])]
PARTED = [*ROWS, (1, "77", "tone"), (2, "77", "tone"), (2, "88", "noise"), (3, "88", "noise"), (1, "88", "noise")]


class Unread:
    """Stands for extraction, which is not to be reached."""

    def __call__(self, *arguments, **named):
        raise AssertionError("recordings were read before the table was checked")


def test_published_folds_are_taken_and_the_groups_they_part_are_named(small, setup, tmp_path):
    corpus = write_esc50(tmp_path / "esc", PARTED)
    expected = (
        "2 of 11 groups stand in several folds of the corpus: '77' (1, 2), '88' (1, 2, 3); the folds are taken as they"
        " are published, with recordings of these groups in training and test, which flatters the figures; --folds 5"
    )
    with pytest.warns(UserWarning, match=re.escape(expected)):
        judged = prepare_folds(corpus, setup, run(tmp_path / "cache"))
    published = [Path(name).name.partition("-")[0] for name in judged.dataset.clip_names]
    assert (judged.folds + 1).astype(str).tolist() == published


def test_the_groups_are_named_before_the_work(setup, tmp_path, monkeypatch):
    corpus = write_esc50(tmp_path / "esc", PARTED)
    monkeypatch.setattr(evaluating, "gather", Unread())
    with pytest.warns(UserWarning, match="2 of 11 groups"), pytest.raises(AssertionError, match="were read"):
        cross_validate(corpus, config=setup, run=run())


def test_other_folds_part_no_group(setup, tmp_path):
    corpus = write_esc50(tmp_path / "esc", PARTED)
    judged = prepare_folds(corpus, setup, run(tmp_path / "cache"), folds="2")
    for group in set(judged.dataset.groups):
        assert len(set(judged.folds[judged.dataset.groups == group])) == 1


@pytest.mark.parametrize(
    ("rows", "folds", "message"),
    [
        ([*ROWS, (1, "99", "bell"), (1, "98", "dog")], "auto", "labels 'bell', 'dog' stand in one fold only"),
        ([(1, *row[1:]) for row in ROWS], "auto", "a single one of its folds"),
        ([*ROWS, (1, "99", "bell")], "3", "label 'bell' has a single group, at least 2 are needed for folds"),
        ([row for row in ROWS if row[2] == "tone"], "auto", "only the label 'tone' has recordings"),
    ],
    ids=["labels of one fold", "one fold", "one group", "one label"],
)
def test_a_table_that_cannot_be_evaluated_is_refused_before_the_work(
    rows, folds, message, setup, tmp_path, monkeypatch
):
    corpus = write_esc50(tmp_path / "esc", [(f, s, label if label in LABELS else "tone") for f, s, label in rows])
    table = corpus / "meta" / "esc50.csv"
    head, *lines = table.read_text().splitlines()
    labelled = [
        line.replace("tone", row[2]) if row[2] not in LABELS else line for line, row in zip(lines, rows, strict=True)
    ]
    table.write_text("\n".join([head, *labelled, ""]))
    monkeypatch.setattr(evaluating, "gather", Unread())
    with pytest.raises(CorpusError, match=message):
        cross_validate(corpus, config=setup, folds=folds, run=run())


def test_folds_that_not_all_clips_have_are_not_used_without_a_word(setup, tmp_path):
    corpus = write_esc50(tmp_path / "esc", ROWS)
    table = corpus / "meta" / "esc50.csv"
    table.write_text(table.read_text().replace("-A-0.wav,1,", "-A-0.wav,,"))
    with pytest.warns(UserWarning, match="1 of 9 clips have no fold: the folds of the corpus are not used, 5 others"):
        prepare_folds(corpus, setup, run(tmp_path / "cache"))
