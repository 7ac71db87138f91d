import pytest
from formats.results import read_back

from audioclass.formats.audacity import Audacity


def test_frequency_lines_are_passed_over_and_missing_labels_are_empty():
    text = "\ufeff0.5\t1.25\tdog, barking\r\n\\\t100.0\t4000.0\r\n\r\n2\t3\tété\r\n4\t4\tclick\r\n5\t6\r\n"
    assert read_back(Audacity(), text) == [(0.5, 1.25, "dog, barking"), (2, 3, "été"), (4, 4, "click"), (5, 6, "")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0\t1\tdog", True),
        ("0,5\t1,5\tdog", True),
        ("0\t1", True),
        ("3\t1\tdog", False),
        ("Dear all,\t1", False),
        ("", False),
        ("7", False),
    ],
)
def test_a_letter_is_no_label_track(line, expected):
    assert Audacity().recognises(line) is expected
