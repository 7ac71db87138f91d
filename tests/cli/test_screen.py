import errno
import io
import sys

import pytest

from audioclass.cli import screen
from audioclass.errors import UsageError


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def become_terminal(monkeypatch):
    """A call that makes standard error a terminal: pytest puts its own in place between a fixture and its test."""
    for name, value in (("TERM", "xterm"), ("COLUMNS", "100")):
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def become():
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return become


def test_stages_are_drawn_on_a_terminal(become_terminal, capsys):
    terminal = become_terminal()
    with screen.progress() as progress:
        progress("features", 1, 4)
        progress("folds", 2, 8)
        screen.out("a result")
    assert "folds" in terminal.getvalue()
    assert "2 of 8" in terminal.getvalue()
    assert capsys.readouterr().out == "a result\n"


def test_a_name_is_no_markup_and_a_length_that_nobody_knows_is_no_harm(become_terminal):
    terminal = become_terminal()
    with screen.progress() as progress:
        progress("[bold] a.wav", 12.0, None)
        progress("recordings", 1, 3)
        progress("recordings", 3, 3)
    drawn = terminal.getvalue()
    assert "[bold] a.wav" in drawn
    assert "1 of 3" in drawn or "12" in drawn


def test_bars_of_stages_that_never_end_do_not_pile_up(become_terminal):
    terminal = become_terminal()
    with screen.progress() as progress:
        for number in range(20):
            progress(f"take-{number}.wav", 3.0, None)
            progress("recordings", number, 20)
        drawn = len(terminal.getvalue())
        progress("last.wav", 1.0, None)
    frame = terminal.getvalue()[drawn:]
    assert "last.wav" in frame
    assert "recordings" in frame
    assert "take-0.wav" not in frame
    assert "take-18.wav" not in frame


def test_a_place_that_takes_no_file_is_told_before_the_work(tmp_path, monkeypatch):
    def refused(**_):
        raise OSError(errno.EROFS, "Read-only file system")

    screen.check_place(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(screen.tempfile, "TemporaryFile", refused)
    with pytest.raises(UsageError, match=r"out.csv: cannot be written: Read-only file system"):
        screen.check_place(tmp_path / "out.csv")


def test_progress_is_silent_away_from_a_terminal(capsys):
    with screen.progress() as progress:
        progress("folds", 1, 2)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("say", "line"), [(screen.error, "[a]\\nb"), (screen.warn, "warning: [a]\\nb")])
def test_a_message_is_one_line_plain_in_a_pipe_and_coloured_on_a_terminal(say, line, capsys, become_terminal):
    say("[a]\nb")
    assert capsys.readouterr().err == line + "\n"
    terminal = become_terminal()
    say("[a]\nb" + 200 * "x")
    assert line + 200 * "x" in terminal.getvalue()
    assert terminal.getvalue().startswith("\x1b[3")
    assert terminal.getvalue().count("\n") == 1
