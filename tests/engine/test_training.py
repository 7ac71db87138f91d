import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import soundfile
from runs import config, recipe, run
from trained import RATE, mixture, sound, train_small, write_corpus, write_recipe

from audioclass.classifier.archive import open_model_archive
from audioclass.classifier.saving import arrays_of, save_model
from audioclass.engine.models import load_model
from audioclass.engine.training import train
from audioclass.errors import CorpusError, UsageError
from audioclass.taxonomy import Taxonomy
from audioclass.training.folds import grouped_folds


def same_arrays(one, other):
    one, other = arrays_of(one), arrays_of(other)
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


def test_a_corpus_becomes_a_model(trained):
    assert trained.model.labels == ("clicks", "noise", "tone")
    assert trained.grouped.main.value("accuracy") == 1
    assert trained.warnings == []


def test_what_was_held_out_is_judged_as_scikit_learn_does(small):
    from sklearn.metrics import accuracy_score, log_loss

    trained = train_small(small, kernel="gaussian_unscaled:sigma=2", C=1.0)
    P, y = trained.training.held_out, trained.dataset.y
    assert trained.grouped.windows.value("accuracy") == pytest.approx(accuracy_score(y, P.argmax(axis=1)))
    assert trained.grouped.windows.value("log_loss") == pytest.approx(log_loss(y, P))
    report = trained.model.about["report"]["grouped"]
    assert report["window"]["log_loss"] == pytest.approx(log_loss(y, P))


def test_times_and_clips_both_train(tmp_path):
    """One long file with marks, and files of single sounds, in one table."""
    rows = []
    for i in range(4):
        soundfile.write(tmp_path / f"long{i}.wav", mixture(), RATE)
        rows += [f"long{i}.wav,{label},{3 * k},{3 * k + 3}" for k, label in enumerate(("tone", "noise", "clicks"))]
    for i in range(3):
        soundfile.write(tmp_path / f"tone{i}.wav", sound("tone", i), RATE)
        rows.append(f"tone{i}.wav,tone,,")
    table = tmp_path / "corpus.csv"
    table.write_text("file,label,start,end\n" + "\n".join(rows) + "\n", encoding="utf-8")
    setup = config(recipe=write_recipe(tmp_path), criterion="fixed")
    trained = train(table, config=setup, run=run(tmp_path / "cache"))
    assert trained.grouped.main.value("accuracy") > 0.9
    assert trained.model.about["corpus"]["recordings"] == 7


def test_windows_of_a_clip_share_its_group_and_fold(trained):
    labelled = trained.dataset
    folds = grouped_folds(labelled.y, labelled.groups, 5)
    for clip in set(labelled.clip_names):
        rows = [i for i, other in enumerate(labelled.clip_names) if other == clip]
        assert len(rows) > 1
        assert len(set(labelled.groups[rows])) == len(set(folds[rows])) == 1


@pytest.fixture(scope="module")
def alike(tmp_path_factory):
    """Labels that mean nothing: only windows of one recording are alike."""
    folder = tmp_path_factory.mktemp("alike")
    for i in range(12):
        path = folder / "corpus" / "ab"[i % 2] / f"{i}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, sound("tone", i, 3.0), RATE)
    return folder


@pytest.mark.filterwarnings("ignore::UserWarning")  # scores tell nothing
def test_random_splits_that_claim_more_are_warned_of(alike):
    trained = train_small(alike, link="none", second_stage="none", group_weights="equal")
    grouped, random_split = (one.windows.value("accuracy") for one in (trained.grouped, trained.random_split))
    assert random_split > 0.75 > grouped
    [warning] = trained.warnings
    assert warning.startswith("a random split claims an accuracy of ")


def test_windows_that_are_groups_by_themselves_have_no_random_split(small):
    setup = config(recipe=str(small / "small.toml"), criterion="fixed", window=5.0, hop=5.0)
    assert train(small / "corpus", config=setup, run=run(small / "cache")).random_split is None


def test_the_same_seed_gives_the_same_model(small, tmp_path):
    for name in ("one", "two"):
        save_model(train_small(small, strategy="output_code", trainer="svm", seed=3).model, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_processes_change_no_byte(small, tmp_path):
    setup = config(recipe=str(small / "small.toml"), strategy="one_vs_one", trainer="svm")
    for jobs in (1, 2):
        made = train(small / "corpus", config=setup, run=run(tmp_path / f"cache{jobs}", jobs=jobs), name="m")
        save_model(made.model, tmp_path / f"{jobs}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_stages_are_told(small):
    told = []
    setup = config(recipe=str(small / "small.toml"), search="grid:points=3")
    train(small / "corpus", config=setup, run=run(small / "cache", progress=lambda *state: told.append(state)))
    assert list(dict.fromkeys(stage for stage, _, _ in told)) == [
        "extraction",
        "selection",
        "training",
        "calibration",
        "random split, training",
    ]
    assert all(0 <= done <= total for _, done, total in told)


def test_windows_can_be_other_than_the_recipe_s(small):
    setup = config(recipe=str(small / "small.toml"), window=0.25, hop=0.125)
    assert (setup.recipe.window, setup.recipe.window_hop) == (0.25, 0.125)
    with pytest.raises(UsageError, match=r"window=-1.0 must be positive"):
        config(recipe=str(small / "small.toml"), window=-1)
    with pytest.raises(UsageError, match=r"hop=nan must be finite"):
        config(recipe=str(small / "small.toml"), hop=float("nan"))


def test_a_taxonomy_guides_the_tree(small):
    tree = Taxonomy.of({"steady": ["noise", "tone"], "clicks": {}})
    setup = config(recipe=str(small / "small.toml"), criterion="fixed", taxonomy=tree)
    trained = train(small / "corpus", config=setup, run=run(small / "cache"))
    assert trained.model.paths == (("clicks",), ("steady", "noise"), ("steady", "tone"))
    assert "tree=taxonomy" in trained.model.about["choices"]["strategy"]
    assert setup.guided_by(None, run()) is setup
    other = config(recipe=str(small / "small.toml"), strategy="one_vs_one")
    assert other.guided_by(tree, run()) is other


def test_a_taxonomy_that_lacks_a_label_is_one_line(small):
    tree = Taxonomy.of(["clicks", "noise", "tones"])
    setup = config(recipe=str(small / "small.toml"), criterion="fixed", taxonomy=tree)
    with pytest.raises(CorpusError, match="label 'tone' is not in the taxonomy; did you mean 'tones'"):
        train(small / "corpus", config=setup, run=run(small / "cache"))


def test_options_and_a_whole_configuration_exclude_each_other(small):
    setup = config(recipe=str(small / "small.toml"))
    with pytest.raises(UsageError, match="strategy: give options or a whole configuration, not both"):
        train(small / "corpus", config=setup, strategy="dag")


def test_options_are_those_of_the_command(small):
    options = {"recipe": str(small / "small.toml"), "criterion": "fixed", "strategy": "dag"}
    assert train(small / "corpus", **options, run=run(small / "cache")).model.classifier.strategy.name == "dag"


def test_one_label_is_one_line(tmp_path):
    write_corpus(tmp_path / "corpus", 2, labels=("tone",))
    with pytest.raises(CorpusError, match="only the label 'tone' has recordings, at least 2 labels are needed"):
        train_small(tmp_path)


def test_a_label_with_one_recording_is_noted(tmp_path):
    write_corpus(tmp_path / "corpus", 3, labels=("clicks", "noise"))
    write_corpus(tmp_path / "corpus", 1, labels=("tone",))
    trained = train_small(tmp_path, strategy="one_vs_one", trainer="svm")
    assert any("calibrated on its own training scores" in warning for warning in trained.warnings)
    assert np.isfinite(trained.training.held_out).all()


def test_objects_are_remembered_as_names(small):
    from audioclass.kernels.gaussian import Gaussian

    trained = train_small(small, kernel=Gaussian(2.5))
    assert trained.model.about["choices"]["kernel"] == "gaussian:sigma=2.5"


def test_another_recipe_is_another_model(small):
    shorter = replace(recipe(str(small / "small.toml")), window=0.25)
    trained = train(small / "corpus", config=config(recipe=shorter, criterion="fixed"), run=run(small / "cache"))
    assert trained.model.recipe.window == 0.25


# A run is killed at a moment at which Python opens, renames, imports or removes something, one of as many as a calm run
# has. There are fewer each time, as it goes on where it was killed.
KILLS = """
import os, random, signal, sys
from pathlib import Path
from runs import config, run
from audioclass.engine.training import train
from audioclass.classifier.saving import save_model

folder, place = Path(sys.argv[1]), Path(sys.argv[2])
choices = dict(strategy="one_vs_one", trainer="svm", kernel="gaussian", search="grid:points=3")
setup = config(recipe=str(folder / "small.toml"), **choices)

def attempt(name, last_moment=None):
    child = os.fork()
    if not child:
        n_moments = 0

        def pass_moment(event, _):
            nonlocal n_moments
            n_moments += event in MOMENTS
            if n_moments == last_moment:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(pass_moment)
        made = train(folder / "corpus", config=setup, name="m", run=run(place / name))
        save_model(made.model, place / f"{name}.audioclass")
        (place / "moments").write_text(str(n_moments))
        os._exit(0)
    return os.waitpid(child, 0)[1]

MOMENTS = {"open", "import", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
assert attempt("calm") == 0
n_moments = int((place / "moments").read_text())
moments = random.Random(7)
print(n_moments, sum(attempt("killed", moments.randint(1, n_moments)) != 0 for _ in range(10)))
assert attempt("killed") == 0
"""


def test_a_run_killed_ten_times_ends_in_the_same_model(small, tmp_path):
    alone = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }  # a process of one thread can fork
    command = [sys.executable, "-c", KILLS, small, tmp_path]
    killed = subprocess.run(command, env=alone, check=True, capture_output=True, text=True).stdout
    assert int(killed.split()[-1]) >= 5, killed  # the others came to their end before their moment
    with (
        open_model_archive(tmp_path / "calm.audioclass") as calm,
        open_model_archive(tmp_path / "killed.audioclass") as after,
    ):
        assert calm.manifest == after.manifest
        assert calm.names == after.names
        arrays, others = calm.arrays(calm.names), after.arrays(after.names)
    assert all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)
    assert not list((tmp_path / "killed" / "training").iterdir())


def test_what_was_done_is_not_done_again(small, tmp_path, monkeypatch):
    """A run that stops after its machines are trained goes on with the report."""
    from audioclass.engine import training
    from audioclass.training import fit, select

    calm = train_small(small, criterion="leave_group_out_log_loss", search="grid:points=3")
    setup = config(recipe=str(small / "small.toml"), search="grid:points=3")
    with monkeypatch.context() as patch:
        patch.setattr(training, "evaluate_posteriors", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            train(small / "corpus", config=setup, name="small", run=run(tmp_path / "cache"))
    monkeypatch.setattr(select, "select", lambda *_, **__: 1 / 0)
    fits = []
    fitted = fit.FitTogether.fit
    monkeypatch.setattr(fit.FitTogether, "fit", lambda *item: fits.append(item) or fitted(*item))
    again = train(small / "corpus", config=setup, name="small", run=run(tmp_path / "cache"))
    assert same_arrays(again.model, calm.model)
    assert len(fits) == 1  # the random split alone, whose inner folds are solved with it


def test_weighed_groups_come_back_from_a_file(tmp_path):
    trained = train_small(tmp_path, group_weights="greedy")
    stated = trained.model.about["group_weights"]
    assert set(stated["weights"]) == {"shape", "cepstra"}
    assert sum(stated["weights"].values()) == pytest.approx(1)
    save_model(trained.model, tmp_path / "weighed.audioclass")
    X = trained.dataset.X
    assert np.array_equal(load_model(tmp_path / "weighed.audioclass").posteriors_of(X), trained.model.posteriors_of(X))


def test_what_a_component_refuses_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="cannot be trained so: K with its ridge has the eigenvalue"):
        train_small(tmp_path, kernel="tanh:slope=1000.0")
