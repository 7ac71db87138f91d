"""Groups of a model's tree told as its labels: files, streams, batches, evaluations and archives alike."""

import io
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from runs import run, segmentation
from trained import RATE, mixture, sound, write_corpus
from trees_of_sounds import with_tree

from audioclass.audio.blocks import read_blocks
from audioclass.classifier.risk import Risk
from audioclass.classifier.saving import save_model
from audioclass.data import Posteriors, Segment
from audioclass.engine.analysing import SegmentChoice
from audioclass.engine.archives import Archive
from audioclass.engine.batches import Ledger, classify_many, joined
from audioclass.engine.calibrating import calibrate
from audioclass.engine.classifying import classify, classify_recording
from audioclass.engine.comparing import compare_models
from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.following import follow_stream
from audioclass.engine.models import load_model
from audioclass.engine.stream_windows import windows_of_labels
from audioclass.engine.streaming import classify_stream
from audioclass.engine.updating import update
from audioclass.errors import CorpusError, UsageError
from audioclass.taxonomy import Taxonomy

GROUPS = ("rough", "tone")


@pytest.fixture(scope="module")
def model(trained):
    return with_tree(trained.model)


@pytest.fixture(scope="module")
def told(model):
    """The same, told at depth 1 where nobody states another."""
    return replace(model, default_depth=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory, told):
    folder = tmp_path_factory.mktemp("depth")
    soundfile.write(folder / "long.wav", mixture(("tone", "noise", "clicks", "tone", "noise"), 6.0), RATE)
    save_model(told, folder / "told.audioclass")
    return folder


@pytest.fixture(scope="module")
def recording(place):
    return place / "long.wav"


def test_windows_at_depth_1_have_the_sums_of_those_at_depth_2(model, recording):
    one, two = (classify(recording, model, depth=d, windows=True, smooth="none", run=run()) for d in (1, 2))
    assert (one.labels, two.labels) == (GROUPS, model.labels)
    np.testing.assert_array_equal(one.P, np.column_stack([two.P[:, 0] + two.P[:, 1], two.P[:, 2]]))


def test_sums_are_smoothed_and_not_smoothed_posteriors_summed(model, recording):
    one, two = (classify(recording, model, depth=d, windows=True, run=run()) for d in (1, 2))
    assert np.abs(one.P[:, 0] - two.P[:, :2].sum(axis=1)).max() > 1e-6


def test_segments_are_those_of_a_model_of_the_groups(model, recording):
    result = classify(recording, model, depth=1, run=run())
    assert [segment.label for segment in result.segments] == ["tone", "rough", "tone", "rough"]
    assert result.paths == (("rough",), ("tone",))
    assert result.P.shape == (4, 2)


@pytest.mark.parametrize("depth", [2, 3, None])
def test_leaves_are_told_as_ever(trained, model, recording, depth):
    plain, deep = classify(recording, trained.model, run=run()), classify(recording, model, depth=depth, run=run())
    assert plain.segments == deep.segments
    np.testing.assert_array_equal(plain.P, deep.P)


def test_the_default_of_the_model_counts_where_none_is_stated(told, model, recording):
    assert classify(recording, told, run=run()).segments == classify(recording, model, depth=1, run=run()).segments
    assert classify(recording, told, depth=2, run=run()).segments == classify(recording, model, run=run()).segments


@pytest.mark.parametrize("options", [{}, {"windows": True}, {"threshold": 0.9, "min_duration": 1.0}], ids=str)
@pytest.mark.parametrize("block", [999, 50_000])
def test_a_file_a_pipe_and_blocks_give_the_same(told, recording, options, block):
    reading = segmentation(depth=1, **options)
    file = classify_recording(recording, told, reading).result
    pipe = classify_recording(io.BytesIO(recording.read_bytes()), told, reading).result
    blocks = list(classify_stream(read_blocks(recording, RATE, block_length=block), told, reading))
    assert list(file.segments) == list(pipe.segments) == [one.segment for one in blocks]
    np.testing.assert_array_equal(file.P, pipe.P)
    np.testing.assert_array_equal(file.P, [one.posteriors for one in blocks])


def test_provisional_segments_are_of_the_same_labels(told, recording):
    provisional = []
    blocks = read_blocks(recording, RATE, block_length=4096)
    final = list(follow_stream(blocks, told, segmentation(), provisional.extend))
    assert {one.segment.label for one in (*final, *provisional)} == set(GROUPS)
    assert {len(one.posteriors) for one in (*final, *provisional)} == {2}


@pytest.mark.parametrize(
    ("depth", "row", "name"),
    [
        (2, [0.5, 0.45, 0.05], "rough"),
        (2, [0.95, 0.0, 0.05], "clicks"),
        (2, [0.3, 0.3, 0.4], "unknown"),
        (1, [0.95, 0.05], "rough"),
        (1, [0.6, 0.4], "unknown"),
    ],
)
def test_a_doubtful_label_becomes_the_group_that_is_left_above_it(model, depth, row, name):
    options = segmentation("none", windows=True, threshold=0.9, depth=depth, silence=None)
    stream = options.stream(model)
    window = Posteriors(np.array([row]), options.fitted(model).labels, (Segment(0.0, 0.5),))
    [given] = [*stream.push(window), *stream.finish()]
    assert given.segment.label == name


def test_smoothing_goes_by_the_groups(model, told):
    counts = np.array([[80, 10, 1], [10, 70, 2], [3, 4, 90]])
    smoother = segmentation().smoother_for(replace(told, transitions=counts))
    blocks = np.array([[170, 3], [7, 90]])
    expected = segmentation().smoother.with_transitions(blocks)
    assert smoother.transitions == expected.transitions
    durations = {**model.about["durations"], "labels": {"clicks": 2.0, "noise": 4.0, "tone": 5.0}}
    known = replace(told, about={**model.about, "durations": durations})
    np.testing.assert_allclose(windows_of_labels(segmentation(hop="recipe").fitted(known)), np.array([3, 5]) / 0.25)


def test_strangeness_is_that_of_the_leaves(model, trained):
    class Counting:
        """Gives the label that was decided for as the strangeness."""

        def strangeness_of(self, X, decided):
            return decided.astype(float)

    known, X = replace(model, novelty=Counting()), trained.dataset.X
    (P, of_leaves), (_, of_groups) = (each.classify_rows(X) for each in (known, known.at_depth(1)))
    np.testing.assert_array_equal(of_leaves, P.argmax(axis=1))
    np.testing.assert_array_equal(of_groups, of_leaves)


@pytest.mark.parametrize("depth", [0, -1, 1.5, "1", True])
def test_what_is_no_depth_is_refused(depth):
    with pytest.raises(UsageError, match=f"depth={depth} must be a whole number of at least 1"):
        segmentation(depth=depth)


def test_sets_of_labels_are_those_of_the_leaves(told, recording):
    n = 30
    risky = replace(told, risk=Risk(np.linspace(0, 1, n), np.ones(n), np.linspace(0, 1, n), np.ones(n)))
    result = classify(recording, risky, risk=0.2, run=run())
    assert result.labels == told.labels
    assert {label for one in result.sets for label in one} <= set(told.labels)
    assert classify(recording, risky, risk=0.2, depth=2, run=run()).sets == result.sets
    with pytest.raises(UsageError, match="depth=1: risk is that of sets of labels, told at depth 2 alone"):
        classify(recording, risky, risk=0.2, depth=1, run=run())


def test_a_label_that_would_be_counted_twice_is_named(model, recording):
    twice = replace(model, taxonomy=Taxonomy.of({"rough": ["clicks", "noise"], "steady": ["noise", "tone"]}))
    with pytest.raises(UsageError, match="depth=1: label 'noise' stands in several groups"):
        classify(recording, twice, depth=1, run=run())
    assert classify(recording, twice, depth=2, run=run()).labels == model.labels


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_batch_is_one_table_of_the_groups(place, told, recording, jobs):
    options = segmentation()
    outcomes = list(classify_many([recording], str(place / "told.audioclass"), options, run(jobs=jobs)))
    table = joined(outcomes, options.fitted(told))
    assert table.labels == GROUPS
    np.testing.assert_array_equal(table.P, classify(recording, told, run=run()).P)


def test_a_batch_goes_on_at_the_same_depth_alone(place, told, recording, tmp_path):
    options = segmentation()
    ledger = Ledger(tmp_path / "x.csv", told, options, resume=False)
    [outcome] = classify_many([recording], str(place / "told.audioclass"), options, run(), ledger)
    known = Ledger(tmp_path / "x.csv", told, options, resume=True).find(recording)
    assert known.result.segments == outcome.result.segments
    assert known.result.labels == GROUPS
    np.testing.assert_array_equal(known.result.P, outcome.result.P)
    for model, other in ((told, segmentation(depth=2)), (replace(told, default_depth=None), options)):
        with pytest.raises(UsageError, match="other options"):
            Ledger(tmp_path / "x.csv", model, other, resume=True)


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """A corpus that is labelled with groups."""
    folder = tmp_path_factory.mktemp("grouped") / "corpus"
    for group, labels in (("rough", ("clicks", "noise")), ("tone", ("tone",))):
        (folder / group).mkdir(parents=True)
        for label in labels:
            for number in range(20, 23):
                soundfile.write(folder / group / f"{label}-{number}.wav", sound(label, number), RATE)
    return folder


@pytest.mark.parametrize("default_depth", [None, 1])
def test_a_corpus_is_evaluated_as_deep_as_its_labels_stand(model, small, grouped, default_depth):
    model = replace(model, default_depth=default_depth)
    groups = evaluate_model(model, grouped, run=run())
    assert groups.labels == GROUPS
    np.testing.assert_allclose(groups.P.sum(axis=1), 1)
    assert groups.evaluation(n_resamples=20).windows.value("accuracy") > 0.8
    leaves = evaluate_model(model, small / "corpus", run=run())
    assert leaves.labels == model.labels
    assert leaves.tree == groups.tree


def test_a_stated_depth_is_that_of_the_evaluation(model, grouped):
    assert evaluate_model(model, grouped, depth=1, run=run()).labels == GROUPS
    with pytest.raises(CorpusError, match="the model has no label 'rough'.*it knows clicks, noise, tone"):
        evaluate_model(model, grouped, depth=2, run=run())
    with pytest.raises(UsageError, match="depth=0 must be"):
        evaluate_model(model, grouped, depth=0, run=run())


def test_labels_of_no_depth_are_refused_as_ever(model, tmp_path):
    corpus = write_corpus(tmp_path / "corpus", 2, ("tone", "clicks"))
    (corpus / "clicks").rename(corpus / "click")
    with pytest.raises(CorpusError, match="the model has no label 'click'; did you mean 'clicks'"):
        evaluate_model(model, corpus, run=run())


def test_models_are_compared_on_a_corpus_of_groups(model, told, grouped):
    comparison = compare_models(grouped, {"one": model, "two": told}, run=run())
    assert comparison.failures == ()


def test_a_model_that_is_calibrated_or_added_to_tells_the_same(place, told, small, tmp_path):
    calibrated = calibrate(place / "told.audioclass", write_corpus(tmp_path / "local", 3, first=30), run=run()).model
    assert (calibrated.default_depth, calibrated.labels) == (1, told.labels)
    more = update(place / "told.audioclass", write_corpus(tmp_path / "more", 2, ("tone",), first=40), run=run()).model
    assert (more.default_depth, more.taxonomy) == (1, told.taxonomy)
    save_model(more, tmp_path / "more.audioclass")
    assert load_model(tmp_path / "more.audioclass").default_depth == 1


@pytest.fixture
def archive(place, recording, tmp_path):
    """An archive of one recording, with the model that tells groups by default."""
    pytest.importorskip("deltalake")
    archive = Archive(str(tmp_path / "archive"), run())
    archive.add(recording, model=place / "told.audioclass")
    return archive


def found(archive, *labels):
    result = archive.find(labels).result
    return [segment.label for segment in result.segments], result.labels


def test_an_archive_tells_the_groups_and_keeps_the_labels(archive, told, recording):
    file = classify(recording, told, run=run())
    assert found(archive) == ([segment.label for segment in file.segments], GROUPS)
    np.testing.assert_allclose(archive.find().result.P, file.P, atol=1e-5)
    assert {len(P) for P in archive.windows().to_arrow()["posteriors"].to_pylist()} == {3}


def test_an_archive_is_told_deeper_without_its_recordings(archive, model, recording):
    archive.segment(SegmentChoice(depth=2))
    file = classify(recording, model, run=run())
    assert found(archive) == ([segment.label for segment in file.segments], model.labels)
    np.testing.assert_allclose(archive.find().result.P, file.P, atol=1e-5)
    assert set(found(archive, "rough")[0]) == {"clicks", "noise"}
    assert archive.verify().problems == []


def test_an_archive_goes_on_at_its_depth_alone(archive, place, recording, tmp_path):
    archive.segment(SegmentChoice(depth=9))
    more = tmp_path / "more.wav"
    soundfile.write(more, mixture(("noise", "tone")), RATE)
    for segments in ({"depth": 1}, SegmentChoice()):
        with pytest.raises(UsageError, match=r"its segments were made with .* --depth 2; `audioclass index segment`"):
            archive.add(more, model=place / "told.audioclass", segments=segments)
    archive.add(more, model=place / "told.audioclass")
    assert set(found(archive)[0]) == {"clicks", "noise", "tone"}
    archive.add(more, model=place / "told.audioclass", segments={"depth": 5})  # as deep as it is


def test_what_an_archive_does_not_tell_is_not_asked_for(archive):
    assert set(found(archive, "rough")[0]) == {"rough"}
    with pytest.raises(UsageError, match="unknown label 'clicks'"):
        archive.find("clicks")


def test_choices_without_a_depth_are_kept_as_ever():
    assert SegmentChoice.of_json(SegmentChoice(depth=2).to_json()) == SegmentChoice(depth=2)
    assert "depth" not in SegmentChoice().to_json() + SegmentChoice().to_options()
    assert SegmentChoice(depth=2).to_options().endswith("--depth 2")


@pytest.mark.parametrize(
    ("default", "depth", "kept"), [(None, None, None), (None, 2, None), (None, 1, 1), (1, None, 1), (1, 9, 2)]
)
def test_the_same_depth_is_kept_as_the_same(model, default, depth, kept):
    assert SegmentChoice(depth=depth).for_model(replace(model, default_depth=default)).depth == kept
