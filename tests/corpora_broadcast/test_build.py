import build
import pytest


def test_what_is_missing_is_said_before_the_work(monkeypatch):
    monkeypatch.setattr(build, "PROGRAMS", ("python3", "no-such-program"))
    monkeypatch.setattr(build, "LIBRARIES", ("json", "no_such_library"))
    with pytest.raises(SystemExit, match=r"^not installed: no-such-program, no_such_library$"):
        build.check_tools()


def test_options_have_the_shipped_model_as_their_output(monkeypatch):
    monkeypatch.delenv("AUDIOCLASS_DATA", raising=False)
    options = build.parse(["work"])
    assert options.output.name == "broadcast.audioclass"
    assert options.data is None
