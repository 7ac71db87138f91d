"""What the README and the page on plugins tell a reader to type is run here."""

import csv
import itertools
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import soundfile
import trained
from environments import OFFLINE, REPOSITORY

import audioclass
from audioclass.cli import run
from audioclass.extraction.recipes import load_recipe
from audioclass.testing import check_fitted_pooling

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


def test_the_pooling_of_the_page_keeps_its_contract(tmp_path, monkeypatch):
    [code] = [block for block in blocks(PAGE, "python") if "class Centred" in block]
    (tmp_path / "audioclass_centred.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    check_fitted_pooling(import_module("audioclass_centred").Centred())


def test_a_kernel_needs_no_more_than_25_lines():
    assert len(blocks(PAGE, "python")[0].splitlines()) <= 25


def test_ci_runs_the_second_command_of_the_readme():
    install, test, *_ = blocks(README, "sh")
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install . && ")
    assert (REPOSITORY / ".ci" / "run").read_text().endswith(test)


def test_the_first_command_of_the_readme_prints_what_it_says_and_is_right(capsys):
    command = blocks(README, "sh")[0].rpartition(".venv/bin/audioclass ")[2].split()
    demo = REPOSITORY / command.pop()
    assert run([*command, str(demo)]) == 0
    printed = [line.split("\t")[1:] for line in capsys.readouterr().out.splitlines()[1:]]
    shown = [line.split() for line in README.splitlines() if re.match(r"\d+\.\d{3} +\d+\.\d{3} ", line)]
    with demo.with_suffix(".csv").open(encoding="utf-8", newline="") as file:
        lasting = [row[2] for row in printed if float(row[1]) - float(row[0]) >= 1]  # voices pause for less
        assert [row["label"] for row in csv.DictReader(file)] == [label for label, _ in itertools.groupby(lasting)]
    assert [row[2] for row in printed] == [row[2] for row in shown]
    for column, rounding in ((0, 1.0), (1, 1.0), (3, 0.02)):  # seconds, seconds, posterior: processors round otherwise
        values = [[float(row[column]) for row in rows] for rows in (printed, shown)]
        assert values[0] == pytest.approx(values[1], abs=rounding)


def test_the_python_of_the_readme_works():
    pytest.importorskip("pandas")
    names = execute("result = audioclass.classify", "talk.wav", REPOSITORY / "corpora" / "demo" / "demo.flac")
    assert len(names["result"].segments) >= 1
    names = execute("audioclass.extract", "talk.wav", REPOSITORY / "corpora" / "demo" / "demo.flac")
    assert names["features"].X.shape[1] == len(names["features"].columns) == len(names["features"].groups)


def execute(words: str, stated: str, path: Path) -> dict:
    """What the Python of the README that holds these words makes of this file."""
    [lines] = [block for block in blocks(README, "python") if words in block]
    names = {"audioclass": audioclass}
    exec(lines.replace(repr(stated).replace("'", '"'), repr(str(path))), names)
    return names


@pytest.fixture
def recordings(tmp_path, monkeypatch):
    """The folder that the README trains on, in the working directory: six recordings of 4 s for each label."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUDIOCLASS_CACHE", str(tmp_path / "cache"))
    for label in trained.LABELS:
        (tmp_path / "recordings" / label).mkdir(parents=True)
        for number in range(6):
            sound = trained.sound(label, number, seconds=4.0)
            soundfile.write(tmp_path / "recordings" / label / f"{number}.wav", sound, trained.RATE)
    return tmp_path / "recordings"


def test_training_prints_what_the_readme_says_and_its_tree_can_be_edited(recordings, capsys):
    [command] = [block for block in blocks(README, "sh") if block.startswith("audioclass train recordings/")]
    assert run(command.replace("--jobs 0", "--jobs 1").split()[1:]) == 0
    printed = capsys.readouterr().out.splitlines()
    [shown] = re.findall(r"^group 1\n.*?(?=^```$)", README, flags=re.DOTALL | re.MULTILINE)
    machines, tables = zip(*(split_tree(lines) for lines in (printed, shown.splitlines())), strict=True)
    assert machines[0] == machines[1]
    assert set(machines[0]) == set(trained.LABELS)
    words, numbers = zip(*(split_numbers(rows) for rows in tables), strict=True)
    assert words[0] == words[1]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.03)  # processors round otherwise

    [commands] = [block for block in blocks(README, "sh") if "audioclass tree show" in block]
    for line in commands.splitlines():
        assert run(line.partition(" #")[0].split()[1:]) == 0, line
    assert audioclass.load_model("edited.audioclass").labels == trained.LABELS

    names = execute("trained = audioclass.train", "talk.wav", next(recordings.rglob("*.wav")))
    assert names["trained"].grouped.main.value("accuracy") == 1.0


def split_tree(lines: list[str]) -> tuple[dict[str, str], list[list[str]]]:
    """What stands behind each label of a tree, without its numbers, and the cells of the table below it.

    Sounds that all machines tell apart are paired, and C is chosen, by what processors round otherwise.
    """
    rows = [re.split(r"\t| {2,}", line.strip("├└│─ ")) for line in lines]
    end = rows.index([""])
    machines = {label: re.sub(r"\d+(\.\d+)?", "#", what[0]) for label, *what in rows[:end] if what}
    return machines, rows[end + 1 :]


def split_numbers(rows: list[list[str]]) -> tuple[list[str], list[float]]:
    """The words of a table, and the numbers in them."""
    text = "\n".join("  ".join(row) for row in rows)
    number = r"\d+(?:\.\d+)?(?:e[+-]\d+)?"
    return re.split(number, text), [float(value) for value in re.findall(number, text)]


def test_the_readme_counts_formats_and_features_as_they_are():
    manager = audioclass.plugin_manager(installed=False)
    formats = [manager.make("format", entry.name) for entry in manager.entries("format")]
    words = " ".join(README.split())
    assert "`-o talk.TextGrid` and twelve other suffixes" in words
    assert len({one.suffix for one in formats}) == len(formats) == 13
    assert "reads ten of these formats as labels" in words
    assert sum(hasattr(one, "read") for one in formats) == 10

    stated = re.findall(r"^\| `(\w+)` \((\d+) kHz, (\d+) features a window\)", README, flags=re.MULTILINE)
    recipes = [(name, load_recipe(name, manager)) for name, *_ in stated]
    rates_and_widths = [(name, str(one.framing.sample_rate // 1000), str(len(one.columns))) for name, one in recipes]
    assert rates_and_widths == stated
    assert [name for name, *_ in stated] == ["broadcast", "environment22", "music"]


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
