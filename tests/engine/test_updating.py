import numpy as np
import pytest
import soundfile
from runs import run
from trained import RATE, sound, train_small, write_corpus

from audioclass.classifier.golden import Drift
from audioclass.classifier.saving import save_model
from audioclass.engine.models import load_model
from audioclass.engine.updating import config_of, update
from audioclass.errors import CorpusError, ModelError
from audioclass.taxonomy import Taxonomy


def chirps(folder, n=3):
    """A label that the model does not know: tones that glide."""
    (folder / "chirp").mkdir(parents=True)
    for i in range(n):
        time = np.arange(RATE) / RATE
        glide = 0.3 * np.sin(2 * np.pi * (200 + 50 * i + 1200 * time) * time)
        soundfile.write(folder / "chirp" / f"{i}.wav", glide + 0.1 * sound("noise", i), RATE)
    return folder


def machine(model, *sides):
    """The bank's rows that a dichotomy has coefficients on, those coefficients and the intercept."""
    dichotomies = model.classifier.plan.dichotomies
    names = [tuple({model.labels[k] for k in side} for side in (d.positive, d.negative)) for d in dichotomies]
    which = names.index(tuple({side} for side in sides))
    bank = model.classifier.machines
    [part] = [part for part in bank.parts if which in part.machines]
    column = part.machines.tolist().index(which)
    own = part.coefficients[:, column] != 0
    rows = bank.X[part.rows[own]]
    return rows.tobytes(), part.coefficients[own, column].tobytes(), part.intercepts[column].tobytes()


@pytest.fixture(scope="module", params=["svm", "least_squares"])
def pairs(small, tmp_path_factory, request):
    """A one-vs-one model in a file."""
    path = tmp_path_factory.mktemp("pairs") / "pairs.audioclass"
    save_model(train_small(small, strategy="one_vs_one", trainer=request.param).model, path)
    return path


def test_a_new_label_leaves_the_other_machines_to_the_bit(pairs, small, tmp_path):
    made = update(pairs, chirps(tmp_path / "new"), run=run(small / "cache"))
    old, new = load_model(pairs), made.model
    assert new.labels == ("chirp", "clicks", "noise", "tone")
    assert new.classifier.n_machines == 6
    for sides in (("clicks", "noise"), ("clicks", "tone"), ("noise", "tone")):
        assert machine(new, *sides) == machine(old, *sides)
    assert made.grouped.main.value("accuracy") > 0.6
    assert (new.posteriors_of(made.dataset.X).argmax(axis=1) == 0).mean() > 0.9


def test_more_recordings_change_only_what_they_touch(pairs, small, tmp_path):
    more = write_corpus(tmp_path / "more", 3, labels=("tone",), first=20)
    old, new = load_model(pairs), update(pairs, more, run=run(small / "cache")).model
    assert machine(new, "clicks", "noise") == machine(old, "clicks", "noise")
    assert machine(new, "noise", "tone") != machine(old, "noise", "tone")


def test_an_updated_model_is_a_whole_one(pairs, small, tmp_path):
    made = update(pairs, chirps(tmp_path / "new"), name="grown", run=run(small / "cache")).model
    save_model(made, tmp_path / "grown.audioclass")
    back = load_model(tmp_path / "grown.audioclass")
    assert back.name == "grown"
    assert back.drift() == Drift(0, 0)
    [history] = back.about["updates"]
    assert history["corpus"]["recordings"] == 18
    again = update(
        tmp_path / "grown.audioclass", write_corpus(tmp_path / "more", 2, first=30), run=run(small / "cache")
    )
    assert len(again.model.about["updates"]) == 2


def test_trees_grow_too(trained, model_file, small, tmp_path):
    tree = Taxonomy.of({"steady": ["noise", "tone"], "short": ["clicks", "chirp"]})
    corpus = chirps(tmp_path / "new")
    made = update(model_file, corpus, taxonomy=tree, run=run(small / "cache"))
    assert made.model.paths[0] == ("short", "chirp")
    plain = update(model_file, corpus, run=run(small / "cache")).model
    assert plain.paths == (("chirp",), ("clicks",), ("noise",), ("tone",))
    same = update(model_file, write_corpus(tmp_path / "more", 2, first=30), run=run(small / "cache")).model
    assert same.classifier.plan.dichotomies == trained.model.classifier.plan.dichotomies


def test_a_taxonomy_that_lacks_the_new_label_is_one_line(model_file, small, tmp_path):
    with pytest.raises(CorpusError, match="label 'chirp' is not in the taxonomy"):
        update(
            model_file,
            chirps(tmp_path / "new"),
            taxonomy=Taxonomy.of(["clicks", "noise", "tone"]),
            run=run(small / "cache"),
        )


def test_machines_without_rows_cannot_be_added_to(trained, tmp_path):
    from dataclasses import replace

    save_model(replace(trained.model, memory=None), tmp_path / "m.audioclass")
    with pytest.raises(
        ModelError, match=r"m\.audioclass: it remembers no training rows to add to; train again on both"
    ):
        update(tmp_path / "m.audioclass", tmp_path)


def test_a_strategy_that_plans_in_rounds_is_trained_again(model_file, tmp_path, monkeypatch):
    from audioclass.strategies.dendrogram import HybridDendrogram

    monkeypatch.setattr(HybridDendrogram, "plan_next", lambda *_: None, raising=False)
    with pytest.raises(ModelError, match="strategy 'hybrid_dendrogram' plans in rounds; train again on both corpora"):
        update(model_file, tmp_path)


def test_a_criterion_of_another_machine_that_chose_long_ago_is_no_obstacle(trained):
    from dataclasses import replace

    choices = trained.model.about["choices"] | {"criterion": "span", "trainer": "least_squares"}
    config, _ = config_of(replace(trained.model, about={**trained.model.about, "choices": choices}), run(None))
    assert (config.criterion.name, config.trainer.name) == ("span", "least_squares")
