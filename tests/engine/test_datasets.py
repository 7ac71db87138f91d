import csv
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import recipe as load_recipe
from runs import run
from trained import RATE, mixture, sound, write_corpus, write_recipe

from audioclass.data import Clip, Corpus, Segment
from audioclass.engine.corpus_reading import corpus_readers, read_corpus_at, tree_for
from audioclass.engine.gathering import gather
from audioclass.engine.labelled_windows import owners_of
from audioclass.errors import CorpusError, UsageError
from audioclass.taxonomy import Taxonomy


def gathered(folder, corpus="corpus", **options):
    recipe = load_recipe(write_recipe(folder))
    return gather(corpus if isinstance(corpus, Corpus) else load(folder / corpus), recipe, run(**options))


def load(path):

    return read_corpus_at(path, run())


def clip(start, end, label="a"):
    return Clip(Path("a.wav"), label, start, end)


def windows(*spans):
    return [Segment(start, end) for start, end in spans]


@pytest.mark.parametrize(
    ("window", "owner"),
    [((0.0, 1.0), 0), ((0.6, 1.6), 1), ((0.5, 1.5), 0), ((2.6, 3.6), -1), ((1.75, 2.25), 1), ((5.0, 6.0), 2)],
    ids=["inside", "mostly the second", "a tie", "mostly outside", "half", "a short one within"],
)
def test_a_window_goes_to_the_entry_that_covers_most_of_it(window, owner):
    clips = [clip(0.0, 1.0), clip(1.0, 2.0), clip(5.4, 5.6)]
    assert owners_of(windows(window), clips).tolist() == [owner]


def test_a_whole_clip_owns_all_its_windows():
    assert owners_of(windows((0, 1), (7, 8)), [Clip(Path("a.wav"), "a")]).tolist() == [0, 0]


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0.1, 3)), min_size=1, max_size=6),
    st.lists(st.tuples(st.floats(0, 9), st.floats(0.1, 3)), min_size=1, max_size=6),
)
def test_no_other_entry_covers_more(spans, given_entries):
    segments = windows(*((start, start + length) for start, length in spans))
    clips = [clip(start, start + length) for start, length in given_entries]
    for segment, owner in zip(segments, owners_of(segments, clips), strict=True):
        covers = [min(segment.end, e.end) - max(segment.start, e.start) for e in clips]
        assert owner == -1 or covers[owner] == max(covers) > 0
        if max(covers) > 0.5 * segment.duration:
            assert owner >= 0


def test_labels_of_clips_and_of_times_give_the_same_rows(tmp_path):
    """Two sounds in one file, and the same two as files of their own."""
    tone, noise = sound("tone", 1, 2.0), sound("noise", 1, 2.0)
    soundfile.write(tmp_path / "both.wav", np.concatenate([tone, noise]), RATE)
    table = tmp_path / "times.csv"
    table.write_text("file,label,start,end\nboth.wav,tone,0,2\nboth.wav,noise,2,4\n", encoding="utf-8")
    labelled = gathered(tmp_path, load(table))
    assert labelled.labels == ("noise", "tone")
    for segment, label in zip(labelled.segments, labelled.y, strict=True):
        assert labelled.labels[label] == ("tone" if (segment.start + segment.end) / 2 <= 2 else "noise")
    assert set(labelled.clip_names) == {f"{tmp_path / 'both.wav'}#t=0,2", f"{tmp_path / 'both.wav'}#t=2,4"}


def test_what_an_entry_says_goes_with_each_of_its_windows(tmp_path):
    write_corpus(tmp_path / "corpus", 2)
    with (tmp_path / "corpus.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "label", "group", "fold", "weight"])
        rows.writerow(["corpus/tone/tone-0.wav", "tone", "ann", "1", "2.5"])
        rows.writerow(["corpus/noise/noise-0.wav", "noise", "", "2", ""])
    labelled = gathered(tmp_path, load(tmp_path / "corpus.csv"))
    tone = labelled.y == 1
    assert set(labelled.groups[tone]) == {"ann"}
    assert set(labelled.groups[~tone]) == {"corpus/noise/noise-0.wav"}
    assert set(labelled.weights[tone]) == {2.5}
    assert set(labelled.folds[~tone]) == {"2"}
    assert len(labelled.take(np.flatnonzero(tone)).segments) == tone.sum()


def test_order_and_fingerprint_do_not_depend_on_processes(small, tmp_path):
    one, two = gathered(small, cache=tmp_path / "one"), gathered(small, cache=tmp_path / "two", jobs=2)
    assert np.array_equal(one.X, two.X)
    assert one.fingerprint == two.fingerprint
    assert one.clips == two.clips


def test_another_label_is_another_fingerprint(small):
    corpus = load(small / "corpus")
    first = corpus.clips[0]
    other = Corpus((Clip(first.file, "tone"), *corpus.clips[1:]))
    cache = small / "cache"
    assert gathered(small, cache=cache).fingerprint != gathered(small, other, cache=cache).fingerprint


def test_progress_counts_recordings(small):
    told = []
    gathered(small, cache=small / "cache", progress=lambda *said: told.append(said))
    assert told == [("extraction", done, 18) for done in range(1, 19)]


def test_a_damaged_recording_costs_only_itself(tmp_path):
    write_corpus(tmp_path / "corpus", 2)
    bad = tmp_path / "corpus" / "tone" / "tone-0.wav"
    bad.write_bytes(bad.read_bytes()[:30])
    labelled = gathered(tmp_path)
    [(path, reason)] = labelled.failures
    assert path == bad
    assert str(bad) in reason
    assert bad not in {labelled.clips[i].file for i in labelled.which}


def test_a_label_without_a_good_recording_is_remarked(tmp_path):
    write_corpus(tmp_path / "corpus", 1)
    (tmp_path / "corpus" / "tone" / "tone-0.wav").write_bytes(b"")
    labelled = gathered(tmp_path)
    assert labelled.labels == ("clicks", "noise")
    assert labelled.remarks == ("label 'tone' has no recording that could be used",)
    assert labelled.lost == ("tone",)


def test_a_segment_that_others_cover_has_a_window_of_its_own(tmp_path):
    soundfile.write(tmp_path / "a.wav", mixture(), RATE)
    table = tmp_path / "times.csv"
    rows = "a.wav,tone,0,1.5\na.wav,noise,1.5,1.51\na.wav,tone,1.51,3\n"
    table.write_text(f"file,label,start,end\n{rows}", encoding="utf-8")
    labelled = gathered(tmp_path, load(table))
    assert labelled.labels == ("noise", "tone")
    assert [segment for segment, y in zip(labelled.segments, labelled.y, strict=True) if y == 0] == [Segment(1.5, 1.51)]
    assert labelled.lost == ()


def test_all_damaged_is_one_line(tmp_path):
    write_corpus(tmp_path / "corpus", 1)
    for path in (tmp_path / "corpus").rglob("*.wav"):
        path.write_text("no audio")
    with pytest.raises(CorpusError, match=r"no recording of the corpus could be used: .*the file is text"):
        gathered(tmp_path)


def test_an_empty_corpus_is_one_line(tmp_path):
    with pytest.raises(CorpusError, match="no recording of the corpus could be used: it is empty"):
        gathered(tmp_path, Corpus(()))


def test_labels_outside_the_recording_are_one_line(tmp_path):
    soundfile.write(tmp_path / "a.wav", sound("tone", 1), RATE)
    with pytest.raises(CorpusError, match="no window of it lies in what is labelled"):
        gathered(tmp_path, Corpus((Clip(tmp_path / "a.wav", "tone", 50, 60),)))


def test_a_reader_can_be_named_with_settings(manager):
    assert len(corpus_readers(manager)) > 3
    [reader] = corpus_readers(manager, "esc50", ["esc10=true"])
    assert reader.esc10
    with pytest.raises(UsageError, match=r"'esc10=true' is for one reader; name it with --reader"):
        corpus_readers(manager, None, ["esc10=true"])


def test_the_tree_is_the_one_asked_for_or_the_corpus_s_own(small):
    corpus, labelled = load(small / "corpus"), gathered(small, cache=small / "cache")
    own = Corpus(corpus.clips, paths=(("steady", "noise"), ("steady", "tone"), ("clicks",), ("gone",)))
    given_tree = Taxonomy.of({"a": ["clicks", "noise"], "tone": {}})
    assert tree_for(own, labelled.labels, given_tree) is given_tree
    assert tree_for(own, labelled.labels, "learn") is None
    assert tree_for(corpus, labelled.labels) is None
    assert tree_for(own, labelled.labels).path("noise") == ("steady", "noise")
    assert set(tree_for(own, labelled.labels).labels) == set(labelled.labels)


def test_of_a_damaged_recording_the_labels_before_its_damage_are_used(tmp_path):
    corpus = write_corpus(tmp_path / "corpus", 2)
    path = tmp_path / "cut.wav"
    soundfile.write(path, mixture(("tone", "noise", "clicks"), 2.0), RATE)
    path.write_bytes(path.read_bytes()[: 44 + 2 * RATE * 3])
    clips = [Clip(path, "tone", 0.0, 2.0), Clip(path, "noise", 2.0, 4.0), Clip(path, "clicks", 4.0, 6.0)]
    dataset = gathered(tmp_path, Corpus((*load(corpus).clips, *clips)))
    used = {(clip.label, clip.end) for clip in (dataset.clips[i] for i in dataset.which) if clip.file == path}
    assert used == {("tone", 2.0)}
    ((file, reason),) = dataset.failures
    assert file == path
    assert "ends after 3.00 s of the 6.00 s it declares; 1 of its 3 labelled segments are used, those before" in reason
    assert not dataset.remarks
