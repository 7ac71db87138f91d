import json

import numpy as np
import pytest

from audioclass.errors import UsageError
from audioclass.storage import Journal, Store, computed, resumable


def counting(value=1.0):
    calls = []

    def compute():
        calls.append(1)
        return {"x": np.full(3, value), "y": np.array([True])}

    return calls, compute


def test_what_was_computed_is_kept(tmp_path):
    calls, compute = counting()
    for _ in range(3):
        found = Store(tmp_path).computed("key", compute)
        assert found["x"].tolist() == [1, 1, 1]
        assert found["y"].dtype == bool
    assert len(calls) == 1


def test_another_key_is_another_entry(tmp_path):
    store = Store(tmp_path)
    store.computed("one", counting(1.0)[1])
    assert store.computed("two", counting(2.0)[1])["x"][0] == 2


@pytest.mark.parametrize("damage", [b"", b"text", None], ids=["empty", "text", "half"])
def test_a_damaged_entry_is_computed_again(tmp_path, damage):
    calls, compute = counting()
    Store(tmp_path).computed("key", compute)
    [path] = tmp_path.rglob("*.npz")
    path.write_bytes(path.read_bytes()[:100] if damage is None else damage)
    assert Store(tmp_path).computed("key", compute)["x"].tolist() == [1, 1, 1]
    assert len(calls) == 2


def test_a_byte_that_was_flipped_anywhere_does_no_harm(tmp_path):
    store, arrays = Store(tmp_path), {"a": np.arange(4.0), "b": np.eye(2)}
    store.computed("key", lambda: arrays)
    (path,) = tmp_path.rglob("*.npz")
    content = path.read_bytes()
    for place in range(0, len(content), 2):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x80]) + content[place + 1 :])
        again = store.computed("key", lambda: arrays)
        assert sorted(again) == ["a", "b"]
        assert all(np.array_equal(again[name], arrays[name]) for name in arrays)


def test_objects_are_never_opened(tmp_path):
    calls, compute = counting()
    store = Store(tmp_path)
    store.computed("key", compute)
    [path] = tmp_path.rglob("*.npz")
    np.savez(path, x=np.array([{}], object))
    assert store.computed("key", compute)["x"].tolist() == [1, 1, 1]
    assert len(calls) == 2


def test_a_place_that_cannot_be_written_costs_nothing_but_time(tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert Store(tmp_path / "file").computed("key", counting()[1])["x"].tolist() == [1, 1, 1]


def test_without_a_store_everything_is_computed():
    assert computed(None, lambda: 1 / 0, counting()[1])["x"].tolist() == [1, 1, 1]


def test_a_run_that_ends_leaves_nothing_and_one_that_stops_leaves_all(tmp_path):
    def stop():
        with resumable(tmp_path / "run") as store:
            store.computed("key", counting()[1])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert list((tmp_path / "run").rglob("*.npz"))
    with resumable(tmp_path / "run") as store:
        store.computed("key", lambda: 1 / 0)
    assert not (tmp_path / "run").exists()


def test_what_a_killed_process_left_is_swept_out_and_what_a_living_one_writes_is_not(tmp_path):
    store = Store(tmp_path)
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / ".abc.4194305.part").write_bytes(b"half")
    with store.writing("cd" * 32) as stream:
        stream.write(b"whole")
        Store(tmp_path).prepare()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["cd" * 32 + ".npz"]


def test_a_writer_that_fails_leaves_no_entry_and_its_own_error(tmp_path):
    with pytest.raises(OSError, match="microphone"), Store(tmp_path).writing("ab" * 32):
        raise OSError("microphone")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_journal_gives_back_its_lines_in_order(tmp_path):
    journal = Journal(tmp_path / "new" / "work.jsonl")
    assert journal.entries() == []
    for i in range(3):
        journal.append({"i": i, "é": "ü\n"})
    assert [entry["i"] for entry in journal.entries()] == [0, 1, 2]
    journal.restart({"i": 9})
    assert journal.entries() == [{"i": 9}]
    journal.remove()
    assert not journal.path.exists()


@pytest.mark.parametrize("cut", range(1, 9))
def test_a_journal_that_was_cut_short_loses_only_its_last_line(tmp_path, cut):
    journal = Journal(tmp_path / "work.jsonl")
    journal.append({"i": 0})
    journal.append({"i": 1})
    journal.path.write_bytes(journal.path.read_bytes()[:-cut])
    journal.append({"i": 2})
    assert [entry["i"] for entry in journal.entries()] == ([0, 1, 2] if cut == 1 else [0, 2])


def test_lines_that_are_no_tables_are_passed_over(tmp_path):
    journal = Journal(tmp_path / "work.jsonl")
    journal.path.write_bytes(b"\xff\xfe\n[1]\n\n" + json.dumps({"i": 1}).encode() + b"\n")
    assert journal.entries() == [{"i": 1}]


def test_a_journal_that_cannot_be_written_says_so_once(tmp_path):
    (tmp_path / "file").write_text("")
    journal = Journal(tmp_path / "file" / "work.jsonl")
    with pytest.warns(UserWarning, match=r"work.jsonl: cannot be written \(.*what is computed is not kept"):
        journal.restart({})
    journal.append({})
    journal.remove()
    with pytest.warns(UserWarning, match="what is computed is not kept"):
        Journal(tmp_path / "file" / "work.jsonl").append({})


def test_a_name_that_is_no_text_comes_back(tmp_path):
    Journal(tmp_path / "work.jsonl").append({"mark": "caf\udce9.wav"})
    assert Journal(tmp_path / "work.jsonl").entries() == [{"mark": "caf\udce9.wav"}]


def test_a_journal_that_cannot_be_read_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        Journal(tmp_path).entries()
