"""What the README and the page on plugins tell a reader to type is run here."""

import csv
import re
import tomllib
from pathlib import Path

import pytest
from environments import OFFLINE, REPOSITORY

import audioclass

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
PAGE = (REPOSITORY / "plugins" / "README.md").read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def run_all(environment, commands: str, cwd: Path) -> list[str]:
    """Run commands as printed, except that pip may not download."""
    outputs = []
    for line in commands.splitlines():
        program, *arguments = line.split()
        if program == "pip":
            arguments[1:1] = OFFLINE
        outputs.append(environment.run(program, *arguments, cwd=cwd, check=True).stdout)
    return outputs


def test_the_page_on_plugins_works_as_printed(environment, tmp_path):
    first, by_hand, not_installed, manifest, publish = blocks(PAGE, "sh")
    run_all(environment, first, tmp_path)

    folder = tmp_path / "audioclass-cauchy"
    folder.mkdir()
    project, extra = blocks(PAGE, "toml")
    (folder / "audioclass_cauchy.py").write_text(blocks(PAGE, "python")[0], encoding="utf-8")
    (folder / "pyproject.toml").write_text(project, encoding="utf-8")
    checked, _, shown = run_all(environment, by_hand, folder)
    assert "kernel cauchy (audioclass-cauchy 0.1.0): passes all" in checked
    assert shown.startswith("cauchy: kernel of audioclass-cauchy 0.1.0")

    (tmp_path / "durations.py").write_text(blocks(PAGE, "python")[1], encoding="utf-8")
    checked, helped = run_all(environment, not_installed, tmp_path)
    assert "command durations (durations not installed): passes all" in checked
    assert "Usage: audioclass durations" in helped

    (folder / "pyproject.toml").write_text(project + extra, encoding="utf-8")
    run_all(environment, manifest + publish, folder)
    assert (folder / "audioclass-plugin.toml").is_file()
    assert [path.name for path in (folder / "dist").iterdir()] == ["audioclass_cauchy-0.1.0-py2.py3-none-any.whl"]


def test_a_kernel_needs_no_more_than_25_lines():
    assert len(blocks(PAGE, "python")[0].splitlines()) <= 25


def test_ci_runs_the_second_command_of_the_readme():
    install, test, *_ = blocks(README, "sh")
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install . && ")
    assert (REPOSITORY / ".ci" / "run").read_text().endswith(test)


def test_the_first_command_of_the_readme_prints_what_it_says_and_is_right(capsys):
    from audioclass.cli import run

    command = blocks(README, "sh")[0].rpartition(".venv/bin/audioclass ")[2].split()
    demo = REPOSITORY / command.pop()
    assert run([*command, str(demo)]) == 0
    printed = [line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()[1:]]
    shown = [line.split() for line in README.splitlines() if re.match(r"\d+\.\d{3} +\d+\.\d{3} ", line)]
    with demo.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        assert [row["label"] for row in csv.DictReader(file)] == [row[2] for row in printed]
    assert [row[2] for row in printed] == [row[2] for row in shown]
    for column, rounding in ((0, 1.0), (1, 1.0), (3, 0.02)):  # seconds, seconds, posterior: processors round otherwise
        values = [[float(row[column]) for row in rows] for rows in (printed, shown)]
        assert values[0] == pytest.approx(values[1], abs=rounding)


def test_the_python_of_the_readme_works():
    lines = next(block for block in blocks(README, "python") if "audioclass.classify" in block)
    pytest.importorskip("pandas")
    names = {"audioclass": audioclass}
    exec(lines.replace('"talk.wav"', repr(str(REPOSITORY / "corpora" / "demo" / "demo.flac"))), names)
    assert len(names["result"].segments) >= 1


def test_the_configuration_of_the_readme_is_one():
    from audioclass.engine.runs import make_run
    from audioclass.training.config import TrainingConfig

    [text] = blocks(README, "toml")
    plain = TrainingConfig.of(tomllib.loads(text), make_run()).to_plain()
    assert plain["strategy"] == "one_vs_one:coupling=hastie_tibshirani"
    assert plain["kernel"].startswith("gaussian:")


@pytest.mark.parametrize("kind", re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE))
def test_the_table_of_contracts_is_right(kind):
    from audioclass import testing
    from audioclass.hookspecs import KINDS

    assert f"| `{kind}` | `{KINDS[kind].hook}` |" in PAGE
    assert hasattr(testing, f"check_{kind}")
    assert f"`check_{kind}`" in PAGE
