import subprocess
import sys

import pytest
from environments import REPOSITORY


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_ruff_has_nothing_to_say(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "--no-cache", "."], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
