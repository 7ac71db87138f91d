import numpy as np
from segmentation.windows import windows_of

from audioclass.data import Posteriors, Segment
from audioclass.reports.curves import OTHERS, curves_of


def test_few_windows_stay_as_they_are():
    posteriors = windows_of([[0.2, 0.8], [0.5, 0.5], [1, 0]], length=2.0, hop=1.0)
    curves = curves_of(posteriors)
    np.testing.assert_array_equal(curves.values, posteriors.P)
    assert curves.edges.tolist() == [0, 1.5, 2.5, 4]


def test_many_windows_become_means_of_neighbours():
    posteriors = windows_of([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]])
    curves = curves_of(posteriors, most_columns=3)
    assert curves.values[:, 0].tolist() == [0.5, 1, 0]
    assert curves.edges.tolist() == [0, 2, 4, 5]


def test_many_labels_become_the_largest_and_the_rest():
    P = np.array([[0.1, 0.4, 0.2, 0.3]])
    curves = curves_of(Posteriors(P, tuple("abcd"), (Segment(0, 1),)), most_labels=3)
    assert curves.labels == ("b", "d", OTHERS)
    np.testing.assert_allclose(curves.values, [[0.4, 0.3, 0.3]])


def test_no_windows_are_no_columns():
    curves = curves_of(windows_of(np.empty((0, 2))))
    assert curves.values.shape == (0, 2)
    assert curves.edges.tolist() == [0]
