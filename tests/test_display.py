"""Foreign texts are shown and never obeyed."""

import json

import pytest

from audioclass.display import encodable, printable, printable_json, printable_lines

HOSTILE = "a\x1b]0;owned\x07\tb\nforged\r\x7f\x9b31m\u202egnp.\u2028c\udce9\ud800é音"
SHOWN = r"a\x1b]0;owned\x07\tb\nforged\r\x7f\x9b31m\u202egnp.\u2028c\xe9\ud800é音"


def test_nothing_is_obeyed_and_nothing_is_lost():
    assert printable(HOSTILE) == SHOWN
    assert printable(SHOWN) == SHOWN
    assert printable("C:\\été\\a b.wav") == "C:\\été\\a b.wav"


def test_lines_and_columns_may_stay():
    assert printable_lines("a\tb\nc\x1b") == "a\tb\nc\\x1b"


def test_only_bytes_that_are_no_text_are_changed_for_files():
    assert encodable("caf\udce9\n\x1b") == "caf\\xe9\n\x1b"


@pytest.mark.parametrize("text", ["a\nb\x1b\x7f\x9b\u202e\u2028", "plain \\ é"])
def test_json_holds_the_same_values(text):
    shown = printable_json(json.dumps([text], ensure_ascii=False))
    assert json.loads(shown) == [text]
    assert shown.isprintable()


def test_bytes_that_are_no_text_are_spelt_in_json_as_everywhere():
    assert json.loads(printable_json(json.dumps("caf\udce9", ensure_ascii=False))) == "caf\\xe9"
