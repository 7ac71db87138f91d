"""Folds as they are published, and what is refused before any recording is read."""

import re
from pathlib import Path

import pytest
import soundfile
from runs import config, run
from trained import LABELS, RATE, sound

from audioclass.engine import folded_corpus
from audioclass.engine.evaluating import cross_validate
from audioclass.engine.folded_corpus import prepare_folds
from audioclass.errors import CorpusError

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


@pytest.fixture(scope="module")
def setup(small):
    return config(recipe=str(small / "small.toml"), criterion="fixed")


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
    monkeypatch.setattr(folded_corpus, "gather", Unread())
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
    monkeypatch.setattr(folded_corpus, "gather", Unread())
    with pytest.raises(CorpusError, match=message):
        cross_validate(corpus, config=setup, folds=folds, run=run())


def test_folds_that_not_all_clips_have_are_not_used_without_a_word(setup, tmp_path):
    corpus = write_esc50(tmp_path / "esc", ROWS)
    table = corpus / "meta" / "esc50.csv"
    table.write_text(table.read_text().replace("-A-0.wav,1,", "-A-0.wav,,"))
    with pytest.warns(UserWarning, match="1 of 9 clips have no fold: the folds of the corpus are not used, 5 others"):
        prepare_folds(corpus, setup, run(tmp_path / "cache"))
