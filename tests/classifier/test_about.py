import pytest

from audioclass.classifier.about import BY_GROUP, BY_RECORDING, NOT_HELD_OUT, check_about, splits_of
from audioclass.errors import ModelError


def corpus(recordings, groups):
    return {"recordings": recordings, "groups": groups}


@pytest.mark.parametrize(
    ("about", "splits"),
    [
        ({"corpus": corpus(9, 3)}, BY_GROUP),
        ({"corpus": corpus(9, 9)}, BY_RECORDING),
        ({"corpus": corpus(9, 1)}, NOT_HELD_OUT),
        ({"corpus": corpus(9, 1), "updates": [{"corpus": corpus(4, 4)}]}, BY_GROUP),
        ({"corpus": corpus(9, 9), "updates": [{"corpus": corpus(4, 2)}]}, BY_GROUP),
        ({}, BY_GROUP),
    ],
    ids=["groups", "recordings", "one group", "one group and more", "recordings and groups", "not told"],
)
def test_the_words_follow_from_the_counts(about, splits):
    assert splits_of(about) is splits


@pytest.mark.parametrize("notes", ["a text", [1], [None], {"a": "b"}])
def test_notes_are_texts(notes):
    check_about({"notes": ["a text"]}, ["a", "b"], None)
    with pytest.raises(ModelError, match="notes"):
        check_about({"notes": notes}, ["a", "b"], None)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("long", "durations must be a table"),
        ({"segments": {"0.5": 1.0}}, "a median and the quantile 0.95"),
        ({"recordings": {"0.5": 1.0, "0.95": "long"}}, "positive seconds"),
        ({"labels": {"a": 0.0}}, "positive seconds"),
        ({"labels": {"a": 1.0}, "hop_is_stated": 1}, "whether the hop was stated"),
        ({"parts": None}, "how many segments are parts"),
    ],
)
def test_durations_are_seconds(stated, message):
    check_about({"durations": {"segments": {"0.5": 1.0, "0.95": 2.0}, "labels": {"a": 1.0}, "parts": 0.5}}, ["a"], None)
    with pytest.raises(ModelError, match=message):
        check_about({"durations": stated}, ["a"], None)
