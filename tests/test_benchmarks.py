import json
import subprocess
import sys

from environments import REPOSITORY


def benchmark(name, *arguments):
    command = [sys.executable, str(REPOSITORY / "benchmarks" / f"{name}.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_startup_prints_its_keys():
    results = json.loads(benchmark("startup", "--quick", "--json"))
    assert results["help_over_baseline"] > 0
    assert results["help_heavy_imports"] == results["plugins_heavy_imports"] == []


def test_startup_prints_a_table():
    lines = benchmark("startup", "--quick").splitlines()
    assert lines[0].startswith("command")
    assert [line.split()[0] for line in lines[1:]] == ["baseline", "help", "plugins"]
