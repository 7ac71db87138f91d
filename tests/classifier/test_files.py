"""A model before and after its file: the same posteriors, with less than scikit-learn around."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from archives import members_of, sealed, zipped
from trained import train_small

from audioclass.classifier.golden import Drift, golden_features, golden_signal
from audioclass.classifier.saving import manifest_of, save_model
from audioclass.engine.models import load_model
from audioclass.errors import ModelError, UsageError

BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "sklearn":
            raise ImportError(name)
sys.meta_path.insert(0, Block())
import numpy as np
from audioclass import load_model
model = load_model(sys.argv[1])
np.save(sys.argv[3], model.posteriors_of(np.load(sys.argv[2])))
assert "sklearn" not in sys.modules
"""


def test_posteriors_are_the_same_without_scikit_learn(trained, model_file, tmp_path):
    X, found = tmp_path / "X.npy", tmp_path / "P.npy"
    np.save(X, trained.dataset.X)
    subprocess.run([sys.executable, "-c", BLOCKED, model_file, X, found], check=True)
    assert np.abs(np.load(found) - trained.model.posteriors_of(trained.dataset.X)).max() <= 1e-9


@pytest.mark.parametrize("strategy", ["one_vs_one", "dag", "output_code", "hybrid_dendrogram:form=weighted"])
@pytest.mark.parametrize("trainer", ["svm", "least_squares"])
def test_every_sort_of_model_comes_back(tmp_path, strategy, trainer):
    trained = train_small(tmp_path, strategy=strategy, trainer=trainer)
    save_model(trained.model, tmp_path / "m.audioclass")
    back = load_model(tmp_path / "m.audioclass")
    X = trained.dataset.X
    assert np.array_equal(back.posteriors_of(X), trained.model.posteriors_of(X))
    assert manifest_of(back) == manifest_of(trained.model)


def test_the_same_model_gives_the_same_bytes(trained, model_file, tmp_path):
    save_model(trained.model, tmp_path / "again.audioclass")
    assert (tmp_path / "again.audioclass").read_bytes() == model_file.read_bytes()


def test_a_loaded_model_is_written_as_it_was(model_file, tmp_path):
    save_model(load_model(model_file), tmp_path / "again.audioclass")
    assert (tmp_path / "again.audioclass").read_bytes() == model_file.read_bytes()


def test_its_members_are_a_manifest_and_arrays(model_file):
    with zipfile.ZipFile(model_file) as archive:
        names = archive.namelist()
    assert names[0] == "manifest.json"
    assert all(name.endswith(".npy") for name in names[1:])


def test_it_says_where_it_comes_from(trained):
    about = trained.model.about
    assert about["versions"]["audioclass"]
    assert about["corpus"]["recordings"] == 18
    assert {component["distribution"] for component in about["pieces"]} == {"audioclass"}
    assert about["report"]["grouped"]["recording"]["accuracy"] > 0.9


def test_rows_do_not_depend_on_the_rows_beside_them(trained):
    X, model = trained.dataset.X, trained.model
    whole = model.posteriors_of(X)
    parts = [model.posteriors_of(X[i : i + 7], first=i) for i in range(0, len(X), 7)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert np.abs(whole.sum(axis=1) - 1).max() < 1e-12


def test_golden_posteriors_are_recomputed(trained):
    assert trained.model.drift() == Drift(0, 0)
    assert len(golden_features(trained.model.recipe)) == len(trained.model.golden.P) >= 2
    assert golden_signal(8000).dtype == np.float32


def test_drift_beyond_rounding_is_refused(trained, tmp_path):
    from dataclasses import replace

    golden = replace(trained.model.golden, P=trained.model.golden.P[:, ::-1])
    save_model(replace(trained.model, golden=golden), tmp_path / "drifted.audioclass")
    with pytest.raises(ModelError, match="golden posteriors by"):
        load_model(tmp_path / "drifted.audioclass")
    assert load_model(tmp_path / "drifted.audioclass", verify=False).drift().posteriors > 0.01


def with_more(model_file, path, member, **keys):
    """A copy with one more member and more keys, as a later version may write it."""
    members = members_of(model_file)
    manifest = json.loads(members["manifest.json"]) | keys
    more = {"manifest.json": json.dumps(manifest).encode(), member: members["golden/features.npy"]}
    path.write_bytes(zipped(sealed(members | more)))
    return path


def test_what_can_be_done_without_is_ignored(trained, model_file, tmp_path):
    later = with_more(model_file, tmp_path / "later.audioclass", "notes/times.npy", remark={"by": "a later version"})
    X = trained.dataset.X
    assert np.array_equal(load_model(later).posteriors_of(X), trained.model.posteriors_of(X))


@pytest.mark.parametrize("member", ["preparation/shifts", "bank/0/widths", "memory/times"])
def test_one_more_member_of_a_group_that_is_read_as_a_whole_is_refused(member, model_file, tmp_path):
    later = with_more(model_file, tmp_path / "later.audioclass", f"{member}.npy")
    with pytest.raises(ModelError, match=f"member '{member}.npy' is not known to schema 2; pip install -U audioclass"):
        load_model(later)


def test_a_missing_member_is_named(model_file, tmp_path):
    members = members_of(model_file)
    del members["memory/groups.npy"]
    path = tmp_path / "cut.audioclass"
    path.write_bytes(zipped(sealed(members)))
    with pytest.raises(ModelError, match=r"cut\.audioclass: member 'memory/groups\.npy' is missing"):
        load_model(path)


def test_a_model_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"none\.audioclass: no such model file"):
        load_model(tmp_path / "none.audioclass")
