import csv
import json

import numpy as np
import pytest

from audioclass.cli import run


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(24, 3))
    lines = [f"{a:.4f},{b:.4f},{c:.4f},{'é' if a + b > 0 else 'other'}" for a, b, c in X]
    path = tmp_path / "points.csv"
    path.write_text("a,b,c,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


SIGMAS = ("--points", "3", "--criterion", "alignment_c", "--criterion", "leave_group_out_log_loss")


def test_a_sweep_of_C_prints_a_table_and_marks_joachims(table, capsys):
    assert run(["lab", "sweep-c", str(table), "--points", "3", "--from", "0.1", "--to", "10"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[0].split("\t")[:3] == ["C", "training_error", "leave_one_out"]
    assert len(captured.out.splitlines()) == 4
    assert captured.err.startswith("joachims 1.034; ")


def test_a_sweep_of_sigma_writes_csv_json_figure_and_ledger(table, tmp_path, capsys):
    out, figure = tmp_path / "out.csv", tmp_path / "out.svg"
    assert run(["lab", "sweep-sigma", str(table), *SIGMAS, "-o", str(out), "--figure", str(figure)]) == 0
    with out.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["criterion"] for row in rows] == ["alignment_c", "leave_group_out_log_loss"]
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert (tmp_path / "out.csv.ledger.jsonl").exists()
    assert run(["lab", "sweep-sigma", str(table), *SIGMAS, "-C", "joachims", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert len(said["rows"]) == 3
    assert said["rows"][0]["C"] != said["rows"][2]["C"]


def test_what_was_computed_is_not_computed_again(table, tmp_path, monkeypatch, capsys):
    arguments = ["lab", "sweep-sigma", str(table), *SIGMAS, "--json"]
    assert run(arguments) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr("audioclass_lab.sweeps._scored", None)
    assert run(arguments) == 0
    assert capsys.readouterr().out == first
    assert (tmp_path / "cache" / "audioclass" / "lab" / "sweep-sigma.jsonl").exists()


def test_surfaces_are_drawn(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    figure = tmp_path / "board.png"
    arguments = ["--set", "curve", "--examples", "30", "--sigma", "0.2", "--C", "2", "--figure", str(figure)]
    assert run(["lab", "surfaces", *arguments, "-o", str(tmp_path / "b.json")]) == 0
    assert figure.read_bytes()[:4] == b"\x89PNG"
    assert json.loads((tmp_path / "b.json").read_text())["rows"][0]["sigma"] == 0.2


def test_a_figure_of_C_is_drawn(table, tmp_path):
    figure = tmp_path / "c.pdf"
    assert (
        run(["lab", "sweep-c", str(table), "--points", "2", "--from", "1", "--to", "2", "--figure", str(figure)]) == 0
    )
    assert figure.read_bytes()[:4] == b"%PDF"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--criterion", "alignement"], "unknown criterion 'alignement'; did you mean 'alignment'?"),
        (["--kernel", "linear"], "kernel 'linear' has no sigma to sweep"),
        (["-C", "big"], "C='big' must be a number or 'joachims'"),
        (["-C", "-1"], "C=-1.0 must be positive"),
        (["--from", "3", "--to", "2"], "sigma: from 3 must be below to 2"),
        (["--from", "0"], "sigma=0.0 must be positive"),
        (["--normalisation", "ranks"], "unknown normalisation 'ranks'; did you mean 'rank'?"),
        (["-o", "out.xls"], "out.xls: unknown format '.xls'; known: .csv, .json"),
        (["--figure", "out.gif"], "out.gif: unknown format '.gif'"),
        (["--figure", "/no/where.png"], "/no: not a folder"),
        (["--positive", "nobody"], "unknown label 'nobody'"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_two(table, capsys, arguments, message):
    assert run(["lab", "sweep-sigma", str(table), *arguments]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.count("\n")) == ("", 1)
    assert captured.err.startswith(message)


def test_an_unknown_set_is_wrong_use(tmp_path, capsys):
    assert run(["lab", "surfaces", "--set", "chess"]) == 2
    assert capsys.readouterr().err.startswith("unknown set 'chess'")
    assert run(["lab", "surfaces", "--sigma", "0"]) == 2
