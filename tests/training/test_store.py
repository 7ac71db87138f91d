import numpy as np
import pytest

from audioclass.training.store import Store, computed, resumable


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
