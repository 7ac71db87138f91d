"""What the guide to archives tells a reader to type is run here, in its order, and what it shows is compared."""

import io
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import soundfile
from environments import REPOSITORY
from test_readme import README, split_numbers

from audioclass.cli import run
from audioclass.index.schema import TABLES

GUIDE = (REPOSITORY / "docs" / "archive.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
# Stretches of the demonstration, in seconds, that the guide takes for recordings of two evenings.
RECORDINGS = {
    "april/20190403_191730.wav": (0, 22),
    "april/20190403_235950.wav": (29, 51),
    "may/20190512_053000.wav": (13, 30),
    "tapes/tape 12-05-1998 7h30.wav": (42, 52),
    "clip.wav": (5, 10),
}
SQL_TYPES = {
    "text": "VARCHAR",
    "integer": "BIGINT",
    "boolean": "BOOLEAN",
    "number": "DOUBLE",
    "single": "FLOAT",
    "bytes": "BLOB",
    "texts": "VARCHAR[]",
    "singles": "FLOAT[]",
    "timestamp": "TIMESTAMP WITH TIME ZONE",
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def write_recordings(folder: Path) -> None:
    samples, rate = soundfile.read(REPOSITORY / "corpora" / "demo" / "demo.flac")
    for name, (start, end) in RECORDINGS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        soundfile.write(folder / name, samples[start * rate : end * rate], rate)


def outputs_of(block: str, monkeypatch) -> list[tuple[str, str, str]]:
    """Each command of a block with what the block shows of it, and what it prints on a terminal."""
    parts = [part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    return [(command, shown, printed_by(command, monkeypatch)) for command, _, shown in parts]


def printed_by(command: str, monkeypatch) -> str:
    program, *arguments = shlex.split(command)
    if program != "audioclass":
        return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout
    messages = io.StringIO()
    with monkeypatch.context() as patched, redirect_stderr(messages):
        patched.setattr(sys, "stdout", Terminal())
        code = run(arguments)
        text = sys.stdout.getvalue() + messages.getvalue()
    assert code == 0, text
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).replace(f"{Path.cwd()}/", "").splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


def comparable(text: str) -> list[list[str]]:
    """Without what differs from run to run, how long it took, and from processor to processor.

    That is which label comes second where the first leaves it less than 0.005.
    """
    text = re.sub(r"in [\d.]+ s(, \d+ times faster than real time)?", "in some s", text)
    text = re.sub(r"\b(1\.000|0\.99[5-9])  +[a-z]+", r"\1  second", text)
    return [re.split(r" {2,}", line.rstrip()) for line in text.splitlines()]


def test_the_guide_works_as_printed(tmp_path, monkeypatch):
    for package in ("deltalake", "duckdb", "pandas", "polars", "usearch"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    for name, value in {"AUDIOCLASS_CACHE": str(tmp_path / "cache"), "COLUMNS": "120", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    write_recordings(tmp_path)
    namespace: dict[str, object] = {}
    for language, block in BLOCK.findall(GUIDE):
        if language == "csv":
            (tmp_path / "sites.csv").write_text(block, encoding="utf-8")
        elif language == "python":
            exec(block, namespace)
        elif language == "console":
            for command, shown, printed in outputs_of(block, monkeypatch):
                words, numbers = zip(*(split_numbers(comparable(text)) for text in (shown, printed)), strict=True)
                assert words[0] == words[1], command
                assert numbers[0] == pytest.approx(numbers[1], rel=0.1, abs=0.02), command  # processors round otherwise
        else:
            assert language == "sh", language
    assert all((tmp_path / name).exists() for name in ("archive.html", "doubtful.html", "found/clips.csv"))


def test_the_guide_installs_what_there_is():
    [line] = [block for language, block in BLOCK.findall(GUIDE) if language == "sh"]
    [extra] = re.findall(r"^pip install 'audioclass\[(\w+)\]'$", line.strip())
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert extra in project["optional-dependencies"]


@pytest.mark.parametrize("name", TABLES)
def test_the_guide_has_the_columns_as_they_are(name):
    section = GUIDE.partition(f"\n### `{name}`\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| `(\w+)` \| `(.+?)` \| (.+) \|$", section, flags=re.MULTILINE)
    assert rows == [(column, SQL_TYPES[it.type], it.meaning) for column, it in TABLES[name].columns.items()]


def test_links_of_the_guide_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", GUIDE):
        assert target.startswith("https://") or (REPOSITORY / "docs" / target).exists(), target


def test_the_readme_shows_what_the_guide_shows():
    [block] = re.findall(r"^```console\n\$ (audioclass find .*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    assert block in GUIDE
    assert "(docs/archive.md)" in README
