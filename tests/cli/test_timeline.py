import io
import sys

import numpy as np
import pytest
import soundfile
from rich.cells import cell_len
from rich.console import Console
from trained import RATE, sound

from audioclass.cli import run
from audioclass.cli.timeline import COLOURS, Timeline, print_timeline
from audioclass.data import Result, Segment
from audioclass.display import printable


def result_of(*rows, labels=("music", "speech")):
    """A result of (file, start, end, label) rows."""
    segments = tuple(Segment(start, end, label) for _, start, end, label in rows)
    return Result(tuple(row[0] for row in rows), segments, np.full((len(rows), len(labels)), 0.5), labels)


ONE = result_of(("a.wav", 0, 30, "speech"), ("a.wav", 30, 40, "music"))


def printed(result, width=80, **options):
    console = Console(record=True, width=width, file=io.StringIO(), **options)
    console.print(Timeline(result))
    return console


def test_stretches_have_the_width_and_the_name_of_their_label():
    bar, axis, *legend = printed(ONE, 80).export_text().splitlines()
    assert bar.index("music") in range(60, 80)
    assert "speech" in bar[:60]
    assert axis.startswith("╵0:00.0")
    assert [line.split()[1:3] for line in legend] == [["speech", "0:30.0"], ["music", "0:10.0"]]
    assert legend[0].endswith("75.0 %")


def test_each_label_has_its_colour():
    html = printed(ONE, force_terminal=True, color_system="truecolor").export_html(inline_styles=True)
    assert COLOURS[0] in html
    assert COLOURS[1] in html


def test_labels_are_told_apart_without_colours_and_without_room():
    rows = [("a.wav", i, i + 1, ("music", "speech")[i % 2]) for i in range(40)]
    bar = Timeline(result_of(*rows)).lines(80)[0].plain
    assert len(set(bar)) == 2
    assert bar == (bar[0] * 2 + bar[2] * 2) * 20


@pytest.mark.parametrize("width", [1, 10, 33, 80, 200])
def test_no_line_is_wider_than_the_terminal(width):
    result = result_of(("é.wav", 0, 3700, "音楽とても長い名前です"), ("é.wav", 3700, 3701.5, "x\ny"), labels=("x\ny",))
    lines = Timeline(result).lines(width)
    assert all(cell_len(line.plain) <= max(width, 25) for line in lines)
    assert cell_len(lines[0].plain) == max(width, 10)
    assert all("\n" not in line.plain for line in lines)


def test_several_recordings_have_a_bar_each_under_their_file():
    text = printed(result_of(("a.wav", 0, 10, "speech"), ("[b].wav", 0, 5, "music"))).export_text()
    lines = text.splitlines()
    assert lines[0] == "a.wav"
    assert lines[3] == "[b].wav"
    assert len(lines) == 8


def test_gaps_are_empty_and_windows_that_overlap_share():
    gap = Timeline(result_of(("a.wav", 5, 10, "speech"))).lines(20)[0].plain
    assert gap[:10] == " " * 10
    assert "speech" in gap[10:]
    overlapping = result_of(("a.wav", 0, 10, "speech"), ("a.wav", 8, 12, "music"))
    assert Timeline(overlapping).lines(48)[0].plain.index("music") > 38


def test_groups_and_the_unknown_are_shown():
    assert "unknown" in Timeline(result_of(("a.wav", 0, 1, "unknown"))).lines(40)[0].plain


@pytest.mark.parametrize("rows", [[], [("a.wav", 0, 0, "speech")]], ids=["no segments", "no duration"])
def test_nothing_to_show_is_no_error(rows):
    assert len(Timeline(result_of(*rows)).lines(40)) == 3 * len(rows)


def test_it_is_printed_on_standard_output(capsys):
    print_timeline(ONE)
    assert "speech" in capsys.readouterr().out


def test_on_a_terminal_each_recording_has_its_name_above(model_file, tmp_path, monkeypatch, capsys):
    for name in ("one", "two\n\x1b[1m"):
        soundfile.write(tmp_path / f"{name}.wav", sound("tone", 1), RATE)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert run(["classify", str(tmp_path), "-m", str(model_file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line for line in lines if line.startswith(str(tmp_path))]
    assert names == [str(tmp_path / "one.wav"), printable(str(tmp_path / "two\n\x1b[1m.wav"))]
    assert lines[0] == names[0]
