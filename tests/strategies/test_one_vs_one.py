from audioclass.problems import Dichotomy
from audioclass.strategies.one_vs_one import OneVsOne
from audioclass.testing import check_strategy


def test_it_keeps_its_contract():
    check_strategy(OneVsOne())


def test_every_pair_has_a_machine():
    plan = OneVsOne().plan(["a", "b", "c"], None, None, None)
    assert plan.dichotomies == (Dichotomy((0,), (1,)), Dichotomy((0,), (2,)), Dichotomy((1,), (2,)))
