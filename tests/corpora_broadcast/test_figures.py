import numpy as np
import pytest
from figures import TOP, Judged, label_table, part_table, treatment_table
from judge import write_section
from plan import Clip

SPEECH, MUSIC, ENVIRONMENT = (TOP.index(label) for label in ("speech", "music", "environment"))


def judged(y, estimated, sure=0.7):
    P = np.full((len(y), 4), (1 - sure) / 3)
    P[np.arange(len(y)), estimated] = sure
    return Judged(np.array([f"clip {i}" for i in range(len(y))]), P, np.array(y), np.array(["one"] * len(y)))


def test_windows_become_clips_and_leaves_their_groups():
    P = np.array([[0.4, 0.4, 0.2], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    labels, y, groups = ("animal", "impact", "speech"), np.array([0, 0, 2]), np.array(["x", "x", "y"])
    found = Judged.of_windows(labels, y, P, ["a", "a", "b"], groups, lambda rows: rows.mean(axis=0))
    assert found.P[0, ENVIRONMENT] == pytest.approx(0.75)
    assert list(found.y) == [ENVIRONMENT, SPEECH]
    assert list(found.groups) == ["x", "y"]


def test_leaves_are_summed_before_windows_are_combined():
    P = np.array([[0.9, 0.0, 0.1], [0.0, 0.9, 0.1]])  # animal, then impact: environment all the time
    found = Judged.of_windows(
        ("animal", "impact", "speech"),
        np.array([0, 0]),
        P,
        ["a", "a"],
        np.array(["x", "x"]),
        lambda rows: rows.min(axis=0),
    )
    assert found.P[0, ENVIRONMENT] == pytest.approx(0.9)


def test_recall_and_precision_by_hand():
    found = judged([SPEECH, SPEECH, SPEECH, SPEECH, MUSIC], [SPEECH, SPEECH, SPEECH, MUSIC, MUSIC])
    assert (found.recall(SPEECH), found.precision(SPEECH)) == (0.75, 1.0)
    assert (found.recall(MUSIC), found.precision(MUSIC)) == (1.0, 0.5)


def test_the_calibration_error_is_the_gap_between_sureness_and_truth():
    found = judged([SPEECH] * 10, [SPEECH] * 8 + [MUSIC] * 2, sure=0.7)
    assert found.calibration_error == pytest.approx(0.1)


def test_tables_tell_what_clips_were_called():
    found = judged([SPEECH] * 12, [SPEECH] * 9 + [MUSIC] * 3)
    assert "| speech | 12 | 0.750 | 1.000 |" in label_table(found)
    assert "| one | speech | 12 | speech 0.75, music 0.25 |" in part_table(found, found.groups, "source")


def test_a_clip_counts_for_each_of_its_treatments():
    found = judged([SPEECH] * 10, [SPEECH] * 10)
    both = (("noise", {}), ("mp3", {}), ("level", {}))
    table = treatment_table(found, {name: Clip(name, "speech", "one", 5.0, (), both) for name in found.names})
    assert "| in noise | speech | 10 | speech 1.00 |" in table
    assert "| coded as MP3 | speech | 10 | speech 1.00 |" in table
    assert "none of these" not in table


def test_a_section_of_a_card_takes_the_place_of_the_one_before(tmp_path):
    card = tmp_path / "card.md"
    card.write_text("# card\n\n## One\n\nold\n\n## Two\n\nstays\n")
    write_section(card, "## One", "new")
    assert card.read_text() == "# card\n\n## One\n\nnew\n\n## Two\n\nstays\n"
    write_section(card, "## Two", "last")
    assert card.read_text() == "# card\n\n## One\n\nnew\n\n## Two\n\nlast\n"
