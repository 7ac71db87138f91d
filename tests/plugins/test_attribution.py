"""Components that fail while they are used: one line names the component, its distribution and version; never 0."""

import pickle
import sys
import textwrap

import numpy as np
import pytest
import soundfile
from joblib.externals.loky import get_reusable_executor
from trained import RATE, mixture

from audioclass import cli
from audioclass.errors import ComponentError, ComponentRefusal, UsageError
from audioclass.kernels.gaussian import Gaussian
from audioclass.plugins.attribution import Origin, attributed
from audioclass.plugins.builtins import builtin_source
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.sources import PluginSource

CODE = """
import numpy as np
import typer

from audioclass import hookimpl
from audioclass.plugins.templates.{kind} import ExampleName as Working


class Mute(Exception):
    def __str__(self):
        raise KeyError("no text either")

    __repr__ = __str__


class Faulty(Working):
    "Broken on purpose."

    name = "faulty"

    def {method}(self, *arguments):
        {fault}


@hookimpl
def {hook}():
    return [Faulty]
"""
FAULTS = {
    "raises": ("raise RuntimeError('boom')", "RuntimeError: boom"),
    "exits": ("raise SystemExit(0)", "SystemExit: 0"),
    "is mute": ("raise Mute", "Mute"),
}
METHODS = {
    "descriptor": ("frames", "register_descriptors"),
    "pooling": ("pool", "register_poolings"),
    "embedding": ("embed", "register_embeddings"),
    "kernel": ("of", "register_kernels"),
    "trainer": ("fit", "register_trainers"),
    "calibrator": ("probabilities", "register_calibrators"),
    "strategy": ("combine", "register_strategies"),
    "direct_strategy": ("combine", "register_direct_strategies"),
    "link": ("logits", "register_links"),
    "criterion": ("value", "register_criteria"),
    "search": ("search", "register_searches"),
    "smoother": ("smooth", "register_smoothers"),
    "format": ("write", "register_formats"),
    "corpus_reader": ("read", "register_corpus_readers"),
    "command": ("app", "register_commands"),
}
WRONG = {  # what a method gives instead of what it should, and what is said of it
    "descriptor": ("return arguments[0].power[:, 0]", "gave shape (1,) for 1 frames of 1 columns, must be (1, 1)"),
    "pooling": ("return arguments[0].mean(axis=(1, 2))", "windows of 3 columns, must be ("),
    "embedding": ("return np.zeros(5)", "embed gave shape (5,) for 6 columns, must be (6,)"),
    "kernel": ("return arguments[0][:, 0]", "of gave shape ("),
    "trainer": ("return {}", "fit gave dict, must give Machine or FeatureMachine"),
    "calibrator": ("return arguments[0] * 0 + 1.5", "probabilities gave values from 1.5 to 1.5, must be from 0 to 1"),
    "strategy": ("return arguments[1]", "combine gave posteriors of which a row sums to"),
    "direct_strategy": ("return arguments[0]", "combine gave"),
    "link": ("return arguments[0].P[:, :1]", "logits gave shape ("),
    "criterion": ("return np.zeros(2)", "value gave ndarray of shape (2,), must give a number"),
    "search": ("return None", "search gave NoneType, must give Found"),
    "smoother": ("return arguments[0].P", "smooth gave ndarray, must give Posteriors"),
    "corpus_reader": ("return []", "read gave list, must give Corpus"),
    "command": ("return print", "app gave builtin_function_or_method, must give Typer"),
}
CASES = [(kind, method, fault) for kind, (method, _) in METHODS.items() for fault in FAULTS.values()]
CASES += [(kind, METHODS[kind][0], fault) for kind, fault in WRONG.items()]
RECIPES = {
    "descriptor": 'descriptors = [{ name = "faulty" }]\npoolings = [{ name = "statistics" }]',
    "pooling": 'descriptors = [{ name = "mfcc", coefficients = 3, bands = 20 }]\npoolings = [{ name = "faulty" }]',
    "embedding": 'embedding = { name = "faulty" }',
}
HEAD = "sample_rate = 8000\nframe_length = 512\nhop_length = 256\nwindow = 0.5\nwindow_hop = 0.25\n[[parts]]\n"


@pytest.fixture
def faulty(tmp_path):
    """Writes a plugin whose component fails in a method, and gives the path of its module."""

    def write(kind, method, fault):
        code = CODE.format(kind=kind, method=method, fault=fault, hook=METHODS[kind][1])
        path = tmp_path / "faulty.py"
        path.write_text(textwrap.dedent(code), encoding="utf-8")
        return path

    yield write
    sys.modules.pop("faulty", None)
    sys.path[:] = [entry for entry in sys.path if entry != str(tmp_path.resolve())]


def command_for(kind, small, model_file, folder):
    """A command that uses the faulty component of a kind."""
    corpus, cache = str(small / "corpus"), ["--cache", str(small / "cache")]
    train = ["train", corpus, "--recipe", str(small / "small.toml"), "-o", str(folder / "m.audioclass"), *cache]
    if kind in RECIPES:
        (folder / "r.toml").write_text(HEAD + f'group = "g"\n{RECIPES[kind]}\n', encoding="utf-8")
        return ["extract", corpus, "--recipe", str(folder / "r.toml"), "-o", str(folder / "t.csv"), "--no-cache"]
    if kind in ("smoother", "format"):
        soundfile.write(folder / "a.wav", mixture(), RATE)
        option = ["--smooth", "faulty"] if kind == "smoother" else ["-f", "faulty"]
        return ["classify", str(folder / "a.wav"), "-m", str(model_file), *option, "-o", str(folder / "a.tsv")]
    if kind == "command":
        return ["faulty"]
    if kind == "corpus_reader":
        return ["train", corpus, "--reader", "faulty", "-o", str(folder / "m.audioclass")]
    chosen = ["--criterion", "fixed"] if kind not in ("criterion", "search") else []
    option = "--strategy" if kind == "direct_strategy" else f"--{kind}"
    return [*train, *chosen, option, "faulty"]


def messages(capfd):
    """What went to standard error; nothing of it is a traceback."""
    error = capfd.readouterr().err
    assert "Traceback" not in error
    return error


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("kind", "method", "fault"), CASES, ids=[f"{k}-{m}-{f[1][:20]}" for k, m, f in CASES])
def test_what_fails_is_named_and_never_ends_with_0(kind, method, fault, faulty, small, model_file, tmp_path, capfd):
    module = faulty(kind, method, fault[0])
    code = cli.run(["-p", str(module), *command_for(kind, small, model_file, tmp_path)])
    error = messages(capfd)
    assert code == 1, error
    [line, *_] = [line for line in error.splitlines() if "faulty (not installed)" in line]
    assert f"{kind.replace('_', ' ')} 'faulty' of faulty (not installed): " in line
    assert fault[1] in line
    assert not (tmp_path / "m.audioclass").exists()


@pytest.mark.parametrize("chosen", [["--criterion", "fixed"], []], ids=["as it is", "searched"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_kernel_of_no_finite_value_is_named(chosen, value, faulty, small, tmp_path, capfd):
    module = faulty("kernel", "of", f"return np.full_like(arguments[0], np.{value})")
    train = ["train", str(small / "corpus"), "--recipe", str(small / "small.toml"), "--cache", str(small / "cache")]
    output = tmp_path / "m.audioclass"
    assert cli.run(["-p", str(module), *train, "--kernel", "faulty", *chosen, "-o", str(output)]) == 1
    expected = "kernel 'faulty' of faulty (not installed): of gave NaN or infinite values"
    assert expected in messages(capfd)
    assert not output.exists()


def test_a_search_goes_on_where_a_kernel_overflows_at_an_extreme(faulty, small, tmp_path, capfd):
    fault = "tried.append(self.sigma); K = super().of(*arguments); return K / (0.9 < self.sigma < 1.5)"
    module = faulty("kernel", "of", fault)
    module.write_text(f"tried = []\n{module.read_text()}", encoding="utf-8")
    train = ["train", str(small / "corpus"), "--recipe", str(small / "small.toml"), "--cache", str(small / "cache")]
    output = tmp_path / "m.audioclass"
    assert cli.run(["-p", str(module), *train, "--kernel", "faulty", "-o", str(output)]) == 0, messages(capfd)
    tried = sys.modules["faulty"].tried
    assert any(not 0.9 < sigma < 1.5 for sigma in tried)
    assert output.exists()


def test_a_format_that_knows_no_unknown_is_named(faulty, small, model_file, tmp_path, capfd):
    module = faulty("format", "write", "[arguments[0].labels.index(one.label) for one in arguments[0].segments]")
    command = command_for("format", small, model_file, tmp_path)
    assert cli.run(["-p", str(module), *command, "--threshold", "1"]) == 1
    assert "format 'faulty' of faulty (not installed): tuple.index(x): x not in tuple" in messages(capfd)


def test_a_command_that_fails_when_it_is_run_is_named(faulty, capfd):
    module = faulty("command", "app", "app = typer.Typer(); app.command()(lambda: 1 / 0); return app")
    assert cli.run(["-p", str(module), "faulty"]) == 1
    assert messages(capfd) == "command 'faulty' of faulty (not installed): ZeroDivisionError: division by zero\n"


def test_a_command_may_end_as_commands_do(faulty, capfd):
    fault = "app = typer.Typer(); app.command()(lambda: (_ for _ in ()).throw(typer.Exit(3))); return app"
    assert cli.run(["-p", str(faulty("command", "app", fault)), "faulty"]) == 3
    assert messages(capfd) == ""


@pytest.mark.parametrize("fault", ["raise RuntimeError('boom')", "raise SystemExit(0)", "raise Mute"])
def test_a_corpus_is_read_without_a_reader_that_fails_to_look_at_it(fault, faulty, small, recwarn, capfd):
    module = faulty("corpus_reader", "matches", fault)
    assert cli.run(["-p", str(module), "corpus", "stats", str(small / "corpus")]) == 0
    [warning] = [str(one.message) for one in recwarn if "faulty" in str(one.message)]
    assert warning.startswith("corpus reader 'faulty' of faulty (not installed): ")
    assert warning.endswith("; the corpus is read without it")


def test_a_corpus_is_read_without_a_reader_that_cannot_be_made(faulty, small, recwarn, capfd):
    module = faulty("corpus_reader", "__post_init__", "raise RuntimeError('boom')")
    assert cli.run(["-p", str(module), "corpus", "stats", str(small / "corpus")]) == 0
    [warning] = [str(one.message) for one in recwarn if "faulty" in str(one.message)]
    assert warning.endswith("RuntimeError: boom; corpora are read without it")


def test_labels_are_read_without_a_format_that_fails_to_look_at_them(faulty, tmp_path, recwarn, capfd):
    code = "suffixes = ('.txt',)\n    def recognises(self, first_line): raise RuntimeError('boom')\n    def read"
    module = faulty("format", "read", "pass")
    module.write_text(module.read_text().replace("def read", code), encoding="utf-8")
    for name in ("a", "b"):
        soundfile.write(tmp_path / f"{name}.wav", np.zeros(RATE), RATE)
        (tmp_path / f"{name}.txt").write_text(f"0.0\t1.0\t{name}\n", encoding="utf-8")
    assert cli.run(["-p", str(module), "corpus", "stats", str(tmp_path)]) == 0
    assert "format 'faulty' of faulty (not installed): RuntimeError: boom" in str(recwarn.pop().message)


def test_a_recording_that_a_component_fails_on_is_skipped_and_the_rest_is_done(faulty, small, tmp_path, capfd):
    fault = "if np.abs(arguments[0].samples).max() == 0: return np.zeros((arguments[0].n_frames, 1))\n        "
    fault += "if np.abs(arguments[0].samples).max() > 0.9: raise SystemExit(0)\n        "
    fault += "return arguments[0].power[:, :1]"
    module = faulty("descriptor", "frames", fault)
    command = command_for("descriptor", small, None, tmp_path)
    soundfile.write(tmp_path / "loud.wav", np.ones(RATE), RATE)
    files = [str(tmp_path / "loud.wav"), *map(str, sorted((small / "corpus" / "noise").iterdir())[:2])]
    assert cli.run(["-p", str(module), "extract", *files, *command[2:]]) == 1
    error = messages(capfd)
    assert f"{tmp_path / 'loud.wav'}: descriptor 'faulty' of faulty (not installed): SystemExit: 0" in error
    assert (tmp_path / "t.csv").read_text().count("noise-") > 2


def test_a_stream_that_cannot_be_written_is_not_the_fault_of_its_format():
    writes = attributed(type("Writes", (), {"write": lambda self, result, stream: stream.write("a")}), FORMAT)
    with pytest.raises(BrokenPipeError):
        writes().write(None, BrokenStream())


@pytest.fixture
def fresh_processes():
    """No process of an earlier command, which would not know where the module lies."""
    get_reusable_executor().shutdown()
    yield
    get_reusable_executor().shutdown()


def test_attribution_goes_along_to_other_processes(faulty, small, tmp_path, capfd, fresh_processes):
    fault = "if len(arguments[0]) > 1: raise RuntimeError('boom')\n        return np.zeros(6)"
    module = faulty("embedding", "embed", fault)
    command = command_for("embedding", small, None, tmp_path)
    assert cli.run(["-p", str(module), *command, "--jobs", "2"]) == 1
    assert "embedding 'faulty' of faulty (not installed): RuntimeError: boom" in messages(capfd)


FORMAT = Origin("format", "own", "audioclass-own", "1.0")


class BrokenStream:
    def write(self, text):
        raise BrokenPipeError


ORIGIN = Origin("kernel", "own", "audioclass-own", "1.0")


class Own(Gaussian):
    """A kernel of a third party."""

    name = "own"

    def of(self, S):
        np.seterr(all="raise")
        if S.size == 1:
            raise ValueError("one pair is not enough")
        return S[0] if S.size == 2 else super().of(S)


def test_an_instance_is_the_same_after_a_round_trip():
    kernel = attributed(Own, ORIGIN)(sigma=2.0)
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert type(again) is type(kernel)
    assert repr(kernel) == "Own(sigma=2.0)"
    assert np.array_equal(kernel.of(np.ones((2, 2))), Gaussian(2.0).of(np.ones((2, 2))))


def test_a_refusal_stays_a_ValueError():
    with pytest.raises(ValueError, match=r"^kernel 'own' of audioclass-own 1.0: one pair is not enough$") as caught:
        attributed(Own, ORIGIN)().of(np.ones((1, 1)))
    assert isinstance(caught.value, ComponentRefusal)


def test_a_wrong_shape_is_no_refusal():
    expected = r"of gave shape \(2,\) for a statistic of shape \(1, 2\), must be \(1, 2\)"
    with pytest.raises(ComponentError, match=expected) as caught:
        attributed(Own, ORIGIN)().of(np.ones((1, 2)))
    assert not isinstance(caught.value, ValueError)


def test_wrong_parameters_are_wrong_use():
    with pytest.raises(UsageError, match=r"own: sigma=-1.0 must be positive"):
        attributed(Own, ORIGIN)(sigma=-1.0)


def test_the_traceback_is_shown_where_that_is_asked_for(monkeypatch, capsys):
    monkeypatch.setenv("AUDIOCLASS_TRACEBACK", "1")
    with pytest.raises(ComponentRefusal):
        attributed(Own, ORIGIN)().of(np.ones((1, 1)))
    assert "in of\n    raise ValueError(" in capsys.readouterr().err


def test_what_a_component_sets_in_numpy_ends_with_its_call():
    before = np.geterr()
    attributed(Own, ORIGIN)().of(np.ones((2, 2)))
    assert np.geterr() == before


def test_our_own_components_are_made_as_they_are(manager):
    assert type(manager.make("kernel", "gaussian")) is Gaussian


def test_an_interrupt_by_the_user_still_interrupts(faulty, small, model_file, tmp_path, capfd):
    module = faulty("smoother", "smooth", "raise KeyboardInterrupt")
    assert cli.run(["-p", str(module), *command_for("smoother", small, model_file, tmp_path)]) == 130


def test_the_end_of_a_generator_is_a_failure_like_others(faulty, small, model_file, tmp_path, capfd):
    module = faulty("smoother", "smooth", "raise GeneratorExit")
    assert cli.run(["-p", str(module), *command_for("smoother", small, model_file, tmp_path)]) == 1
    assert "(not installed): GeneratorExit\n" in capfd.readouterr().err


STREAMING = """
from dataclasses import replace
from typing import ClassVar

import numpy as np

from audioclass import component, hookimpl


class Stream:
    def push(self, P):
        return 2 * P if P.max() < 0.7 else {}

    def finish(self):
        raise LookupError("lost")


@component
class Streaming:
    "Broken on purpose."

    name: ClassVar[str] = "streaming"

    def smooth(self, posteriors):
        raise LookupError("lost")

    def stream(self, n_labels):
        return Stream()

    def with_transitions(self, counts):
        return Streaming()


@hookimpl
def register_smoothers():
    return [Streaming]
"""


@pytest.fixture
def streaming(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "streaming.py").write_text(STREAMING, encoding="utf-8")
    manager = PluginManager([builtin_source(), PluginSource("audioclass-streaming", "0.1", ("streaming",))])
    yield manager.make("smoother", "streaming")
    sys.modules.pop("streaming", None)


def test_what_a_component_makes_is_attributed_too(streaming):
    who = "smoother 'streaming' of audioclass-streaming 0.1: "
    for smoother in (streaming, streaming.with_transitions(np.ones((2, 2)))):
        with pytest.raises(ComponentError, match=f"{who}LookupError: lost"):
            smoother.smooth(None)
        with pytest.raises(ComponentError, match=f"{who}LookupError: lost"):
            smoother.stream(2).finish()
        with pytest.raises(ComponentError, match=f"{who}stream gave posteriors of which a row sums to 2"):
            smoother.stream(2).push(np.full((3, 2), 0.5))
        with pytest.raises(ComponentError, match=f"{who}stream gave shape \\(\\) for 2 labels, must be \\(rows, 2\\)"):
            smoother.stream(2).push(np.ones((3, 2)))
