"""Last steps in a model file: they come back to the bit, and hostile ones are refused in one line."""

import json

import numpy as np
import pytest
from archives import members_of, npy, sealed, zipped

from audioclass.classifier.about import last_step_line
from audioclass.classifier.model import Model
from audioclass.classifier.saving import manifest_of, save_model
from audioclass.engine.models import load_model
from audioclass.errors import ModelError
from audioclass.strategies.last_step import StepKind
from audioclass.strategies.links import LogLink


@pytest.fixture(scope="module")
def model(trained):
    """The small model with a log link and a second stage."""
    old, examples = trained.model, trained.dataset
    classifier = old.classifier
    scores = old.memory.held_out.astype(np.float64)
    kind = StepKind(link=LogLink(), penalty=0.1)
    step = kind.fit(classifier.evidence(scores), old.memory.y, np.ones(len(scores)))
    about = {**old.about, "pieces": [*old.about["pieces"], {**old.about["pieces"][0], "kind": "link", "name": "log"}]}
    parts = (old.taxonomy, about, old.memory, old.inverse_temperature, old.transitions, old.recordings)
    assert len(examples.X)
    return Model.of("steps", old.recipe, old.preprocessing, classifier.with_last_step(step), *parts)


@pytest.fixture
def file(model, tmp_path):
    save_model(model, tmp_path / "steps.audioclass")
    return tmp_path / "steps.audioclass"


def test_last_steps_come_back_to_the_bit(model, file, trained, tmp_path):
    back, X = load_model(file), trained.dataset.X
    np.testing.assert_array_equal(back.posteriors_of(X), model.posteriors_of(X))
    assert manifest_of(back) == manifest_of(model)
    assert back.classifier.last_step.kind == model.classifier.last_step.kind
    assert (back.posteriors_of(X) != trained.model.posteriors_of(X)).any()
    save_model(back, tmp_path / "again.audioclass")
    assert (tmp_path / "again.audioclass").read_bytes() == file.read_bytes()


def test_rows_do_not_depend_on_the_rows_beside_them(model, trained):
    X = trained.dataset.X
    parts = [model.posteriors_of(X[i : i + 5], first=i) for i in range(0, len(X), 5)]
    np.testing.assert_array_equal(np.concatenate(parts), model.posteriors_of(X))


def with_array(name, array):
    return lambda members: members | {f"second_stage/{name}.npy": npy(array)}


def with_link(**changes):
    def change(members):
        manifest = json.loads(members["manifest.json"])
        manifest["label_link"] = {**manifest["label_link"], **changes}
        return members | {"manifest.json": json.dumps(manifest).encode()}

    return change


def with_manifest(**changes):
    return lambda members: (
        members | {"manifest.json": json.dumps(json.loads(members["manifest.json"]) | changes).encode()}
    )


HOSTILE = {
    "a matrix of another shape": (with_array("weights", np.zeros((3, 2))), "weights has shape"),
    "a matrix of other labels": (
        lambda members: members
        | {f"second_stage/{name}.npy": npy(np.zeros(4)) for name in ("offsets", "means")}
        | {"second_stage/weights.npy": npy(np.zeros((4, 4))), "second_stage/column_weights.npy": npy(np.zeros((0, 4)))},
        "is for 4 labels, the model has 3",
    ),
    "numbers beyond all bounds": (with_array("offsets", np.full(3, 1e300)), "offsets must hold finite numbers"),
    "columns that nobody has": (
        lambda members: members
        | {"second_stage/column_means.npy": npy(np.zeros(9)), "second_stage/column_weights.npy": npy(np.zeros((9, 3)))},
        "reads 9 scores of groups",
    ),
    "a member too many": (with_array("more", np.zeros(3)), "is not known to schema"),
    "a link of no numbers": (with_link(fitted={"factor": "7"}), "must be a finite number"),
    "a link of a list": (with_link(fitted=[1]), "must be a table of"),
    "a link that nobody has": (with_link(name="nothing"), "nothing"),
    "a link of a negative factor": (with_link(fitted={"factor": -1.0, "shift": 0.1}), "must be positive"),
    "a link that lacks a number": (with_link(fitted={"factor": 1.0}), "steps.audioclass"),
    "two first steps": (
        with_manifest(
            posterior_calibration={
                "temperature": 1.0, "uniform_share": 0.0, "decision_share": 0.0, "scale": 1.0, "exponent": 0.0
            }
        ),
        "cannot both come after a strategy",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_last_steps_are_refused(name, file):
    change, message = HOSTILE[name]
    file.write_bytes(zipped(sealed(change(members_of(file)))))
    with pytest.raises(ModelError, match=message) as caught:
        load_model(file)
    assert "\n" not in str(caught.value)


def test_a_missing_member_is_named(file):
    members = members_of(file)
    del members["second_stage/means.npy"]
    file.write_bytes(zipped(sealed(members)))
    with pytest.raises(ModelError, match="second_stage/means"):
        load_model(file)


def test_a_model_says_what_was_chosen(trained):
    line = last_step_line(trained.model.about)
    assert line.startswith("last step: ")
    assert "folds (log-loss: " in line
    assert last_step_line({}) == ""
