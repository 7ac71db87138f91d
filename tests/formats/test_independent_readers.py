"""Each format as a tool of its own field reads it: times to the millisecond, labels intact."""

import csv
import io
import json
import sys
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from formats.results import BACKED_OFF, ONE, OVERLAPPING, TWO, expected, on_disk, result_of, to_the_millisecond, written

from audioclass.errors import UsageError
from audioclass.formats.audacity import Audacity
from audioclass.formats.csv import Csv
from audioclass.formats.dcase import Dcase
from audioclass.formats.elan import Elan
from audioclass.formats.jams import Jams
from audioclass.formats.json import Json, JsonLines
from audioclass.formats.parquet import Parquet
from audioclass.formats.raven import Raven
from audioclass.formats.rttm import Rttm
from audioclass.formats.srt import Srt
from audioclass.formats.textgrid import TextGrid
from audioclass.formats.webvtt import WebVtt

RESULTS = pytest.mark.parametrize("result", [ONE, TWO, BACKED_OFF], ids=["one", "two", "backed off"])


def lines_of(format_, result, **dialect):
    return list(csv.DictReader(io.StringIO(written(format_, result), newline=""), **dialect))


@RESULTS
def test_csv_in_the_standard_library(result):
    lines = lines_of(Csv(), result)
    assert to_the_millisecond((line["start"], line["end"], line["label"]) for line in lines) == expected(result)
    assert [line["file"] for line in lines] == list(result.files)
    P = [[float(line[f"posterior_{label}"]) for label in result.labels] for line in lines]
    np.testing.assert_allclose(P, result.P, atol=1e-6)


def test_csv_says_probability_path_and_runner_up_of_a_group_and_only_the_last_of_the_unknown():
    lines = lines_of(Csv(), BACKED_OFF)
    assert [(line["probability"], line["path"]) for line in lines] == [("0.750000", "animal"), ("", "")]
    assert [(line["runner_up"], line["runner_up_probability"]) for line in lines] == [
        ("engine", "0.250000"),
        ("engine", "0.500000"),
    ]


@RESULTS
@pytest.mark.parametrize("format_", [Json(), JsonLines()], ids=["json", "json_lines"])
def test_json_in_the_standard_library(result, format_):
    text = written(format_, result)
    rows = json.loads(text)["segments"] if format_.name == "json" else [json.loads(line) for line in text.splitlines()]
    assert to_the_millisecond((row["start"], row["end"], row["label"]) for row in rows) == expected(result)
    np.testing.assert_allclose([list(row["posteriors"].values()) for row in rows], result.P, atol=1e-6)


def test_json_says_the_labels_and_the_path_of_each():
    document = json.loads(written(Json(), BACKED_OFF))
    assert document["labels"] == ["cat", "dog", "engine"]
    assert document["paths"]["dog"] == ["animal", "dog"]
    assert [row["probability"] for row in document["segments"]] == [0.75, None]
    assert [(row["runner_up"], row["runner_up_probability"]) for row in document["segments"]] == [
        ("engine", 0.25),
        ("engine", 0.5),
    ]


@RESULTS
def test_parquet_in_duckdb(result, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = on_disk(Parquet(), result, tmp_path)
    rows = duckdb.sql(f"select start, \"end\", label from '{path}'").fetchall()
    assert to_the_millisecond(rows) == expected(result)
    columns = ", ".join('"posterior_' + label.replace('"', '""') + '"' for label in result.labels)
    np.testing.assert_array_equal(duckdb.sql(f"select {columns} from '{path}'").fetchall(), result.P)


def test_parquet_in_arrow():
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(written(Parquet(), BACKED_OFF))).to_pydict()
    assert table["path"] == [["animal"], []]
    assert table["probability"] == [0.75, None]
    assert (table["runner_up"], table["runner_up_probability"]) == (["engine", "engine"], [0.25, 0.5])


def test_parquet_without_pyarrow_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"parquet needs pyarrow: pip install 'audioclass\[parquet\]'"):
        written(Parquet(), ONE)


def test_audacity_line_by_line():
    fields = [line.split("\t") for line in written(Audacity(), ONE).splitlines()]
    assert to_the_millisecond(fields) == expected(ONE)
    assert "\ta b/é.wav: bruit, de fond\n" in written(Audacity(), TWO)


def test_textgrid_in_praatio(tmp_path):
    textgrid = pytest.importorskip("praatio.textgrid")
    grid = textgrid.openTextgrid(str(on_disk(TextGrid(), ONE, tmp_path)), includeEmptyIntervals=False)
    assert to_the_millisecond(grid.getTier("labels").entries) == expected(ONE)
    grid = textgrid.openTextgrid(str(on_disk(TextGrid(), TWO, tmp_path)), includeEmptyIntervals=False)
    assert grid.tierNames == ("a b/é.wav", "ü.wav")
    assert to_the_millisecond(grid.getTier("ü.wav").entries) == expected(TWO)[2:]


def test_textgrid_tiers_cover_the_recording_and_do_not_overlap(tmp_path):
    textgrid = pytest.importorskip("praatio.textgrid")
    grid = textgrid.openTextgrid(str(on_disk(TextGrid(), OVERLAPPING, tmp_path)), includeEmptyIntervals=True)
    assert to_the_millisecond(grid.getTier("labels 2").entries) == [(0, 1, ""), (1, 3, "b"), (3, 5, "c")]
    assert to_the_millisecond(grid.getTier("labels").entries) == [(0, 2, "a"), (2, 4, "a"), (4, 5, "")]
    assert grid.validate()


def test_textgrid_points_are_points_in_praatio(tmp_path):
    textgrid = pytest.importorskip("praatio.textgrid")
    result = result_of(["a", "click", "clack"], [(0, 2), (1, 1), (1, 1)])
    grid = textgrid.openTextgrid(str(on_disk(TextGrid(), result, tmp_path)), includeEmptyIntervals=False)
    assert grid.tierNames == ("labels", "labels (points)", "labels (points) 2")
    assert [tuple(point) for point in grid.getTier("labels (points)").entries] == [(1, "click")]


def test_rttm_field_by_field():
    fields = [line.split(" ") for line in written(Rttm(), ONE).splitlines()]
    assert {len(line) for line in fields} == {10}
    rows = [(line[3], float(line[3]) + float(line[4]), unquote(line[7])) for line in fields]
    assert to_the_millisecond(rows) == expected(ONE)
    assert unquote(fields[0][1]) == "enregistrement é"
    assert [line.split()[8] for line in written(Rttm(), BACKED_OFF).splitlines()] == ["0.750000", "<NA>"]


@pytest.mark.filterwarnings("ignore")
def test_raven_in_crowsetta(tmp_path):
    crowsetta = pytest.importorskip("crowsetta")
    read = crowsetta.formats.bbox.Raven.from_file(on_disk(Raven(), ONE, tmp_path))
    boxes = read.to_bbox()
    assert to_the_millisecond((box.onset, box.offset, box.label) for box in boxes) == expected(ONE)


def test_raven_in_the_standard_library():
    lines = lines_of(Raven(), TWO, delimiter="\t")
    rows = [(line["Begin Time (s)"], line["End Time (s)"], line["Annotation"]) for line in lines]
    assert to_the_millisecond(rows) == expected(TWO)
    assert [line["Begin File"] for line in lines] == list(TWO.files)


@RESULTS
def test_dcase_in_the_standard_library(result):
    lines = lines_of(Dcase(), result, delimiter="\t")
    rows = [(line["onset"], line["offset"], line["event_label"]) for line in lines]
    assert to_the_millisecond(rows) == expected(result)
    assert [line["filename"] for line in lines] == list(result.files)


@pytest.mark.filterwarnings("ignore")
def test_jams_in_jams(tmp_path):
    jams = pytest.importorskip("jams")
    document = jams.load(str(on_disk(Jams(), TWO, tmp_path)), strict=True)
    rows = [(o.time, o.time + o.duration, o.value) for a in document.annotations for o in a.data]
    assert to_the_millisecond(rows) == expected(TWO)
    assert [a.sandbox.file for a in document.annotations] == ["a b/é.wav", "ü.wav"]
    np.testing.assert_allclose([p for a in document.annotations for p in a.sandbox.posteriors], TWO.P, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_jams_of_groups_and_the_unknown_is_valid(tmp_path):
    jams = pytest.importorskip("jams")
    (annotation,) = jams.load(str(on_disk(Jams(), BACKED_OFF, tmp_path)), strict=True).annotations
    assert [o.confidence for o in annotation.data] == [0.75, None]


def test_elan_in_pympi(tmp_path):
    pympi = pytest.importorskip("pympi")
    document = pympi.Elan.Eaf(str(on_disk(Elan(), TWO, tmp_path)))
    tiers = [document.get_annotation_data_for_tier(name) for name in document.get_tier_names()]
    rows = [(start / 1000, end / 1000, label) for tier in tiers for start, end, label in sorted(tier)]
    assert to_the_millisecond(rows) == expected(TWO)
    assert list(document.get_tier_names()) == ["a b/é.wav", "ü.wav"]
    assert [unquote(media["MEDIA_URL"]) for media in document.get_linked_files()] == ["a b/é.wav", "ü.wav"]


def test_srt_in_srt():
    srt = pytest.importorskip("srt")
    subtitles = list(srt.parse(written(Srt(), ONE)))
    rows = [(s.start.total_seconds(), s.end.total_seconds(), s.content) for s in subtitles]
    assert to_the_millisecond(rows) == expected(ONE)
    assert [s.index for s in subtitles] == [1, 2, 3, 4]


def test_webvtt_in_webvtt(tmp_path):
    webvtt = pytest.importorskip("webvtt")
    captions = list(webvtt.read(str(on_disk(WebVtt(), ONE, tmp_path))))
    rows = [
        (c.start_in_seconds + int(c.start[-3:]) / 1000, c.end_in_seconds + int(c.end[-3:]) / 1000) for c in captions
    ]
    texts = [unescape(c.raw_text) for c in captions]
    assert to_the_millisecond((*row, text) for row, text in zip(rows, texts, strict=True)) == expected(ONE)


@pytest.mark.parametrize("label", ["a\n\nb", "x\ty", '"', "00:00 --> 00:01", "\0", "]]>", "7\n00:00"])
def test_odd_characters_in_a_label_add_no_segment(label, tmp_path):
    result = result_of([label, "a", label])
    assert len(list(pytest.importorskip("srt").parse(written(Srt(), result)))) == 3
    assert len(pytest.importorskip("webvtt").read(str(on_disk(WebVtt(), result, tmp_path)))) == 3
    assert len(list(ElementTree.fromstring(written(Elan(), result)).iter("ANNOTATION"))) == 3
    assert len(lines_of(Dcase(), result, delimiter="\t")) == 3
    assert len(written(JsonLines(), result).splitlines()) == 3
