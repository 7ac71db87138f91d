import numpy as np
import pytest
from audioclass_hsic import HSIC, register_criteria

from audioclass.calibrators.platt import Platt
from audioclass.criteria.problem import SelectionProblem
from audioclass.kernels.gaussian import Gaussian
from audioclass.plugins.manager import plugin_manager
from audioclass.problems import Dichotomy
from audioclass.run import Run
from audioclass.searches.lbfgs import LBFGS
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.testing import check_criterion
from audioclass.trainers.svm import SVM
from audioclass.training.config import TrainingConfig
from audioclass.training.examples import Examples
from audioclass.training.select import select


def test_it_keeps_its_contract():
    check_criterion(HSIC())


def test_it_is_offered():
    assert register_criteria() == [HSIC]


def test_a_value_worked_out_by_hand():
    # y is centred already; y'Ky = 4 with K of rank one along y/2, over (4 − 1)²
    y = np.array([1, 1, -1, -1])
    assert HSIC().value(SelectionProblem(np.outer(y, y) / 4, y)) == pytest.approx(4 / 9)


def test_it_chooses_kernels():
    X = np.random.default_rng(0).normal(size=(40, 2))
    examples = Examples.of(X, (X[:, 0] > 0).astype(int))
    config = TrainingConfig(
        strategy=OneVsOne(),
        kernels=(Gaussian(0.1),),
        trainer=SVM(),
        calibrator=Platt(),
        criterion=HSIC(),
        search=LBFGS(),
        C=1.0,
    )
    [chosen] = select([Dichotomy((0,), (1,))], examples, config, Run(plugin_manager(installed=False)))
    assert chosen.value > HSIC().value(
        SelectionProblem(Gaussian(0.1).of(np.square(X[:, None] - X).mean(2)), np.sign(X[:, 0]))
    )
