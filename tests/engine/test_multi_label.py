"""Labels that overlap, from a corpus to a model, its file, segments, formats and evaluation."""

import io
import itertools
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from overlaps import OPTIONS, RATE, SCENES, scene, write_overlaps
from runs import config, segmentation

from audioclass.audio.blocks import cut_blocks, read_blocks
from audioclass.audio.contours import ContourMeter
from audioclass.audio.decode import open_audio
from audioclass.classifier.archive import DIGESTS
from audioclass.classifier.card import card_of
from audioclass.classifier.model import Model
from audioclass.classifier.saving import save_model
from audioclass.classifier.summary import Summary
from audioclass.cli.timeline import Timeline
from audioclass.data import Contours, Posteriors, Segment
from audioclass.engine.calibrating import calibrate
from audioclass.engine.classifying import classify, classify_recording
from audioclass.engine.comparing import compare_configs, compare_models
from audioclass.engine.corpus_reading import read_corpus_at
from audioclass.engine.evaluating import cross_validate, evaluate_model
from audioclass.engine.following import follow_stream, live_blocks
from audioclass.engine.gathering import gather
from audioclass.engine.models import load_model
from audioclass.engine.previewing import Preview, PreviewGrid
from audioclass.engine.remembering import trained_on
from audioclass.engine.runs import make_run
from audioclass.engine.streaming import SHORT_BLOCK, SegmentationOptions, classify_stream
from audioclass.engine.training import train
from audioclass.engine.updating import update
from audioclass.errors import CorpusError, ModelError, UsageError
from audioclass.estimator import AudioclassClassifier
from audioclass.evaluation.detection import segment_based
from audioclass.extraction.recipes import load_recipe
from audioclass.label_sets import are_multi_label
from audioclass.plugins.manager import plugin_manager
from audioclass.reports.comparison import write_comparison
from audioclass.reports.recording import recording_page
from audioclass.segmentation.tiers import by_start

NEW = ((("clicks", 1.0, 6.0), ("tone", 3.0, 7.5)),)
LABELS = ("clicks", "tone")


@pytest.fixture
def corpus(overlap_corpus):
    return overlap_corpus


@pytest.fixture
def trained(overlap_trained):
    return overlap_trained


@pytest.fixture
def saved(overlap_file):
    return overlap_file


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("new") / "new.wav"
    soundfile.write(path, scene(NEW[0], 1), RATE)
    return path


def test_a_continuous_corpus_has_windows_of_no_label(trained):
    assert trained.dataset.labels == ("", "clicks", "clicks+tone", "tone")
    assert trained.model.labels == LABELS
    assert trained.choices[0] == "multi-label: 2 labels, 27 % of the windows have several"
    assert trained.grouped.main.value("macro_f1") > 0.9


def test_windows_without_a_label_are_left_out_elsewhere(corpus):
    run = make_run(cache=None)
    read = read_corpus_at(corpus, run)
    recipe = load_recipe("broadcast", run.registry).with_windows(1.0, 0.5)
    some, every = (gather(replace(read, continuous=each), recipe, run) for each in (False, True))
    assert "" not in some.labels
    assert len(some.X) == sum(bool(name) for name in every.sets)


def test_probabilities_are_independent_and_stay_so_in_a_file(trained, saved):
    model = load_model(saved)
    X = trained.dataset.X[:40]
    P = trained.model.posteriors_of(X)
    assert P.shape == (40, 2)
    assert np.abs(P.sum(axis=1) - 1).max() > 0.5
    np.testing.assert_array_equal(P, model.posteriors_of(X))
    np.testing.assert_array_equal(trained.model.classifier.thresholds, model.classifier.thresholds)
    assert model.is_multi_label


def test_the_model_states_its_thresholds(trained):
    card = card_of(Summary.of(trained.model))
    for label, threshold in trained.model.about["thresholds"].items():
        assert f"{label} {threshold:.3g}" in card
    assert "of which several may hold at once" in card


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"label_sets": None}, "label sets|label index|dichotom"),
        ({"label_sets": [[0], [1], [5], []]}, "must be rising indices below 2"),
        ({"label_sets": "x"}, "must be a list"),
        ({"label_sets": [[0], ["a"]]}, "lists of whole numbers"),
        ({"fitted": {"thresholds": [2.0, 0.5]}}, "a probability for each label"),
        ({"fitted": {}}, "a number for each label"),
    ],
)
def test_files_that_were_tampered_with_are_refused(saved, tmp_path, change, match):
    path = tmp_path / "wrong.audioclass"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "manifest.json":
                manifest = {**json.loads(content), **change, "schema": 1}
                content = json.dumps({key: value for key, value in manifest.items() if value is not None}).encode()
            if name != DIGESTS:
                new.writestr(name, content)
    with pytest.raises(ModelError, match=match):
        load_model(path)


def test_segments_overlap_where_sounds_do(trained, recording):
    result = classify(recording, trained.model)
    assert result.independent
    assert [one.start for one in result.segments] == sorted(one.start for one in result.segments)
    truth = {"": [labelled(*one) for one in NEW[0]]}
    counts = segment_based(truth, {"": list(result.segments)}, LABELS)
    assert counts.macro_f1 > 0.8
    together = segment_based({"": [labelled("x", 3.0, 6.0)]}, {"": overlap_of(result)}, ("x",))
    assert together.micro_f1 > 0.7


def labelled(label, start, end):
    return Segment(start, end, label)


def overlap_of(result):
    """Where both labels hold, as segments of the label x."""
    one, other = ([s for s in result.segments if s.label == label] for label in LABELS)
    pairs = [(max(a.start, b.start), min(a.end, b.end)) for a in one for b in other]
    return [labelled("x", start, end) for start, end in pairs if start < end]


@pytest.mark.parametrize("size", [700, 4096, 10**6])
def test_blocks_and_a_file_give_the_same_to_the_bit(trained, recording, size):
    options = SegmentationOptions.of("hmm", make_run(), min_duration=1.0)
    result = classify_recording(recording, trained.model, options).result
    with open_audio(recording) as audio:
        blocks = cut_blocks(audio, trained.model.recipe.framing.sample_rate, block_length=size)
        given = by_start(classify_stream(blocks, trained.model, options), trained.model.labels)
    assert tuple(one.segment for one in given) == result.segments
    assert np.array([one.posteriors for one in given]).tobytes() == result.P.tobytes()
    stream = io.BytesIO(recording.read_bytes())
    again = classify_recording(stream, trained.model, options).result
    assert again.segments == result.segments
    assert again.P.tobytes() == result.P.tobytes()


@pytest.fixture(scope="module")
def restless(tmp_path_factory):
    """A minute in which labels come and go, with pauses of digital silence."""
    samples = np.concatenate([scene(SCENES[i % len(SCENES)], i % 4) for i in range(8)])
    for second in (3, 14, 15, 30, 44):
        samples[round((second + 0.3) * RATE) : round((second + 0.8) * RATE)] = 0
    path = tmp_path_factory.mktemp("live") / "restless.wav"
    soundfile.write(path, samples, RATE)
    return path


@pytest.mark.parametrize("options", [{}, {"smooth": "none"}, {"min_duration": 2.1}, {"windows": True}], ids=str)
def test_segments_of_a_live_stream_come_within_the_lag_and_are_those_of_the_file(trained, restless, options):
    model, how, taken = trained.model, segmentation(**options), 0.0

    def heard(audio):
        nonlocal taken
        for block in live_blocks(audio, model):
            taken = (block.start + len(block.samples)) / block.sample_rate
            yield block

    with open_audio(restless) as audio:
        live = [(one, taken) for one in classify_stream(heard(audio), model, how)]
    file = classify_recording(restless, model, how).result
    assert tuple(one.segment for one in by_start([one for one, _ in live], model.labels)) == file.segments
    behind = max(when - one.segment.end for one, when in live)
    assert how.lag(model) - 8 < behind <= how.lag(model)


@pytest.mark.parametrize("size", [SHORT_BLOCK, 700])
def test_provisional_segments_are_told_by_label_and_leave_the_final_ones_as_they_are(trained, restless, size):
    model, how, final, n_overlaps = trained.model, segmentation(), [], 0

    def tell(changed):
        nonlocal n_overlaps
        ends = {one.segment.label: one.segment.end for one in final}
        assert all(one.segment.start >= ends.get(one.segment.label, 0.0) for one in changed)
        assert changed == by_start(changed, model.labels)
        n_overlaps += any(a.segment.end > b.segment.start for a, b in itertools.pairwise(changed))

    rate = model.recipe.framing.sample_rate
    final += follow_stream(read_blocks(restless, rate, block_length=size), model, how, tell)
    assert n_overlaps > 5
    assert (
        tuple(one.segment for one in by_start(final, LABELS))
        == classify_recording(restless, model, how).result.segments
    )


def test_what_is_provisional_is_what_the_windows_so_far_give(trained, restless):
    """Where nothing is ever final, by brute force: all windows and contours so far through a stream that then ends."""
    model, how = trained.model, segmentation()
    recipe = model.recipe
    preview, plain = Preview(model, how), Preview(model, segmentation("none", windows=True, threshold=1e-9))
    meter, grid, standing, rows = ContourMeter(recipe.framing.sample_rate), PreviewGrid.of(recipe), [], []
    blocks = list(read_blocks(restless, recipe.framing.sample_rate, block_length=SHORT_BLOCK))
    whole = Contours.joined([*(meter.take() for _ in meter.watch(blocks)), meter.take()])
    for block in blocks:
        given = zip(plain.push(block), preview.push(block), strict=True)
        for windows, changed in given:
            rows.append(windows[-1])
            if changed:
                standing = [one for one in standing if one.segment.start < changed[0].segment.start] + changed
            times = tuple(replace(one.segment, label="") for one in rows)
            P = np.array([one.posteriors for one in rows])
            n_samples = round(times[-1].end * recipe.framing.sample_rate) + grid.after * recipe.framing.hop_length
            stream, known = how.stream(model), whole.split(meter.n_known(n_samples))[0]
            expected = [*stream.push(Posteriors(P, LABELS, times, independent=True), known), *stream.finish()]
            assert [one.segment for one in standing] == [one.segment for one in by_start(expected, LABELS)]


def test_a_threshold_is_that_of_all_labels(trained, recording):
    options = SegmentationOptions.of("none", make_run(), threshold=0.9)
    assert options.thresholds(trained.model).tolist() == [0.9, 0.9]
    with pytest.raises(UsageError, match="is for models of one label at a time"):
        SegmentationOptions.of("none", make_run(), unknown=0.1).stream(trained.model)


@pytest.mark.parametrize("name", ["textgrid", "elan", "audacity", "raven", "rttm", "jams", "csv", "json", "json_lines"])
def test_what_is_exported_is_a_multi_label_corpus_again(trained, recording, tmp_path, name):
    result = classify(recording, trained.model)
    format_ = plugin_manager(installed=False).make("format", name)
    (tmp_path / "new.wav").write_bytes(recording.read_bytes())
    with (tmp_path / f"new{format_.suffix}").open("w", encoding="utf-8", newline="") as stream:
        format_.write(result, stream)
    read = read_corpus_at(tmp_path, make_run(cache=None))
    assert are_multi_label(read.clips)
    found = sorted((round(clip.start, 2), round(clip.end, 2), clip.label) for clip in read.clips)
    assert found == sorted((round(one.start, 2), round(one.end, 2), one.label) for one in result.segments)


def test_formats_of_tiers_have_one_for_each_label(trained, recording):
    result = classify(recording, trained.model)
    for name, tier in (("textgrid", 'name = "{}"'), ("elan", 'TIER_ID="{}"')):
        stream = io.StringIO()
        plugin_manager(installed=False).make("format", name).write(result, stream)
        assert all(tier.format(label) in stream.getvalue() for label in LABELS)


def test_the_timeline_and_the_page_have_a_lane_for_each_label(trained, recording):
    options = SegmentationOptions.of("hmm", make_run())
    classified = classify_recording(recording, trained.model, options, for_page=True)
    bars = [line.plain for line in Timeline(classified.result).lines(60)[:2]]
    assert [[label in bar for label in LABELS] for bar in bars] == [[True, False], [False, True]]
    assert '"lanes":2' in recording_page(classified.result, classified.windows).replace(" ", "")


def test_a_model_is_evaluated_by_label_by_second_and_by_event(trained, corpus):
    evaluation = evaluate_model(trained.model, corpus, run=make_run(cache=None)).evaluation(20)
    assert evaluation.main.value("macro_f1") > 0.95
    figures = evaluation.to_plain()["in_time"]
    assert figures["segment_based"]["macro_f1"] > 0.8
    assert 0 <= figures["event_based"]["macro_f1"] <= 1
    assert figures["psds_2"] > 0.8


def test_folds_are_evaluated_with_the_thresholds_of_each(corpus):
    evaluated = cross_validate(corpus, folds="2", run=make_run(cache=None), **OPTIONS)
    assert evaluated.thresholds.shape == evaluated.P.shape
    assert evaluated.evaluation(20).main.value("macro_f1") > 0.7


def test_what_such_a_model_cannot_do_is_refused_in_one_line(saved, corpus):
    with pytest.raises(UsageError, match="strategy=one_vs_one tells one label at a time"):
        train(corpus, strategy="one_vs_one", **OPTIONS)
    with pytest.raises(UsageError, match="each row of y has one"):
        AudioclassClassifier(strategy="binary_relevance").fit(np.eye(4), [0, 0, 1, 1])


def test_a_strategy_of_overlapping_labels_can_be_stated_for_any_corpus(tmp_path):
    apart = ((("tone", 0.0, 4.0), ("clicks", 4.0, 8.0)),) * 3
    trained = train(write_overlaps(tmp_path / "apart", apart), strategy="binary_relevance", run=make_run(), **OPTIONS)
    assert trained.dataset.labels == trained.model.labels == LABELS
    assert trained.model.is_multi_label


def test_labels_joined_with_plus_are_the_same_corpus(corpus, tmp_path):
    rows = ["file,label,start,end"]
    for number, segments in enumerate(SCENES):
        edges = sorted({edge for _, *edges in segments for edge in edges})
        for start, end in itertools.pairwise(edges):
            labels = sorted(label for label, first, last in segments if first <= start and end <= last)
            rows += [f"{corpus / f'{number}.wav'},{'+'.join(labels)},{start},{end}"] if labels else []
    (tmp_path / "joined.csv").write_text("\n".join([*rows, ""]), encoding="utf-8")
    run = make_run(cache=None)
    recipe = load_recipe("broadcast", run.registry).with_windows(1.0, 0.5)
    joined = gather(read_corpus_at(tmp_path / "joined.csv", run), recipe, run)
    apart = gather(replace(read_corpus_at(corpus, run), continuous=False), recipe, run)
    assert joined.sets == apart.sets


# --- calibration -----------------------------------------------------------------------------------------------------

OTHERS = (
    (("tone", 0.5, 4.0), ("clicks", 2.0, 7.0)),
    (("clicks", 1.0, 5.0), ("tone", 3.0, 7.5)),
    (("tone", 0.0, 5.0), ("clicks", 4.0, 7.0)),
    (("clicks", 0.0, 3.0), ("tone", 2.0, 6.0)),
)


@pytest.fixture(scope="module")
def held(tmp_path_factory):
    """Recordings that the model was not trained on."""
    return write_overlaps(tmp_path_factory.mktemp("held") / "held", OTHERS, first=10)


def skewed(model, path):
    """The same model, far too sure that both labels hold."""
    calibrations = tuple({**one, "offset": one["offset"] - 6.0} for one in model.classifier.calibrations)
    classifier = replace(model.classifier, calibrations=calibrations)
    parts = model.taxonomy, dict(model.about), model.memory, model.inverse_temperature, None, model.recordings
    save_model(Model.of(model.name, model.recipe, model.preprocessing, classifier, *parts), path)
    return path


def test_each_label_is_calibrated_anew_and_has_another_threshold(trained, held, tmp_path):
    path = skewed(trained.model, tmp_path / "skewed.audioclass")
    calibrated = calibrate(path, held, run=make_run(cache=None))
    assert calibrated.is_better
    model = calibrated.model
    save_model(model, tmp_path / "calibrated.audioclass")
    assert model.classifier.label_sets == trained.model.classifier.label_sets
    stated = model.about["thresholds"]
    assert stated == dict(zip(LABELS, np.round(model.classifier.thresholds, 6).tolist(), strict=True))
    evaluation = evaluate_model(load_model(tmp_path / "calibrated.audioclass"), held, run=make_run(cache=None))
    assert evaluation.evaluation(20).main.value("macro_f1") > 0.9


def test_sets_of_labels_that_were_not_trained_on_count_in_a_calibration(tmp_path, held):
    alone = ((("tone", 0.0, 4.0), ("clicks", 4.0, 8.0)),) * 3
    trained = train(write_overlaps(tmp_path / "alone", alone), strategy="binary_relevance", run=make_run(), **OPTIONS)
    assert "clicks+tone" not in trained.model.classifier.classes
    save_model(trained.model, tmp_path / "alone.audioclass")
    calibrated = calibrate(tmp_path / "alone.audioclass", held, run=make_run(cache=None))
    assert calibrated.model.classifier.classes == trained.model.classifier.classes
    assert calibrated.log_loss_after < calibrated.log_loss_before


def test_recordings_that_trained_the_model_do_not_calibrate_it(saved, corpus):
    with pytest.raises(CorpusError, match="has no recording that the model was not trained on"):
        calibrate(saved, corpus, run=make_run(cache=None))


def test_a_label_in_every_window_calibrates_nothing(saved, tmp_path):
    everywhere = ((("tone", 0.0, 8.0), ("clicks", 2.0, 6.0)),) * 3
    with pytest.raises(CorpusError, match="label 'tone' is in every window; calibration needs some without it"):
        calibrate(saved, write_overlaps(tmp_path / "everywhere", everywhere, first=20), run=make_run(cache=None))


# --- comparison ------------------------------------------------------------------------------------------------------


def test_strategies_of_labels_that_overlap_meet_on_the_same_folds(corpus, tmp_path):
    strategies = ("binary_relevance", "binary_relevance:threshold=half")
    configs = {name: config(strategy=name, **OPTIONS) for name in strategies}
    found = compare_configs(corpus, configs, folds="2", run=make_run(cache=None))
    assert found.measure == "mean_average_precision"
    [pair] = found.pairs
    assert set(pair.tests) == {"wilcoxon_log_loss", "corrected_t", "wilcoxon"}
    assert pair.difference == 0  # thresholds do not change the order of probabilities, nor these
    assert pair.adjusted["wilcoxon_log_loss"] == 1
    write_comparison(tmp_path / "page.html", found)
    assert "mean average precision" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_better_of_two_models_is_told(trained, held, tmp_path):
    skewed(trained.model, tmp_path / "skewed.audioclass")
    models = {"good": trained.model, "skewed": load_model(tmp_path / "skewed.audioclass")}
    found = compare_models(held, models, run=make_run(cache=None))
    good, other = (system.measures for system in found.systems)
    assert good["log_loss"] < other["log_loss"]
    for name, measures in zip(models, (good, other), strict=True):
        evaluation = evaluate_model(models[name], held, run=make_run(cache=None)).evaluation(20)
        assert measures == pytest.approx({each: evaluation.main.value(each) for each in measures})
    [pair] = found.pairs
    assert pair.tests["wilcoxon_log_loss"].p == pytest.approx(0.125)  # the least that four recordings can tell


def test_models_of_both_kinds_meet_where_labels_overlap_alone(trained, held, tmp_path):
    apart = ((("tone", 0.0, 4.0), ("clicks", 4.0, 8.0)),) * 3
    one = train(write_overlaps(tmp_path / "apart", apart, first=30), run=make_run(), **OPTIONS).model
    models = {"one": one, "both": trained.model}
    assert len(compare_models(held, models, run=make_run(cache=None)).systems) == 2
    with pytest.raises(UsageError, match="meet others on a corpus whose labels overlap"):
        compare_models(tmp_path / "apart", models, run=make_run(cache=None))


# --- updates ---------------------------------------------------------------------------------------------------------


def test_recordings_are_added_to_a_model(trained, saved, held, recording, tmp_path):
    updated = update(saved, held, run=make_run(cache=None))
    model = updated.model
    assert (model.labels, model.is_multi_label) == (LABELS, True)
    assert updated.grouped.main.value("macro_f1") > 0.8
    assert set(model.about["thresholds"]) == set(LABELS)
    save_model(model, tmp_path / "updated.audioclass")
    again = load_model(tmp_path / "updated.audioclass")
    found = classify(recording, again)
    assert segment_based({"": [labelled(*one) for one in NEW[0]]}, {"": list(found.segments)}, LABELS).macro_f1 > 0.8
    assert trained_on(again, updated.dataset).all()
    assert trained_on(again, trained.dataset).all()


def test_recordings_that_are_added_again_count_once(saved, corpus):
    updated = update(saved, corpus, run=make_run(cache=None))
    assert any("4 of 4 recordings are in the model already" in remark for remark in updated.dataset.remarks)
    assert updated.model.classifier.counts.sum() == load_model(saved).classifier.counts.sum()


def test_sets_of_labels_that_are_new_may_be_added(tmp_path, held):
    alone = ((("tone", 0.0, 4.0), ("clicks", 4.0, 8.0)),) * 3
    trained = train(write_overlaps(tmp_path / "alone", alone), strategy="binary_relevance", run=make_run(), **OPTIONS)
    save_model(trained.model, tmp_path / "alone.audioclass")
    model = update(tmp_path / "alone.audioclass", held, run=make_run(cache=None)).model
    assert "clicks+tone" in model.classifier.classes
    assert model.classifier.n_machines == 2


def test_what_cannot_be_added_is_one_line(saved, corpus, tmp_path):
    other = write_overlaps(tmp_path / "other", ((("tone", 0.0, 5.0), ("clicks", 3.0, 6.0)),))
    (other / "0.txt").write_text("0\t5\ttone\n3\t6\thum\n", encoding="utf-8")
    with pytest.raises(UsageError, match="label 'hum' is new: nobody knows where it holds in what"):
        update(saved, other, run=make_run(cache=None))
    apart = ((("tone", 0.0, 4.0), ("clicks", 4.0, 8.0)),) * 3
    save_model(
        train(write_overlaps(tmp_path / "apart", apart), run=make_run(), **OPTIONS).model, tmp_path / "one.audioclass"
    )
    with pytest.raises(UsageError, match="labels overlap, and apart tells one at a time"):
        update(tmp_path / "one.audioclass", corpus, run=make_run(cache=None))
