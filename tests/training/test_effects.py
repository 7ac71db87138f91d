"""An option without effect is refused before any work, and one that has an effect is not."""

import pytest

from audioclass import AudioclassClassifier
from audioclass.engine.runs import KEEP_NOTHING, make_run
from audioclass.errors import UsageError
from audioclass.testing.blobs import blobs
from audioclass.training.config import OPTIONS, TrainingConfig
from audioclass.training.effects import check_effects, without_effect


def configured(**stated):
    return TrainingConfig.of({"recipe": None, **stated}, make_run(cache=KEEP_NOTHING))


REFUSED = {
    "folds of the default trainer": (
        {"folds": 3},
        "folds=3 has no effect: trainer least_squares holds groups out by closed_form; held_out=folds uses them",
    ),
    "folds beside the span": (
        {"folds": 3, "trainer": "svm", "held_out": "span"},
        "folds=3 has no effect: held_out=span uses none",
    ),
    "folds of a criterion that has none": (
        {"selection_folds": 3},
        "selection_folds=3 has no effect: criterion leave_group_out_log_loss trains on no folds",
    ),
    "folds of a criterion that holds out as training does": (
        {"selection_folds": 3, "trainer": "svm"},
        "selection_folds=3 has no effect: criterion leave_group_out_log_loss trains on no folds",
    ),
    "densities of a kernel that is no window": (
        {"criterion": "parzen_separability", "kernel": "linear"},
        "criterion parzen_separability needs a Gaussian kernel, which alone is a window; kernel=linear",
    ),
    "climbing what has no derivatives": (
        {"search": "lbfgs", "criterion": "k_fold_error"},
        "search=lbfgs needs derivatives, criterion k_fold_error has none",
    ),
    "climbing what has none for the trainer": (
        {"search": "lbfgs", "trainer": "svm"},
        "search=lbfgs needs derivatives, criterion leave_group_out_log_loss has none for trainer svm",
    ),
    "search without a criterion": (
        {"search": "grid", "criterion": "fixed"},
        r"search=grid\S* has no effect: criterion=fixed chooses nothing",
    ),
    "interval of a fixed C": ({"c_range": [1, 10], "c_rule": "fixed"}, "c_range=.* has no effect: c_rule=fixed"),
    "interval of C that nothing depends on": (
        {"c_range": [1, 10], "criterion": "alignment"},
        "c_range=.* has no effect: criterion alignment does not depend on C",
    ),
    "C that is computed": ({"C": 2, "c_rule": "joachims"}, "C=2.0 has no effect: c_rule=joachims computes it"),
    "fewer features under another kernel": (
        {"feature_shares": [0.5], "kernel": "linear"},
        r"feature_shares=\[0.5\] has no effect: only Gaussian kernels weigh features",
    ),
    "size of what never takes over": (
        {"large_rows": 100, "trainer": "nystroem"},
        "large_rows=100 has no effect: trainer nystroem fits no Gram matrix",
    ),
    "method that the trainer has not": (
        {"held_out": "span"},
        "held_out=span: trainer least_squares does not have it, it has auto, closed_form, folds",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_an_option_without_effect_is_refused(case):
    stated, message = REFUSED[case]
    with pytest.raises(UsageError, match=message):
        configured(**stated)


@pytest.mark.parametrize(
    "stated",
    [
        {"folds": 3, "held_out": "folds"},
        {"folds": 3, "trainer": "svm"},
        {"folds": 3, "criterion": "k_fold_error"},
        {"selection_folds": 3, "criterion": "validation_error"},
        {"search": "grid", "c_range": [1, 10]},
        {"C": 2, "criterion": "fixed"},
        {"group_weights": "greedy", "kernel": "linear", "criterion": "fixed"},
        *({"held_out": method} for method in ("auto", "closed_form", "folds")),
        *({"trainer": "svm", "held_out": method} for method in ("auto", "span", "folds")),
    ],
    ids=str,
)
def test_an_option_with_an_effect_is_not(stated):
    assert configured(**stated).chosen >= {"kernels" if name == "kernel" else name for name in stated}


def test_stated_folds_are_used_where_the_size_of_groups_would_decide():
    assert configured(folds=3, trainer="svm").held_out == "folds"
    assert configured(trainer="svm").held_out == "auto"


def test_a_criterion_trains_on_as_many_folds_as_were_stated():
    assert configured(folds=3, criterion="k_fold_error").selection_folds == 3
    assert configured(folds=3, selection_folds=4, criterion="k_fold_error", held_out="folds").selection_folds == 4
    assert configured(criterion="k_fold_error").selection_folds == 10


def test_what_serves_one_of_several_is_not_refused():
    one, other = configured(), TrainingConfig.of({"recipe": None, "criterion": "fixed"}, make_run(cache=KEEP_NOTHING))
    stated = [
        TrainingConfig.of({**choices, "recipe": None, "search": "grid"}, make_run(), checks_effects=False)
        for choices in ({}, {"criterion": "fixed"})
    ]
    assert "search" in without_effect(other)
    assert "search" not in without_effect(one)
    check_effects(stated)
    with pytest.raises(UsageError, match="search=grid"):
        check_effects(stated[1:])


def test_the_file_of_an_option_is_named():
    with pytest.raises(UsageError, match="choices.toml: folds=3 has no effect"):
        TrainingConfig.of({"recipe": None, "folds": 3}, make_run(), sources={"folds": "choices.toml"})


def test_the_estimator_refuses_what_was_changed_without_effect():
    X, y = blobs(2, n_each=6)
    with pytest.raises(UsageError, match="folds=3 has no effect"):
        AudioclassClassifier(folds=3).fit(X, y)
    AudioclassClassifier(folds=3, held_out="folds", criterion="fixed").fit(X, y)


def test_reasons_are_those_of_options():
    fields = {option.field for option in OPTIONS}
    assert {*without_effect(configured(criterion="fixed")), *without_effect(configured(trainer="nystroem"))} <= fields
