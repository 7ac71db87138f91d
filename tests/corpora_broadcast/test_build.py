from pathlib import Path

import build
import judge
import pytest

from audioclass.extraction.recipes import load_recipe
from audioclass.plugins.manager import plugin_manager


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


def test_the_recipe_of_the_models_learns_patches_and_follows_the_pitch():
    recipe = load_recipe(str(Path(build.__file__).with_name("streams.toml")), plugin_manager())
    assert recipe.learns
    assert {"melody", "patches"} <= set(recipe.groups)
    assert recipe.framing.sample_rate == 16000


def test_data_that_is_not_there_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "check_tools", lambda: None)
    work = tmp_path / "work"
    for main, arguments in ((build.main, [str(work)]), (judge.main, [str(work), "blind"])):
        monkeypatch.setattr("sys.argv", ["script", *arguments, "--data", str(tmp_path)])
        with pytest.raises(SystemExit, match=r"segments\.csv: no such file; --data must name the folder that holds"):
            main()
    assert not work.exists()


def test_a_model_that_is_not_there_is_refused_before_the_work(tmp_path, monkeypatch):
    monkeypatch.delenv("AUDIOCLASS_DATA", raising=False)
    monkeypatch.setattr("sys.argv", ["judge.py", str(tmp_path / "work"), "blind", "--model", "nomodel"])
    with pytest.raises(SystemExit, match=r"^nomodel: no such model file"):
        judge.main()
    assert not (tmp_path / "work").exists()
