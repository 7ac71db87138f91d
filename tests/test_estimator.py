"""scikit-learn's own checks on the estimator, with every strategy, and what it promises besides."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from audioclass import AudioclassClassifier, plugin_manager
from audioclass.errors import UsageError
from audioclass.kernels.gaussian import UnscaledGaussian

BUILTIN = plugin_manager(installed=False)
# Labels of a scikit-learn classifier exclude one another.
STRATEGIES = [entry.name for entry in BUILTIN.entries("strategy") if entry.name != "binary_relevance"]
REPEATS = "a weight is no repetition here: ranks, geometry and calibration folds count examples"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": REPEATS,
    "check_sample_weight_equivalence_on_sparse_data": REPEATS,
}


def plain(strategy, **changes):
    """Without a selection, which the checks would repeat hundreds of times."""
    return AudioclassClassifier(strategy=strategy, criterion="fixed", **changes)


@parametrize_with_checks([plain(strategy) for strategy in STRATEGIES], expected_failed_checks=lambda _: EXPECTED)
@pytest.mark.filterwarnings("ignore")  # the checks train on noise and on constants on purpose
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(120, n_features=4, centers=4, random_state=0)
    return X, np.array(["a", "b", "c", "d"])[y], np.arange(120) // 2


def test_the_default_selects_and_is_right(blobs):
    X, y, groups = blobs
    model = AudioclassClassifier().fit(X[::2], y[::2], groups=groups[::2])
    assert np.mean(model.predict(X[1::2]) == y[1::2]) > 0.9
    assert all(selected.trace for selected in model.training_.selected)


def test_names_objects_and_parameters_say_the_same(blobs):
    X, y, _ = blobs
    by_name = plain("one_vs_rest", kernel="gaussian_unscaled:sigma=2").fit(X, y)
    by_object = plain(BUILTIN.make("strategy", "one_vs_rest"), kernel=UnscaledGaussian(2.0)).fit(X, y)
    assert np.array_equal(by_name.predict_proba(X), by_object.predict_proba(X))


def test_it_works_in_pipelines_searches_and_cross_validation(blobs):
    X, y, groups = blobs
    pipeline = make_pipeline(StandardScaler(), plain("one_vs_rest_temperature", normalisation="none"))
    P = cross_val_predict(pipeline, X, y, groups=groups, cv=GroupKFold(3), method="predict_proba")
    assert P.shape == (120, 4)
    search = GridSearchCV(pipeline, {"audioclassclassifier__C": [0.1, 10.0]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9


def test_groups_stay_together_in_what_calibrates(blobs):
    X, y, groups = blobs
    lonely = plain("one_vs_rest_temperature").fit(X, y, groups=np.arange(120)).training_.held_out
    grouped = plain("one_vs_rest_temperature").fit(X, y, groups=groups).training_.held_out
    assert not np.allclose(lonely, grouped)


def test_metadata_can_be_routed(blobs):
    X, y, groups = blobs
    with config_context(enable_metadata_routing=True):
        model = plain("one_vs_rest_temperature").set_fit_request(groups=True)
        search = GridSearchCV(model, {"C": [1.0]}, cv=GroupKFold(2)).fit(X, y, groups=groups)
        assert search.best_estimator_.get_metadata_routing().fit.requests["groups"] is True


def test_output_can_be_a_data_frame_of_a_step_before(blobs):
    pandas = pytest.importorskip("pandas")
    X, y, _ = blobs
    pipeline = make_pipeline(StandardScaler(), plain("one_vs_rest")).set_output(transform="pandas")
    frame = pandas.DataFrame(X, columns=["p", "q", "r", "s"])
    pipeline.fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == ["p", "q", "r", "s"]


def test_one_label_is_always_that_one():
    model = plain("one_vs_one").fit(np.arange(6.0)[:, None], ["x"] * 6)
    assert set(model.predict([[9.0]])) == {"x"}
    assert model.predict_proba([[9.0]]).tolist() == [[1.0]]


def test_a_clone_trains_the_same(blobs):
    X, y, _ = blobs
    first = plain("hybrid_dendrogram").fit(X, y)
    assert np.array_equal(clone(first).fit(X, y).predict_proba(X), first.predict_proba(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strategy": "one_vs_non"}, "unknown strategy 'one_vs_non'; did you mean 'one_vs_one'"),
        ({"kernel": "gaussian:sigma=-1"}, "sigma=-1.0 must be positive"),
        ({"kernel": "gaussian:breadth=1"}, "unknown parameter of gaussian 'breadth'"),
        ({"C": -1.0}, "C=-1.0 must be positive"),
        ({"trainer": 3}, "trainer=3 must be a name or a trainer"),
        ({"normalisation": "ranks"}, "unknown normalisation 'ranks'; did you mean 'rank'"),
        ({"folds": 1}, "folds=1 must be at least 2"),
    ],
)
def test_wrong_choices_are_one_line(blobs, changes, message):
    X, y, _ = blobs
    with pytest.raises(UsageError, match=message):
        AudioclassClassifier(**{"criterion": "fixed", **changes}).fit(X, y)


def test_groups_of_another_length_are_refused(blobs):
    X, y, _ = blobs
    with pytest.raises(ValueError, match="groups has shape"):
        plain("one_vs_rest").fit(X, y, groups=[1, 2])


def test_weights_that_are_all_zero_are_refused(blobs):
    X, y, _ = blobs
    with pytest.raises(ValueError, match="(?i)weight"):
        plain("one_vs_rest").fit(X, y, sample_weight=np.zeros(120))


def test_parameters_of_components_are_read_and_set(blobs):
    X, y, _ = blobs
    model = plain("one_vs_one", kernel="gaussian:sigma=2")
    assert model.get_params()["kernel__sigma"] == 2.0
    assert model.get_params()["strategy__coupling"] == "wu_lin_weng"
    model.set_params(strategy__coupling="price", kernel__sigma=3.0, C=2.0)
    assert (model.strategy.coupling, model.kernel.sigma, model.C) == ("price", 3.0, 2.0)
    assert clone(model).fit(X, y).training_.classifier.strategy.coupling == "price"


def test_a_grid_walks_parameters_of_components(blobs):
    X, y, _ = blobs
    grid = GridSearchCV(plain("one_vs_rest"), {"kernel__sigma": [1.0, 2.0]}, cv=2).fit(X, y)
    assert [choice["kernel__sigma"] for choice in grid.cv_results_["params"]] == [1.0, 2.0]
    assert grid.best_estimator_.kernel.sigma == grid.best_params_["kernel__sigma"]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"strategy__prize": 1}, UsageError, "unknown parameter of one_vs_one 'prize'"),
        ({"strateg": "dag"}, ValueError, "strateg"),
    ],
)
def test_what_is_no_parameter_cannot_be_set(changes, error, message):
    with pytest.raises(error, match=message):
        plain("one_vs_one").set_params(**changes)


def test_what_is_no_parameter_cannot_be_given():
    with pytest.raises(TypeError, match="AudioclassClassifier has no parameter 'strateg'"):
        AudioclassClassifier(strateg="dag")
