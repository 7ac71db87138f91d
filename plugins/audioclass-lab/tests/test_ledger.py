import pytest
from audioclass_lab.ledger import Ledger

from audioclass.errors import UsageError


def test_a_point_is_computed_once(tmp_path):
    calls = []

    def work():
        calls.append(1)
        return {"value": 0.5}

    for _ in range(2):
        assert Ledger(tmp_path / "new" / "l.jsonl").once({"sigma": 1.0, "é": "ü"}, work) == {"value": 0.5}
    assert len(calls) == 1


def test_a_line_that_was_cut_short_is_computed_again_and_spoils_nothing(tmp_path):
    path = tmp_path / "l.jsonl"
    Ledger(path).once({"a": 1}, lambda: {"value": 1})
    Ledger(path).once({"a": 2}, lambda: {"value": 2})
    path.write_bytes(path.read_bytes()[:-5])
    ledger = Ledger(path)
    assert len(ledger) == 1
    assert ledger.once({"a": 2}, lambda: {"value": 3}) == {"value": 3}
    assert len(Ledger(path)) == 2


@pytest.mark.parametrize("content", [b"\xff\xfe\n", b"[1]\n", b'{"point": 1, "result": 2}\n', b'{"x": {}}\n'])
def test_foreign_lines_are_passed_over(tmp_path, content):
    (tmp_path / "l.jsonl").write_bytes(content)
    assert len(Ledger(tmp_path / "l.jsonl")) == 0


def test_without_a_path_results_last_for_the_run():
    ledger = Ledger()
    ledger.once({"a": 1}, lambda: {"value": 1})
    assert ledger.once({"a": 1}, lambda: {"value": 2}) == {"value": 1}


def test_places_that_cannot_be_used_are_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be read: Not a directory"):
        Ledger(tmp_path / "file" / "l.jsonl").once({}, dict)
    with pytest.raises(UsageError, match="cannot be read"):
        Ledger(tmp_path)
