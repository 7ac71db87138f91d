import json

import pytest

from audioclass.cli import run
from audioclass.hookspecs import API_VERSION
from audioclass.plugins.manifests import MANIFEST


@pytest.fixture
def result(capsys):
    """Runs a command and gives its exit code, output and messages."""

    def call(*arguments):
        code = run(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_the_list_in_a_pipe_has_a_line_for_each_component(result):
    code, out, err = result("plugins", "--kind", "kernel")
    lines = [line.split("\t") for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert lines[0] == ["name", "kind", "parameters", "what it is", "from"]
    rows = {line[0]: line for line in lines[1:]}
    assert rows["laplacian"][1:3] == ["kernel", "sigma=1.0"]
    assert rows["laplacian"][4] == "audioclass-laplacian 0.1.0"
    assert rows["gaussian"][4].startswith("audioclass ")


def test_the_list_for_programs_states_parameters(result):
    _, out, _ = result("plugins", "--kind", "kernel", "--json")
    assert json.loads(out)["api"] == API_VERSION
    [gaussian] = [entry for entry in json.loads(out)["components"] if entry["name"] == "gaussian"]
    assert gaussian["parameters"][0]["search"] == [0.1, 20.0]


def test_a_kind_without_components_has_only_its_heads(result, monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "")
    assert result("plugins", "--kind", "direct_strategy")[1].count("\n") == 1


def test_show_says_what_a_component_can_be_told(result):
    _, out, _ = result("plugins", "show", "gaussian")
    assert "gaussian: kernel of audioclass" in out
    assert "sigma=1.0: float; positive; searched from 0.1 to 20, log; " in out
    assert json.loads(result("plugins", "show", "gaussian", "--json")[1])[0]["name"] == "gaussian"


def test_check_prints_what_holds(result):
    code, out, _ = result("plugins", "check", "gaussian", "--kind", "kernel", "--set", "sigma=0.5")
    assert code == 0
    assert "kernel gaussian" in out
    assert "✓ K(X, X) is symmetric" in out
    assert "✗" not in out


def test_check_takes_the_name_of_a_distribution(result):
    code, out, _ = result("plugins", "check", "audioclass-chi2", "--json")
    assert code == 0
    assert [component["name"] for component in json.loads(out)] == ["chi2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "gaussian", "--kind", "kernel", "--set", "sigma=-1"], "gaussian: sigma=-1.0 must be positive"),
        (
            ["check", "gaussian", "--kind", "kernel", "--set", "sgma=1"],
            "unknown parameter of gaussian 'sgma'; did you mean 'sigma'?",
        ),
        (["check", "gausian"], "unknown component or distribution 'gausian'; did you mean 'gaussian'?"),
        (["check", "gaussian", "--kind", "x"], "unknown kind 'x'"),
        (["check", "./nothing"], "nothing: neither a module nor a folder with a pyproject.toml"),
        (["new", "x y", "--kind", "kernel"], "name 'x y' must be letters and digits"),
        (["manifest", "nothing"], "nothing: neither a module nor a folder"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_two(result, arguments, message):
    code, out, err = result("plugins", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


@pytest.fixture
def written(result, tmp_path, monkeypatch):
    """A new plugin in a folder of its own, under a name that no other test imports."""

    def write(name, kind="kernel"):
        code, out, err = result("plugins", "new", name, "--kind", kind, "--directory", str(tmp_path))
        assert code == 0
        assert out.strip() == str(tmp_path / name)
        assert "pip install" in err
        monkeypatch.syspath_prepend(str(tmp_path / name))
        return tmp_path / name

    return write


def test_check_of_a_folder_prints_what_does_not_hold(result, written):
    folder = written("checked-one")
    module = folder / "audioclass_checked_one" / "__init__.py"
    module.write_text(module.read_text(encoding="utf-8").replace("1 / (1 +", "-1 / (1 +"), encoding="utf-8")
    code, out, _ = result("plugins", "check", str(folder))
    assert code == 1
    assert "✗ Where it states to be a Mercer kernel" in out
    assert "smallest eigenvalue -" in out


def test_check_of_a_module_needs_no_distribution(result, written):
    module = written("checked-two") / "audioclass_checked_two" / "__init__.py"
    code, out, _ = result("plugins", "check", str(module.rename(module.with_name("alone.py"))))
    assert code == 0
    assert "kernel checked_two" in out


def test_check_of_a_folder_that_does_not_load_says_why(result, written):
    folder = written("checked-three")
    (folder / "audioclass_checked_three" / "__init__.py").write_text("raise RuntimeError('boom')")
    code, out, err = result("plugins", "check", str(folder))
    assert (code, out) == (1, "")
    assert err.endswith("checked-three: import: RuntimeError: boom\n")


def test_check_notices_a_manifest_that_is_out_of_date(result, written):
    folder = written("checked-four")
    manifest = folder / "audioclass_checked_four" / MANIFEST
    manifest.write_text(manifest.read_text().replace('"checked_four"', '"other"', 1))
    code, _, err = result("plugins", "check", str(folder))
    assert code == 1
    assert "`audioclass plugins manifest` writes it anew" in err


def test_manifest_is_written_anew(result, written):
    folder = written("checked-five")
    manifest = folder / "audioclass_checked_five" / MANIFEST
    good = manifest.read_text()
    for edit in (lambda: manifest.write_text("schema = "), manifest.unlink):
        edit()
        assert result("plugins", "manifest", str(folder))[:2] == (0, f"{manifest}\n")
        assert manifest.read_text() == good


@pytest.mark.parametrize(
    ("name", "old", "new", "difference"),
    [
        (
            "checked-six",
            "sigma",
            "width",
            "type of parameter 'sigma' is 'float' in the manifest and missing in the class",
        ),
        ("checked-seven", "(0.1, 20.0)", "(0.1, 30.0)", "search of parameter 'sigma' is (0.1, 20.0) in the manifest"),
        ("checked-eight", "Similarity that", "A likeness that", "summary is 'Similarity that"),
    ],
)
def test_check_notices_a_manifest_that_differs_in_anything(result, written, name, old, new, difference):
    module = written(name) / f"audioclass_{name.replace('-', '_')}" / "__init__.py"
    module.write_text(module.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    code, out, err = result("plugins", "check", str(module.parents[1]))
    assert (code, out) == (1, "")
    assert difference in err
    assert err.endswith("; `audioclass plugins manifest` writes it anew\n")


def test_check_of_a_folder_for_another_version_says_so(result, written):
    folder = written("checked-nine")
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().replace("audioclass>=0.1,<0.2", "audioclass>=9"))
    code, _, err = result("plugins", "check", str(folder))
    assert code == 1
    assert "requirements: needs audioclass>=9, this is audioclass 0.1.0" in err


def test_kinds_are_listed_in_the_help(result):
    assert "kernel, trainer, calibrator" in " ".join(result("plugins", "new", "--help")[1].split())


def test_doctor_finds_nothing_where_all_is_well(result):
    code, out, err = result("plugins", "doctor")
    assert code == 0
    assert "audioclass-chi2\t0.1.0\t1\t" in out
    assert "importing audioclass-chi2" in err


def test_quarantine_is_mentioned_beside_the_list(result, monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "audioclass-nothing")
    code, out, err = result("plugins")
    assert code == 0
    assert "gaussian" in out
    assert err == "in quarantine: audioclass-nothing; `audioclass plugins doctor` says why\n"
    assert result("plugins", "--strict")[0] == 1
