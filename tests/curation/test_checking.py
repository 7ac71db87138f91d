import hashlib
from pathlib import Path

import pytest

from audioclass.curation.checking import check_corpus
from audioclass.curation.inspection import Inspection
from audioclass.data import Clip, Corpus, Ignored

A, B = Path("a.wav"), Path("b.wav")
GOOD = (Clip(A, "dog", group="1"), Clip(B, "dog", group="2"))
MULTI_LABEL = ("multi-label", "2 labels", False)


def sounding(path, content="", **changes):
    return Inspection(path, **{"seconds": 5.0, "peak": 0.5, "content": content or str(path)} | changes)


def found(clips, *inspections, n_folds=2, **about):
    """(kind, where, is it wrong) and the details of all findings."""
    seen = {A: sounding(A), B: sounding(B)} | {one.path: one for one in inspections}
    findings = check_corpus(Corpus(tuple(clips), **about), seen, n_folds)
    return [(one.kind, one.where, one.is_wrong) for one in findings], " ".join(one.detail for one in findings)


def test_nothing_is_said_of_a_good_corpus():
    assert found(GOOD) == ([], "")


@pytest.mark.parametrize(
    ("inspection", "kind", "is_wrong", "detail"),
    [
        (Inspection(B, reason="b.wav: the file is empty"), "unreadable", True, "the file is empty"),
        (sounding(B, peak=0.0), "silent", True, "5.00 s of silence"),
        (sounding(B, flat=0.012), "clipped", False, "1.2 % of its samples cut off at full scale"),
        (sounding(B, "a.wav"), "two groups", True, "sounds the same as a.wav, which is in another group"),
    ],
)
def test_recordings_that_spoil_a_corpus(inspection, kind, is_wrong, detail):
    assert found(GOOD, inspection) == ([(kind, "b.wav", is_wrong)], detail)


def test_the_same_sound_under_two_labels():
    clips = (*GOOD[:1], Clip(B, "cat", group="1"))
    kinds, details = found(clips, sounding(B, "a.wav"), n_folds=1)
    assert kinds == [("two labels", "b.wav", True)]
    assert details == "labelled 'cat', but a.wav sounds the same: 'dog'"


def test_a_copy_in_the_same_group_is_only_worth_knowing():
    clips = (Clip(A, "dog", group="1"), Clip(B, "dog", group="1"))
    assert found(clips, sounding(B, "a.wav"), n_folds=1)[0] == [("duplicate", "b.wav", False)]


def test_silent_and_unreadable_recordings_are_no_copies_of_one_another():
    silent = [sounding(path, "same", peak=0.0) for path in (A, B)]
    assert [kind for kind, _, _ in found(GOOD, *silent)[0]] == ["silent", "silent"]
    broken = [Inspection(path, reason="broken") for path in (A, B)]
    assert [kind for kind, _, _ in found(GOOD, *broken)[0]] == ["unreadable", "unreadable"]


def test_one_stretch_with_two_labels_or_twice():
    twice = (*GOOD, Clip(A, "cat", group="1"), Clip(A, "cat", 1.0, 2.0, "1"), Clip(A, "cat", 1.0, 2.0, "1"))
    kinds, details = found(twice, n_folds=1)
    assert kinds == [("two labels", "a.wav", False), ("duplicate", "a.wav from 1 s", False), MULTI_LABEL]
    overlaps = "3 pairs of segments of different labels overlap, such as 'dog' and 'cat' at 0 s of a.wav"
    assert details == f"labelled 'cat', 'dog': all of them hold named 2 times {overlaps}"


@pytest.mark.parametrize(("start", "end", "n"), [(0.0, 5.05, 0), (0.0, 5.2, 1), (5.0, None, 1), (4.9, None, 0)])
def test_entries_end_with_their_recording(start, end, n):
    kinds, details = found((Clip(A, "dog", start, end, "1"), GOOD[1]))
    assert kinds == [("beyond the end", "a.wav", True)] * n
    assert details in (
        "",
        "'dog' reaches to 5.2 s, the recording to 5.00 s",
        "'dog' reaches to 5 s, the recording to 5.00 s",
    )


def test_a_group_in_two_folds_is_wrong():
    clips = (Clip(A, "dog", group="1", fold="2"), Clip(B, "dog", group="1", fold="1"))
    kinds, details = found(clips, n_folds=1)
    assert (kinds, details) == ([("parted group", "1", True)], "stands in folds '1', '2'")


def test_folds_are_for_all_or_for_none():
    kinds, details = found((Clip(A, "dog", group="1", fold="1"), Clip(B, "dog", group="2")))
    assert kinds == [("no fold", "b.wav", True)]
    assert details == "no fold, nor have 0 other clips; 1 have one"


def test_labels_need_groups_for_their_folds():
    clips = (*GOOD, Clip(A, "cat", 0.0, 1.0, group="1"))
    kinds, details = found(clips, n_folds=5)
    assert kinds == [("few groups", "cat", True), ("few groups", "dog", False), MULTI_LABEL]
    assert details.startswith("1 group, 5 folds need 5 2 groups, 5 folds need 5 1 pair of segments")


def test_joined_labels_are_told_and_counted_one_by_one():
    kinds, details = found((*GOOD, Clip(B, "dog+cat", 1.0, 2.0, "2"), Clip(A, "cat", group="1")), n_folds=1)
    assert MULTI_LABEL in kinds
    assert details.endswith("1 segment has labels joined with +, such as 'dog+cat'")


def test_what_was_ignored_is_told_and_what_is_missing_is_wrong(tmp_path):
    ignored = (Ignored(tmp_path, "a folder"), Ignored(tmp_path / "gone.wav", "no such file"))
    kinds, details = found(GOOD, ignored=ignored)
    assert kinds == [("ignored", str(tmp_path), False), ("ignored", str(tmp_path / "gone.wav"), True)]
    assert details == "a folder no such file"


def test_files_are_what_their_checksums_say(tmp_path):
    (tmp_path / "same").write_bytes(b"abc")
    (tmp_path / "other").write_bytes(b"abd")
    stated = {tmp_path / name: hashlib.sha256(b"abc").hexdigest() for name in ("same", "other", "gone")}
    kinds, details = found(GOOD, checksums=stated)
    assert kinds == [("checksum", str(tmp_path / "other"), True), ("checksum", str(tmp_path / "gone"), True)]
    assert details == "not what it was no such file"
