import json
import os
import re
import subprocess
import sys

import pytest
from environments import REPOSITORY

SCRIPTS = sorted(path.stem for path in (REPOSITORY / "benchmarks").glob("*.py"))
PARTS = {"bench", "floor_measures", "segment_measures", "segmenters", "tables", "usual"}  # of the others
README = (REPOSITORY / "benchmarks" / "README.md").read_text(encoding="utf-8")
DATA = dict(re.findall(r"^\| `(\w+)\.py` \|.*\| ([^|]+) \|$", README, flags=re.MULTILINE))  # as the page tells it
NEED_DATA = sorted(name for name, data in DATA.items() if data != "none")


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


def test_scale_prints_its_keys():
    results = json.loads(benchmark("scale", "--quick", "--json", "--hours", "1000"))
    assert results["windows"] == 3_600_000
    assert f"cores_{results['breaks_first']}" in results


def test_the_page_lists_every_benchmark():
    assert sorted(DATA) == sorted({*SCRIPTS} - PARTS)


@pytest.mark.parametrize("name", sorted({*DATA} - {*NEED_DATA}))
def test_what_needs_no_data_asks_for_none(name):
    assert "--data" not in benchmark(name, "--help")


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


# Parts of the benchmarks of machines and of selection on a few made-up rows: the data are not at hand here.
PARTS_ON_FEW_ROWS = """
import json
import numpy as np
import machines, selection

y = np.arange(60) % 3
X = (np.random.default_rng(0).normal(size=(60, 4)) + y[:, None]).astype(np.float32)
split = machines.Split(X, y, np.arange(60) // 2, X[:12], y[:12])
results, _ = machines.small([split])
sides = np.where(y == 0, 1, -1)
rows = selection.sweep("made up", X.astype(float), sides, "1", selection.SIGMAS[[6, 12]], selection.CRITERIA)
rows.append(selection.default_choice("made up", X.astype(float), sides, 0.0))
print(json.dumps([results, rows]))
"""


def test_parts_of_the_benchmarks_still_run():
    variables = os.environ | {"PYTHONPATH": os.pathsep.join([str(REPOSITORY / "benchmarks"), *sys.path])}
    command = [sys.executable, "-c", PARTS_ON_FEW_ROWS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables)
    assert done.returncode == 0, done.stderr
    results, rows = json.loads(done.stdout)
    assert {"logloss_ours", "train_speedup_over_calibrated_ovo"} <= results.keys()
    assert all(0 <= row["loo"] <= 1 for row in rows)
