"""Strategies with a decision of their own: recordings, evaluations and comparisons follow it."""

import numpy as np
import pytest
import signals
import soundfile
from runs import run, segmentation
from trained import RATE, train_small

from audioclass.audio.blocks import read_blocks
from audioclass.classifier.saving import save_model
from audioclass.engine.classifying import classify_recording
from audioclass.engine.comparing import compare_models
from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.models import loaded
from audioclass.extraction.extract import extract_features
from audioclass.formats.rows import rows_of

LABELS = ("five", "four", "one", "three", "two")
STRATEGIES = ("dag", "pairs_and_rest", "hybrid_dendrogram:merge=none,decision=path")


def alike(number: int, label: int, seconds: float = 1.0) -> np.ndarray:
    """A tone in noise; labels differ hardly more than recordings of one, so that machines contradict each other."""
    rng = np.random.default_rng((number, label))
    pitch, level = 500 + 60 * label + rng.normal(0, 40), 0.1 + 0.03 * (label % 3) + rng.uniform(0, 0.03)
    return signals.tone(pitch, seconds, RATE) * level * 5 + signals.noise(
        seconds, RATE, level, seed=10 * number + label
    )


def between(number: int) -> np.ndarray:
    """One window of a sound somewhere between two labels."""
    share = np.random.default_rng(number).uniform(0.3, 0.7)
    first, second = alike(number, number % 5, 0.5), alike(number, (number + 1 + number // 5 % 4) % 5, 0.5)
    return share * first + (1 - share) * second


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A corpus of labels that are hard to tell apart; another and a recording of what is between them."""
    folder = tmp_path_factory.mktemp("alike")
    sounds = {"corpus": [alike(i // 5, i % 5) for i in range(30)], "new": [between(100 + i) for i in range(150)]}
    for corpus, each in sounds.items():
        for i, sound in enumerate(each):
            (folder / corpus / LABELS[i % 5]).mkdir(parents=True, exist_ok=True)
            soundfile.write(folder / corpus / LABELS[i % 5] / f"{i}.wav", sound, RATE)
    soundfile.write(folder / "all.wav", np.concatenate([between(number) for number in range(60)]), RATE)
    return folder


@pytest.fixture(scope="module", params=STRATEGIES, ids=lambda text: text.partition(":")[0])
def model(request, folder):
    return train_small(folder, strategy=request.param).model


def decisions(model, X):
    """What the strategy decides of rows of features, and the label of the largest that it combines."""
    classifier, scores = model.classifier, model.scores_of(X).astype(np.float64)
    P = classifier.strategy.combine(
        classifier.plan, classifier.probabilities(scores), scores, classifier.counts, classifier.fitted
    )
    return classifier.strategy.decide(classifier.plan, P, scores), P.argmax(axis=1)


def test_windows_of_a_recording_have_the_label_that_the_strategy_decides_on(model, folder):
    blocks = read_blocks(folder / "all.wav", model.recipe.framing.sample_rate)
    X = np.concatenate([features.X for features in extract_features(blocks, model.recipe)])
    decided, likeliest = decisions(model, X)
    assert (decided != likeliest).any()
    result = classify_recording(folder / "all.wav", model, segmentation("none", windows=True)).result
    assert [segment.label for segment in result.segments] == [model.labels[k] for k in decided]
    np.testing.assert_array_equal(result.P.argmax(axis=1), decided)
    np.testing.assert_allclose(result.P.sum(axis=1), 1, atol=1e-12)


def test_a_model_file_decides_alike(model, folder, tmp_path):
    save_model(model, tmp_path / "one.audioclass")
    again = loaded(tmp_path / "one.audioclass")
    before, after = (classify_recording(folder / "all.wav", one, segmentation()).result for one in (model, again))
    assert before.segments == after.segments
    np.testing.assert_array_equal(before.P, after.P)


def test_evaluation_and_comparison_count_decisions(model, folder):
    evaluated = evaluate_model(model, folder / "new", run=run(folder / "cache"))
    decided, likeliest = decisions(model, evaluated.dataset.X)
    assert (decided != likeliest).any()
    np.testing.assert_array_equal(evaluated.predictions().estimated, decided)
    y = evaluated.dataset.y_among(model.labels)
    accuracy = evaluated.evaluation(n_resamples=2).windows.value("accuracy")
    assert accuracy == pytest.approx(np.mean(decided == y))
    compared = compare_models(folder / "new", {"one": model, "other": model}, run=run(folder / "cache"))
    assert compared.systems[0].measures["accuracy"] == pytest.approx(accuracy)


@pytest.fixture(scope="module")
def taxonomic(folder):
    tree = folder / "tree.toml"
    tree.write_text('low = ["one", "two"]\nhigh = ["three", "four", "five"]\n')
    return train_small(folder, taxonomy=str(tree)).model


@pytest.mark.parametrize("options", [{}, {"windows": True}, {"min_duration": 1.2}, {"threshold": 0.6}], ids=str)
def test_of_a_model_with_a_taxonomy_no_runner_up_is_ahead(taxonomic, folder, options):
    rows = list(rows_of(classify_recording(folder / "all.wav", taxonomic, segmentation(**options)).result))
    assert len(rows) > 1
    assert all(row.probability is None or row.probability >= row.runner_up_probability for row in rows)
