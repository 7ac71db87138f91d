import numpy as np
import pytest
from runs import config, run
from sklearn.metrics import accuracy_score, log_loss
from trained import write_corpus

from audioclass.data import Clip, Corpus
from audioclass.engine.evaluating import cross_validate, evaluate_model, trained_already
from audioclass.engine.folded_corpus import FoldedCorpus
from audioclass.engine.gathering import gather
from audioclass.errors import CorpusError


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
