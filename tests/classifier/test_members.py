"""Models of machines with members, which vote or give probabilities: trained, saved, loaded, added to, and refused."""

import io
import json
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest
from archives import members_of, npy, sealed, zipped
from runs import BUILTINS
from trained import write_corpus

from audioclass import component, hookimpl, parameter
from audioclass.classifier.loading import read_summary
from audioclass.classifier.saving import manifest_of, save_model
from audioclass.criteria.problem import SelectionProblem
from audioclass.criteria.spans import multipliers
from audioclass.engine.models import load_model
from audioclass.engine.training import train
from audioclass.engine.updating import update
from audioclass.errors import ModelError
from audioclass.kernels.linear import Linear
from audioclass.kernels.statistics import gram
from audioclass.plugins.manager import plugin_manager
from audioclass.plugins.results import flaw_of_result
from audioclass.problems import Dichotomy, Machine, Members
from audioclass.run import Run, SerialExecutor, silent
from audioclass.testing import check_trainer
from audioclass.testing.blobs import binary_task
from audioclass.trainers.svm import SVM
from audioclass.training.assemble import _label_machines
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.held_out import ClosedForm
from audioclass.training.problem import DichotomyProblem


@component
class Thirds:
    """Three support vector machines, each without a third of the examples, combined by a link."""

    name: ClassVar[str] = "thirds"
    wants: ClassVar[str] = "gram"

    link: str = parameter("vote", choices=("score", "vote", "probability"), help="what is averaged")

    def fit(self, task):
        each = [SVM().fit(self._without(task, third)) for third in range(3)]
        coefficients = np.zeros((len(task.y), 3))
        for column, machine in enumerate(each):
            coefficients[machine.support, column] = machine.coefficients
        support = np.flatnonzero(coefficients.any(axis=1))
        members = Members(self.link, np.array([1.0, 1.5, 2.0]), np.array([0.0, 0.1, -0.1]))
        return Machine(support, coefficients[support], np.array([machine.intercept for machine in each]), members)

    def _without(self, task, third):
        """The task with weight 0 for a third of its sides, where enough is left of both."""
        place = np.where(task.y > 0, np.cumsum(task.y > 0), np.cumsum(task.y < 0))
        weights = np.where((place % 3 == third) & (place > 3), 0.0, task.weights)
        has_both = all((weights[task.y == side] > 0).any() for side in (-1, 1))
        return type(task)(task.y, task.C, weights if has_both else task.weights, task.rng, K=task.K)


@hookimpl
def register_trainers():
    return [Thirds]


def with_thirds():
    manager, module = plugin_manager(installed=False), ModuleType("thirds")
    module.register_trainers = register_trainers
    manager.register(module)
    return Run(manager, SerialExecutor(), None, silent, 0)


def train_thirds(small, link, **options):
    own = with_thirds()
    stated = {
        "recipe": str(small / "small.toml"),
        "criterion": "fixed",
        "strategy": "one_vs_one",
        "trainer": f"thirds:link={link}",
    }
    return train(small / "corpus", config=TrainingConfig.of(stated | options, own), name="thirds", run=own)


@pytest.fixture(scope="module", params=["score", "vote", "probability"])
def thirds(small, request):
    return train_thirds(small, request.param)


@pytest.fixture(scope="module")
def thirds_file(thirds, tmp_path_factory):
    path = tmp_path_factory.mktemp("thirds") / "thirds.audioclass"
    save_model(thirds.model, path)
    return path


@pytest.mark.parametrize("link", ["score", "vote", "probability"])
def test_trainers_may_give_members(link):
    check_trainer(Thirds(link))


def test_it_comes_back_to_the_bit_without_its_trainer(thirds, thirds_file, tmp_path):
    back = load_model(thirds_file, registry=BUILTINS)
    X = thirds.dataset.X
    assert np.array_equal(back.posteriors_of(X), thirds.model.posteriors_of(X))
    assert (back.posteriors_of(X).argmax(axis=1) == thirds.dataset.y).mean() > 0.9
    assert manifest_of(back) == manifest_of(thirds.model)
    save_model(back, tmp_path / "again.audioclass")
    assert (tmp_path / "again.audioclass").read_bytes() == thirds_file.read_bytes()
    assert read_summary(thirds_file, BUILTINS)[0].n_machines == 3


def test_scores_are_what_the_machines_of_the_training_say(thirds):
    X = thirds.model.preprocessing.apply(thirds.dataset.X).astype(np.float64)
    trained = thirds.training.trained
    expected = np.stack([each.machine.scores(gram(each.kernel, X[::3], X)) for each in trained], axis=1)
    np.testing.assert_allclose(thirds.training.classifier.scores(X[::3]), expected, atol=1e-6)


def test_models_without_members_say_nothing_of_links(trained, model_file):
    assert "links" not in manifest_of(trained.model)
    assert not [name for name in members_of(model_file) if "slopes" in name or "offsets" in name]


def test_more_recordings_leave_members_that_they_do_not_touch_to_the_bit(thirds, thirds_file, small, tmp_path):
    more = write_corpus(tmp_path / "more", 2, labels=("tone",), first=20)
    old, new = load_model(thirds_file, registry=BUILTINS), update(thirds_file, more, run=with_thirds()).model
    place = [d.positive + d.negative for d in old.classifier.plan.dichotomies].index((0, 1))  # clicks against noise
    one, two = (model.classifier.machines.machine(place) for model in (old, new))
    for name in ("link", "slopes", "offsets"):
        assert np.array_equal(getattr(one.members, name), getattr(two.members, name))
    assert np.array_equal(one.intercept, two.intercept)
    used = [machine.coefficients[machine.coefficients.any(axis=1)] for machine in (one, two)]
    assert np.array_equal(*used)
    assert new.posteriors_of(thirds.dataset.X).shape == (len(thirds.dataset.X), 3)


def test_criteria_of_multipliers_refuse_members():
    K = np.eye(6)
    problem = SelectionProblem(K, np.array([1, -1] * 3), learner=Thirds())
    assert problem.scores.shape == (6,)
    with pytest.raises(ValueError, match="needs the multipliers of one machine, the problem was given thirds"):
        problem.alpha  # noqa: B018


MACHINE = Machine(np.arange(2), np.ones((2, 2)), np.zeros(2), Members.plain("vote", 2))


@component
class InClosedForm(Thirds):
    """Says that it knows the scores of held-out groups, and gives members."""

    name: ClassVar[str] = "in_closed_form"

    def fit_and_hold_out(self, task, Y, groups):
        return MACHINE, np.zeros(Y.shape)


def test_a_closed_form_refuses_members():
    examples = Examples.of(np.eye(4), np.array([0, 1, 0, 1]))
    given = {"kernel": Linear(), "C": 1.0, "trainer": InClosedForm()}
    problem = DichotomyProblem.of(Dichotomy((0,), (1,)), examples, **given)
    with pytest.raises(ValueError, match="in_closed_form gave members, a closed form needs an output for each"):
        ClosedForm().fit(problem, examples)


def test_all_labels_at_once_refuse_members():
    class Direct:
        combine = None

    task = binary_task("gram", np.eye(2), np.array([1, -1]))
    message = "fit gave a machine of members, must give one with an output for each label"
    assert flaw_of_result("direct_strategy", "fit", (Direct(), task), MACHINE) == message
    assert flaw_of_result("trainer", "fit", (Thirds(), task), MACHINE) == ""
    with pytest.raises(ValueError, match="a direct strategy gave a machine of members"):
        _label_machines(MACHINE, Examples.of(np.eye(2), np.array([0, 1])), Linear(), 2)


def test_the_span_refuses_members():
    with pytest.raises(ValueError, match=r"coefficients have shape \(2, 2\), must be those of one dichotomy"):
        multipliers(MACHINE, np.array([1, -1]), 1.0, np.ones(2), "hinge")


# --- files that somebody changed


def with_links(links):
    def change(members):
        manifest = json.loads(members["manifest.json"]) | {"links": links}
        return members | {"manifest.json": json.dumps(manifest).encode()}

    return change


def without_links(members):
    manifest = json.loads(members["manifest.json"])
    del manifest["links"]
    return members | {"manifest.json": json.dumps(manifest).encode()}


def with_array(name, change):
    def changed(members):
        array = change(np.load(io.BytesIO(members[f"{name}.npy"])))
        return members | {f"{name}.npy": npy(array)}

    return changed


def without(name):
    return lambda members: {key: content for key, content in members.items() if key != name}


HOSTILE = {
    "links-missing": (without_links, "is not known to schema 2; pip install -U audioclass"),
    "links-a-number": (with_links(3), "links must be a list"),
    "links-of-more": (with_links(["vote", "vote"]), "2 links for 1 kernels"),
    "link-unknown": (with_links(["product"]), "link 'product' of members must be score, vote, probability"),
    "link-a-table": (with_links([{"name": "vote"}]), "must be score, vote, probability"),
    "link-none": (with_links([None]), "is not known to schema 2"),
    "slopes-missing": (without("bank/0/slopes.npy"), "member 'bank/0/slopes.npy' is missing"),
    "slopes-of-fewer": (with_array("bank/0/slopes", lambda a: a[:2]), "offsets of members have shape"),
    "slopes-negative": (with_array("bank/0/slopes", lambda a: -a), "slopes of members must be at least 0"),
    "slopes-nan": (with_array("bank/0/slopes", lambda a: a * np.float32(np.nan)), "NaN or infinite"),
    "slopes-whole-numbers": (with_array("bank/0/slopes", lambda a: a.astype(int)), "slopes of members have shape"),
    "offsets-infinite": (with_array("bank/0/offsets", lambda a: a + np.float32(np.inf)), "NaN or infinite"),
    "offsets-of-two-axes": (with_array("bank/0/offsets", lambda a: a[:, None]), "offsets of members have shape"),
    "machines-mixed": (with_array("bank/0/machines", lambda a: np.roll(a, 1)), "do not hold every machine once"),
    "machines-of-others": (with_array("bank/0/machines", lambda a: a + 1), "do not hold every machine once"),
    "machines-negative": (with_array("bank/0/machines", lambda a: a - 1), "do not hold every machine once"),
    "machines-of-fewer": (with_array("bank/0/machines", lambda a: a[:-1]), "coefficients of"),
    "machines-one": (with_array("bank/0/machines", lambda a: a * 0), "1 machines for 3 scores"),
    "machines-none": (with_array("bank/0/machines", lambda a: a[:0]), "not a model that can be read"),
    "coefficients-of-fewer": (with_array("bank/0/coefficients", lambda a: a[:, :3]), "coefficients of"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_changed_file_is_refused_in_one_line(name, thirds_file, tmp_path):
    change, message = HOSTILE[name]
    path = tmp_path / "hostile.audioclass"
    path.write_bytes(zipped(sealed(change(members_of(thirds_file)))))
    with pytest.raises(ModelError, match=r"hostile\.audioclass: ") as caught:
        load_model(path, registry=BUILTINS)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_without_members_cannot_be_said_to_vote(model_file, tmp_path):
    members, path = members_of(model_file), tmp_path / "m.audioclass"
    n_kernels = len(json.loads(members["manifest.json"])["kernels"])
    path.write_bytes(zipped(sealed(with_links(["vote"] * n_kernels)(members))))
    with pytest.raises(ModelError, match=r"member 'bank/0/offsets\.npy' is missing"):
        load_model(path)
