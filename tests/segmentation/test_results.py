import importlib

import numpy as np
from segmentation.windows import certain, drawn, part, segments_of

from audioclass.segmentation.back_off import BackOffPath
from audioclass.segmentation.results import SegmentStream, classified_windows, result_of
from audioclass.segmentation.smoothing import WindowSmoother
from audioclass.smoothers.moving import MovingAverage
from audioclass.smoothers.none import NoSmoothing
from audioclass.taxonomy import Taxonomy

Foreign = importlib.import_module("audioclass.plugins.templates.smoother").ExampleName


def test_a_smoother_that_wants_the_whole_recording_gives_all_at_the_end():
    posteriors = certain("aaabaaa")
    foreign = segments_of(posteriors, smoother=Foreign(reach=1), sizes=[2, 3])
    own = segments_of(posteriors, smoother=MovingAverage(3))
    assert drawn(foreign) == drawn(own) == "a7"
    np.testing.assert_allclose(foreign[0][3], own[0][3])


def test_windows_meet_their_posteriors_again():
    posteriors = certain("aabb")
    smoother = WindowSmoother(MovingAverage(3), posteriors.labels)
    assert smoother.push(part(posteriors, 0, 1)).segments == ()
    final = smoother.push(part(posteriors, 1, 4))
    assert final.segments == posteriors.segments[:3]
    assert final.P.argmax(axis=1).tolist() == [0, 0, 1]
    assert smoother.finish().segments == posteriors.segments[3:]


def test_windows_are_rows_of_a_result_too():
    posteriors = certain("ab")
    windows = WindowSmoother(NoSmoothing(), posteriors.labels).push(posteriors)
    rows = classified_windows(windows, BackOffPath(posteriors.labels, None, 0.0))
    result = result_of((("x.wav", row) for row in rows), posteriors.labels)
    assert [segment.label for segment in result.segments] == ["a", "b"]
    np.testing.assert_array_equal(result.P, posteriors.P)


def test_a_result_knows_files_and_paths():
    posteriors = certain("ab")
    stream = SegmentStream("ab", NoSmoothing())
    rows = [("é.wav", row) for row in (*stream.push(posteriors), *stream.finish())]
    result = result_of(rows, "ab", Taxonomy.of({"x": ["a", "c"], "b": {}}))
    assert result.files == ("é.wav", "é.wav")
    assert result.paths == (("x", "a"), ("b",))


def test_no_segments_are_an_empty_result():
    assert result_of([], "ab").P.shape == (0, 2)
