import json
import os
import subprocess
import sys

import pytest
from environments import REPOSITORY

SCRIPTS = sorted(path.stem for path in (REPOSITORY / "benchmarks").glob("*.py"))
NEED_DATA = sorted({*SCRIPTS} - {"bench", "startup", "usual"})  # the first and the last are parts of the others


def start(name, *arguments, **variables):
    command = [sys.executable, str(REPOSITORY / "benchmarks" / f"{name}.py"), *arguments]
    inherited = {key: value for key, value in os.environ.items() if key != "AUDIOCLASS_DATA"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=inherited | variables)


def benchmark(name, *arguments):
    done = start(name, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_startup_prints_its_keys():
    results = json.loads(benchmark("startup", "--quick", "--json"))
    assert results["help_over_baseline"] > 0
    assert results["help_heavy_imports"] == results["plugins_heavy_imports"] == []


def test_startup_prints_a_table():
    lines = benchmark("startup", "--quick").splitlines()
    assert lines[0].startswith("command")
    assert [line.split()[0] for line in lines[1:]] == ["baseline", "help", "plugins", "classify", "numpy"]


@pytest.mark.parametrize("name", NEED_DATA)
def test_without_data_it_says_how_to_name_them(name):
    done = start(name, "--quick")
    assert done.returncode == 2
    expected = "no data: --data DIR or the environment variable AUDIOCLASS_DATA must name their folder"
    assert done.stderr.splitlines()[-1].endswith(f"error: {expected}")


@pytest.mark.parametrize("how", ["option", "variable"])
def test_a_folder_that_is_not_there_is_named(how, tmp_path):
    folder = str(tmp_path / "nothing")
    done = start("training", "--data", folder) if how == "option" else start("training", AUDIOCLASS_DATA=folder)
    assert done.returncode == 2
    assert f"{folder}: no such folder; --data or AUDIOCLASS_DATA must name the folder of the data" in done.stderr
