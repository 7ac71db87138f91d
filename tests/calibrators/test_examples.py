import numpy as np
import pytest

from audioclass.calibrators.beta import Beta
from audioclass.calibrators.gaussian import GaussianModel
from audioclass.calibrators.isotonic import Isotonic
from audioclass.calibrators.platt import Platt

ALL = [Platt(), GaussianModel(), Isotonic(), Beta()]
TWO = np.array([-1.0, 1.0])


@pytest.mark.parametrize("calibrator", ALL, ids=lambda calibrator: calibrator.name)
@pytest.mark.parametrize(
    ("scores", "y", "weights", "match"),
    [
        (TWO[:0], TWO[:0], TWO[:0], "scores have shape \\(0,\\), must be a list of at least one"),
        (np.ones((2, 2)), TWO, np.ones(2), "scores have shape \\(2, 2\\)"),
        (np.array([np.nan, 1]), TWO, np.ones(2), "scores hold NaN or infinite values"),
        (np.array([np.inf, 1]), TWO, np.ones(2), "scores hold NaN or infinite values"),
        (TWO, np.array([0, 1]), np.ones(2), "y holds \\[0. 1.\\], must hold -1 and \\+1"),
        (TWO, np.ones(3), np.ones(2), "y has shape \\(3,\\) for 2 scores"),
        (TWO, TWO, np.ones(1), "weights has shape \\(1,\\) for 2 scores"),
        (TWO, TWO, np.array([-1, 1]), "weights must be finite, at least 0 and not all 0"),
        (TWO, TWO, np.zeros(2), "not all 0"),
        (TWO, TWO, np.array([np.nan, 1]), "weights must be finite"),
    ],
)
def test_wrong_examples_are_refused_in_one_line(calibrator, scores, y, weights, match):
    with pytest.raises(ValueError, match=match) as caught:
        calibrator.fit(scores, y, weights)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("calibrator", ALL, ids=lambda calibrator: calibrator.name)
def test_scores_that_fall_with_the_labels_give_one_probability_and_a_warning_from_here(calibrator):
    with pytest.warns(UserWarning, match=f"{calibrator.name}: the positive side has no higher scores") as caught:
        fitted = calibrator.fit(np.array([2.0, 1.0, -1.0, -2.5]), np.array([-1, -1, 1, 1]), np.ones(4))
    assert caught[0].filename == __file__
    assert np.ptp(calibrator.probabilities(np.linspace(-3, 3, 9), fitted)) == 0


@pytest.mark.parametrize("calibrator", [Platt(), Isotonic(), Beta()], ids=lambda calibrator: calibrator.name)
def test_one_side_alone_gives_the_rule_of_succession(calibrator):
    fitted = calibrator.fit(np.arange(4.0), np.ones(4), np.ones(4))
    np.testing.assert_allclose(calibrator.probabilities(np.array([-5.0, 5.0]), fitted), 5 / 6, atol=1e-8)


@pytest.mark.parametrize("calibrator", ALL, ids=lambda calibrator: calibrator.name)
def test_weights_are_counts(calibrator):
    rng = np.random.default_rng(3)
    scores, counts = rng.normal(size=50), rng.integers(0, 4, 50)
    y = np.where(scores + rng.normal(size=50) > 0, 1, -1)
    weighted = calibrator.fit(scores, y, counts)
    repeated = calibrator.fit(*(np.repeat(part, counts) for part in (scores, y, np.ones(50))))
    grid = np.linspace(-3, 3, 50)
    P, Q = (calibrator.probabilities(grid, fitted) for fitted in (weighted, repeated))
    np.testing.assert_allclose(P, Q, atol=1e-7)
