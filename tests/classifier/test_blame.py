"""A model that computes otherwise is refused, and the component that changed is named; what it says can be read."""

from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest
from runs import BUILTINS
from trained import write_corpus, write_recipe

from audioclass.classifier.blame import changed_components, culprit
from audioclass.classifier.golden import TOLERANCE, Drift
from audioclass.classifier.loading import load_model
from audioclass.classifier.saving import save_model
from audioclass.cli import run as command
from audioclass.engine import models
from audioclass.engine.calibrating import calibrate
from audioclass.engine.evaluating import evaluate_model
from audioclass.engine.training import train
from audioclass.engine.updating import update
from audioclass.errors import AudioclassError, ModelError
from audioclass.plugins.manager import plugin_manager
from audioclass.run import Run
from audioclass.training.config import TrainingConfig

KERNEL = """
from typing import ClassVar
import numpy as np
from audioclass import hookimpl
from audioclass.parameters import component

@component
class Cauchy:
    "Fades slowly."

    name: ClassVar[str] = "cauchy"
    statistic: ClassVar[str] = "mean_squared_distance"
    is_mercer: ClassVar[bool] = True

    def of(self, S):
        return 1 / (1 + FACTOR * S)

    def gradients(self, S, K):
        return {}

@hookimpl
def register_kernels():
    return [Cauchy]
"""
DESCRIPTOR = """
from typing import ClassVar
import numpy as np
from audioclass import hookimpl
from audioclass.parameters import component

@component
class Loudest:
    "The largest sample of a frame."

    name: ClassVar[str] = "loudest"

    def columns(self, framing):
        return ["loudest"]

    def frames(self, spectra):
        return FACTOR * np.abs(spectra.frames).max(axis=1, keepdims=True)

@hookimpl
def register_descriptors():
    return [Loudest]
"""
TRAINER = """
from typing import ClassVar
from audioclass import hookimpl
from audioclass.parameters import component
from audioclass.trainers.svm import SVM

@component
class Foreign:
    "A machine of somebody else, over a Gram matrix."

    name: ClassVar[str] = "foreign"
    wants: ClassVar[str] = "gram"

    def fit(self, task):
        return SVM().fit(task)

@hookimpl
def register_trainers():
    return [Foreign]
"""


def manager_with(code: str, factor: float = 1.0, version: str = "1.0"):
    """The built-ins and one module of somebody else, in some version."""
    manager = plugin_manager(installed=False)
    module = ModuleType("somebodys")
    exec(code.replace("FACTOR", str(factor)), vars(module))
    manager.register(module)
    manager._entries = {
        key: replace(entry, version=version) if entry.distribution == "somebodys" else entry
        for key, entry in manager._entries.items()
    }
    return manager


def trained_with(code: str, folder, **options):
    """A model file that was trained with the module."""
    manager = manager_with(code)
    run = Run(manager, cache=folder / "cache")
    recipe = write_recipe(folder)
    if code is DESCRIPTOR:
        text = (folder / "small.toml").read_text()
        (folder / "small.toml").write_text(
            text.replace('{ name = "level" }', '{ name = "level" }, { name = "loudest" }')
        )
    stated = {"recipe": recipe, "criterion": "fixed", **options}
    config = TrainingConfig.of(stated, run)
    model = train(write_corpus(folder / "corpus", 4), config=config, name="small", run=run).model
    save_model(model, folder / "m.audioclass")
    return folder / "m.audioclass"


CASES = {
    "kernel": (KERNEL, {"kernel": "cauchy"}, "kernel 'cauchy'"),
    "descriptor": (DESCRIPTOR, {}, "descriptor 'loudest'"),
}


@pytest.fixture(scope="module", params=CASES)
def case(request, tmp_path_factory):
    code, options, named = CASES[request.param]
    return code, trained_with(code, tmp_path_factory.mktemp(request.param), **options), named


def test_the_same_component_computes_the_same(case):
    code, path, _ = case
    assert load_model(path, manager_with(code)).drift().posteriors == 0
    assert load_model(path, manager_with(code, version="1.1")).drift().posteriors == 0


def test_a_component_of_another_version_is_named(case):
    code, path, named = case
    match = f"the {named} is of somebodys 2.0, was of somebodys 1.0 when the model was made$"
    with pytest.raises(ModelError, match=match):
        load_model(path, manager_with(code, factor=1.05, version="2.0"))


def test_a_component_that_changed_at_the_same_version_is_named(case):
    code, path, named = case
    with pytest.raises(
        ModelError, match=f"the {named} of somebodys 1.0 computes otherwise than when the model was made"
    ):
        load_model(path, manager_with(code, factor=1.05))


def test_what_passed_for_rounding_is_refused(case):
    """A change that moves posteriors by less than a hundredth."""
    code, path, _ = case
    with pytest.raises(ModelError, match="is rounding: the "):
        load_model(path, manager_with(code, factor=1.005))
    drift = load_model(path, manager_with(code, factor=1.005), verify=False).drift()
    assert drift.posteriors < 0.01


def test_a_model_is_read_without_its_plugin(case, capsys):
    _, path, named = case
    assert command(["model", "verify", str(path)]) == 1
    assert f"needs the {named} of somebodys" in capsys.readouterr().err
    for words in (["show"], ["show", "--json"], ["card"]):
        assert command(["model", words[0], str(path), *words[1:]]) == 0
        captured = capsys.readouterr()
        assert "small" in captured.out
        assert captured.err == f"{path}: lacks the {named} of somebodys 1.0; pip install somebodys\n"


def test_a_module_that_was_never_installed_is_no_package_to_install():
    """Whoever took its name for a package could install anything."""
    piece = {"kind": "kernel", "name": "cauchy", "distribution": "mine", "version": "not installed"}
    about = {"pieces": [piece]}
    [line] = changed_components(about, BUILTINS)
    assert line == "lacks the kernel 'cauchy' of mine (not installed); use its module with `audioclass -p`"
    changed = culprit(about, Drift(0.0, 0.1), manager_with(KERNEL, version="2.0"))
    assert changed == "the kernel 'cauchy' is of somebodys 2.0, was of mine (not installed) when the model was made"
    piece["distribution"] = "somebodys"
    assert culprit(about, Drift(0.0, 0.1), manager_with(KERNEL, version="not installed")) == (
        "the kernel 'cauchy' of somebodys (not installed) computes otherwise than when the model was made"
    )


def test_a_model_that_drifted_is_read(case, capsys, monkeypatch):
    code, path, named = case
    drifted = manager_with(code, factor=1.05, version="2.0")
    monkeypatch.setattr(models, "plugin_manager", lambda: drifted)
    assert command(["model", "show", str(path)]) == 0
    assert f"the {named} is of somebodys 2.0, was of somebodys 1.0" in capsys.readouterr().err
    assert command(["model", "card", str(path)]) == 0
    capsys.readouterr()
    assert command(["model", "verify", str(path)]) == 1
    captured = capsys.readouterr()
    assert "is rounding" in captured.out
    assert f"computes otherwise than when it was made: the {named} is of somebodys 2.0" in captured.err


def test_another_version_that_computes_the_same_is_mentioned(case, capsys, monkeypatch):
    code, path, named = case
    same = manager_with(code, version="1.1")
    monkeypatch.setattr(models, "plugin_manager", lambda: same)
    assert command(["model", "verify", str(path)]) == 0
    assert f"the {named} is of somebodys 1.1, was of somebodys 1.0" in capsys.readouterr().err


@pytest.fixture(scope="module")
def orphan(tmp_path_factory):
    """A model file whose Gram trainer is gone, with the model as it was."""
    path = trained_with(TRAINER, tmp_path_factory.mktemp("orphan"), trainer="foreign")
    return path, load_model(path, manager_with(TRAINER))


def test_a_machine_is_scored_without_its_trainer(orphan, tmp_path):
    path, model = orphan
    alone, run = load_model(path, BUILTINS), Run(BUILTINS, cache=tmp_path / "cache")
    corpus = write_corpus(tmp_path / "new", 3, first=10)
    there, here = (evaluate_model(one, corpus, run=run).P for one in (model, alone))
    assert np.array_equal(there, here)
    calibrated = calibrate(path, corpus, run=run).model
    save_model(calibrated, tmp_path / "calibrated.audioclass")
    assert load_model(tmp_path / "calibrated.audioclass", manager_with(TRAINER)).drift().is_rounding


def test_the_commands_go_without_the_trainer(orphan, tmp_path, capsys):
    path, _ = orphan
    corpus = write_corpus(tmp_path / "new", 3, first=10)
    recording = corpus / "tone" / "tone-10.wav"
    assert command(["classify", str(recording), "-m", str(path), "-f", "csv", "-o", "-"]) == 0
    assert "tone" in capsys.readouterr().out
    assert command(["evaluate", str(path), str(corpus), "--cache", str(tmp_path / "cache")]) == 0
    assert command(["tree", "show", str(path)]) == 0
    capsys.readouterr()


def test_an_update_needs_the_trainer_and_says_so(orphan, tmp_path):
    path, _ = orphan
    with pytest.raises(AudioclassError, match="foreign"):
        update(path, write_corpus(tmp_path / "new", 2, first=10), run=Run(BUILTINS, cache=tmp_path / "cache"))


def test_the_bound_is_what_single_precision_does(trained):
    model = trained.model
    single = model.posteriors_of(model.golden.X)
    double = replace(model.classifier, machines=model.classifier.machines.astype(np.float64))
    assert np.abs(double.posteriors(model.preprocessing.apply(model.golden.X)) - single).max() < TOLERANCE / 5
