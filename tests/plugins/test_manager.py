import sys
import textwrap
from dataclasses import replace
from importlib import import_module
from types import ModuleType

import pytest

from audioclass.errors import PluginError, UsageError
from audioclass.hookspecs import API_VERSION
from audioclass.kernels.gaussian import Gaussian
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.manager import PluginManager, plugin_manager
from audioclass.plugins.sources import PluginSource, canonical

KERNEL = """
from typing import ClassVar
from audioclass import component, hookimpl

@component
class Own:
    "A kernel of its own."
    name: ClassVar[str] = "own"
    statistic: ClassVar[str] = "dot"

    def of(self, S):
        return 2 * S

@hookimpl
def register_kernels():
    return [Own]
"""


@pytest.fixture
def third_party(tmp_path, monkeypatch):
    """Writes a module and gives its source: third_party("module", code)."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def make(module, code=KERNEL, manifest=None):
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(code), encoding="utf-8")
        made.append(module)
        return PluginSource(f"audioclass-{module}", "1.0", (module,), manifest)

    yield make
    for module in made:
        sys.modules.pop(module, None)


def manager_with(*sources):
    return PluginManager([builtin_source(), *sources])


def manifest_of(source):
    from audioclass.plugins.manifests import write_manifest

    return write_manifest(PluginManager([source]).entries())


def test_a_builtin_is_found_and_made(manager):
    assert manager.make("kernel", "gaussian", {"sigma": 2}) == Gaussian(2.0)


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("kernel", "gausian", "unknown kernel 'gausian'; did you mean 'gaussian'"),
        ("kernl", "gaussian", "unknown kind 'kernl'; did you mean 'kernel'"),
        ("corpus_reader", "nothing", "unknown corpus reader 'nothing'; known:"),
    ],
)
def test_unknown_names_get_a_suggestion(manager, kind, name, message):
    with pytest.raises(UsageError, match=message):
        manager.load(kind, name)


def test_a_third_party_comes_in_by_the_same_door(third_party):
    manager = manager_with(third_party("own"))
    assert manager.quarantine == []
    entry = manager.find("kernel", "own")
    assert (entry.distribution, entry.version, entry.summary) == ("audioclass-own", "1.0", "A kernel of its own.")
    assert manager.load("kernel", "own").name == "own"


def test_what_has_a_manifest_is_imported_when_it_is_used(third_party):
    source = third_party("lazy")
    lazy = PluginSource(source.distribution, "1.0", source.modules, manifest_of(source))
    sys.modules.pop("lazy")
    manager = manager_with(lazy)
    assert "own" in [entry.name for entry in manager.entries("kernel")]
    assert "lazy" not in sys.modules
    manager.load("kernel", "own")
    assert "lazy" in sys.modules


BROKEN = {
    "raises": ("raise RuntimeError('boom')", "import", "RuntimeError: boom"),
    "exits": ("import sys; sys.exit(3)", "import", "SystemExit: 3"),
    "misses": ("import no_such_thing", "import", "ModuleNotFoundError: No module named 'no_such_thing'"),
    "syntax": ("def broken(:", "import", "SyntaxError"),
    "misspelt": (
        "from audioclass import hookimpl\n@hookimpl\ndef register_kernel():\n    return []",
        "registration", "unknown hook 'register_kernel'; did you mean 'register_kernels'?",
    ),
    "unmarked": ("def register_kernels():\n    return []", "registration", "no function in it is marked with"),
    "raises_late": (
        "from audioclass import hookimpl\n@hookimpl\ndef register_kernels():\n    raise ValueError('late')",
        "registration", "ValueError: late",
    ),
    "arguments": (
        "from audioclass import hookimpl\n@hookimpl\ndef register_kernels(more):\n    return []",
        "registration", "Argument(s) {'more'} are declared in the hookimpl",
    ),
    "no_list": (
        "from audioclass import hookimpl\n@hookimpl\ndef register_kernels():\n    return 'gaussian'",
        "registration", "must return a list of classes",
    ),
    "no_kernel": (KERNEL.replace("def of(self, S)", "def off(self, S)"), "validation", "kernel 'own': Own has no 'of'"),
    "taken": (
        KERNEL.replace('"own"', '"gaussian"'),
        "validation", "two plugins offer a kernel named 'gaussian': audioclass.kernels.gaussian and taken",
    ),
    "twice": (
        KERNEL.replace("return [Own]", "return [Own, Own]"),
        "validation", "two plugins offer a kernel named 'own': twice and twice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("module", BROKEN)
def test_what_fails_is_put_in_quarantine_and_nothing_else_is_touched(third_party, module):
    code, phase, reason = BROKEN[module]
    manager = manager_with(third_party(module, code), third_party("good", KERNEL.replace('"own"', '"good"')))
    [quarantined] = manager.quarantine
    assert (quarantined.distribution, quarantined.version, quarantined.phase) == (f"audioclass-{module}", "1.0", phase)
    assert reason in quarantined.reason
    assert f"pip uninstall audioclass-{module}" in quarantined.remedy
    assert "Error" in quarantined.traceback or "LoadFailure" in quarantined.traceback or "Exit" in quarantined.traceback
    assert manager.make("kernel", "good").name == "good"
    assert manager.make("kernel", "gaussian") == Gaussian()


@pytest.mark.parametrize("module", ["raises", "misspelt", "no_kernel"])
def test_what_fails_behind_a_manifest_is_put_in_quarantine_when_used(third_party, module):
    code, phase, reason = BROKEN[module]
    text = manifest_of(third_party("own")).replace('"own"', f'"{module}"')
    manager = manager_with(third_party(module, code, text))
    assert manager.quarantine == []
    with pytest.raises(PluginError, match=f"kernel '{module}' of audioclass-{module} 1.0 does not load: "):
        manager.load("kernel", module)
    assert [(q.phase, reason in q.reason) for q in manager.quarantine] == [(phase, True)]
    assert module not in [entry.name for entry in manager.entries()]


def test_a_manifest_must_say_what_the_module_offers(third_party):
    source = third_party("own")
    text = manifest_of(source).replace('name = "own"', 'name = "other"')
    manager = manager_with(PluginSource("audioclass-own", "1.0", ("own",), text))
    with pytest.raises(PluginError, match="does not load"):
        manager.load("kernel", "other")
    assert "kernel other is in the manifest but not offered" in manager.quarantine[0].reason


def test_a_manifest_that_cannot_be_read_is_a_reason(third_party):
    manager = manager_with(third_party("own", manifest="schema = "))
    assert [(q.phase, q.distribution) for q in manager.quarantine] == [("manifest", "audioclass-own")]


def test_of_two_third_parties_with_one_name_neither_is_admitted(third_party):
    manager = manager_with(third_party("first"), third_party("second"))
    assert [q.distribution for q in manager.quarantine] == ["audioclass-first", "audioclass-second"]
    assert all("first and second" in q.reason for q in manager.quarantine)
    with pytest.raises(UsageError, match="unknown kernel 'own'"):
        manager.find("kernel", "own")


def test_both_sorts_of_strategy_share_their_names():
    modules = ("audioclass.plugins.templates.strategy", "audioclass.plugins.templates.direct_strategy")
    manager = PluginManager([PluginSource(f"d{i}", "1.0", (module,)) for i, module in enumerate(modules)])
    assert len(manager.quarantine) == 2


def test_a_builtin_that_fails_raises():
    with pytest.raises(PluginError, match="ModuleNotFoundError"):
        PluginManager([PluginSource("audioclass", "0", ("audioclass.kernels.nothing",))])


def test_what_a_plugin_prints_is_no_result(third_party, capsys):
    manager_with(third_party("chatty", "print('hello')\n" + KERNEL))
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hello\n")


def test_strict_mode_makes_quarantine_a_failure(third_party):
    manager = manager_with(third_party("raises", "raise RuntimeError('boom')"))
    with pytest.raises(PluginError, match="audioclass-raises 1.0: import: RuntimeError: boom"):
        manager.raise_quarantine()


def test_strict_mode_can_be_asked_for_by_the_environment(monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "audioclass-nothing")
    monkeypatch.setenv("AUDIOCLASS_STRICT", "1")
    with pytest.raises(PluginError, match="discovery: asked for but not installed"):
        plugin_manager()


def distributions(manager):
    return {entry.distribution for entry in manager.entries()}


def test_the_environment_restricts_what_is_admitted(monkeypatch):
    assert distributions(plugin_manager()) >= {"audioclass", "audioclass-chi2", "audioclass-laplacian"}
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "Audioclass_Chi2")
    assert distributions(plugin_manager()) == {"audioclass", "audioclass-chi2"}
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "")
    assert distributions(plugin_manager()) == {"audioclass"}


def test_a_name_that_is_not_installed_gets_a_suggestion(monkeypatch):
    monkeypatch.setenv("AUDIOCLASS_PLUGINS", "audioclass-chi3")
    [quarantined] = plugin_manager().quarantine
    assert "did you mean 'audioclass-chi2'?" in quarantined.reason


def test_names_of_distributions_are_compared_as_pip_does():
    assert canonical("Audioclass_My.Kernel") == "audioclass-my-kernel"


def test_one_manager_serves_a_process(manager):
    assert plugin_manager() is plugin_manager()
    assert plugin_manager(installed=False) is not manager


# --- modules that are not installed


def test_a_module_is_registered_and_taken_out_again(third_party, manager):
    third_party("passing")
    module = import_module("passing")
    manager.register(module)
    assert manager.make("kernel", "own").name == "own"
    with pytest.raises(PluginError, match="passing is registered already"):
        manager.register(module)
    manager.unregister(module)
    with pytest.raises(UsageError, match="unknown kernel 'own'"):
        manager.find("kernel", "own")
    manager.register("passing")
    assert manager.find("kernel", "own").version == "not installed"


def test_a_module_made_in_a_test_need_not_be_importable(manager):
    module = ModuleType("of_a_test")
    exec(KERNEL, vars(module))
    manager.register(module)
    assert manager.load("kernel", "own") is module.Own


def test_a_file_is_registered_by_its_path(manager, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "by_its_path.py").write_text(KERNEL)
    source = manager.register(str(tmp_path / "by_its_path.py"))
    assert manager.load("kernel", "own").__module__ == "by_its_path"
    manager.unregister(source)


def test_a_module_that_fails_is_an_error_and_leaves_no_trace(third_party, manager):
    third_party("failing", "raise RuntimeError('boom')")
    with pytest.raises(PluginError, match="failing: import: RuntimeError: boom"):
        manager.register("failing")
    assert manager.quarantine == []
    with pytest.raises(PluginError, match="failing is not registered"):
        manager.unregister(ModuleType("failing"))


def test_calls_of_hooks_are_traced(third_party, capsys):
    PluginManager([third_party("traced")], trace=True)
    assert capsys.readouterr().err == "register_kernels of traced: Own\n"


def test_a_hook_that_raises_is_traced(third_party, capsys):
    PluginManager([third_party("traced_late", BROKEN["raises_late"][0])], trace=True)
    assert capsys.readouterr().err == "register_kernels of traced_late: ValueError: late\n"


# --- versions


@pytest.mark.parametrize("with_manifest", [True, False])
def test_a_plugin_for_another_version_of_audioclass_is_put_in_quarantine(third_party, with_manifest):
    source = third_party("newer")
    manifest = manifest_of(source) if with_manifest else None
    manager = manager_with(replace(source, manifest=manifest, requires=("audioclass>=9",)))
    manager.load_all()
    [quarantined] = manager.quarantine
    assert (quarantined.phase, quarantined.reason) == ("requirements", "needs audioclass>=9, this is audioclass 0.1.0")
    assert quarantined.remedy == "pip install 'audioclass>=9', or pip uninstall audioclass-newer"


@pytest.mark.parametrize("requirement", ["audioclass", "audioclass>=0.1,<0.2", "audioclass>=9; extra == 'future'"])
def test_a_plugin_for_this_version_is_used(third_party, requirement):
    manager = manager_with(replace(third_party("fitting"), requires=(requirement,)))
    assert manager.quarantine == []


def test_a_manifest_for_a_newer_api_is_refused(third_party):
    manifest = manifest_of(third_party("ahead")).replace(f"api = {API_VERSION}", "api = 99")
    [quarantined] = manager_with(third_party("ahead", manifest=manifest)).quarantine
    assert "made for API 99, this audioclass has API 1; upgrade audioclass" in quarantined.reason


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ('"A kernel of its own."', '"Another."', "summary is 'A kernel of its own.' in the manifest and 'Another.'"),
        (
            '"dot"\n',
            '"dot"\n    a: int = 1\n',
            "type of parameter 'a' is missing in the manifest and 'int' in the class",
        ),
    ],
)
def test_a_manifest_that_differs_from_its_class_is_noticed(third_party, old, new, difference):
    manifest = manifest_of(third_party("before"))
    sys.modules.pop("before")
    manager = manager_with(third_party("before", KERNEL.replace(old, new), manifest))
    assert manager.outdated(manager.entries()) == {}
    manager.load_all()
    [told] = manager.outdated(manager.entries()).values()
    assert told.startswith(difference)
    assert manager.quarantine == []


def test_a_command_may_not_have_the_name_of_one_of_ours(third_party):
    code = """
    from typing import ClassVar
    from audioclass import component, hookimpl

    @component
    class Train:
        "Something else."
        name: ClassVar[str] = "train"

        def app(self):
            return None

    @hookimpl
    def register_commands():
        return [Train]
    """
    [quarantined] = manager_with(third_party("taking", code)).quarantine
    assert quarantined.reason == "the command 'train' of taking has the name of one of ours"
