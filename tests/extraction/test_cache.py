import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from runs import recipe as load_recipe
from signals import noise

from audioclass.data import Block, Features
from audioclass.extraction.cache import Cache, cache_key
from audioclass.extraction.extract import extract_features

RECIPE = load_recipe("broadcast")
BLOCKS = [Block(noise(5.0)[:, None], 16000)]
KEY = "ab" + "0" * 62
SMALL = next(extract_features(BLOCKS, RECIPE))


@pytest.fixture
def cache(tmp_path):
    made = Cache(tmp_path / "cache")
    made.prepare()
    return made


def write(cache, key=KEY):
    return cache.write(key, extract_features(BLOCKS, RECIPE), RECIPE)


def test_what_is_written_reads_back_to_the_bit(cache):
    written, expected = write(cache), Features.joined(extract_features(BLOCKS, RECIPE), RECIPE.columns, RECIPE.groups)
    found = cache.find(KEY)
    assert found == written
    assert np.array_equal(found.load(RECIPE).X, expected.X)
    assert found.load(RECIPE).segments == expected.segments
    assert found.seconds == pytest.approx(5.0)


def test_what_was_not_written_is_not_found(cache):
    assert cache.find(KEY) is None


def test_a_failure_leaves_nothing(cache):
    def failing():
        yield from extract_features(BLOCKS, RECIPE)
        raise OSError("disk is gone")

    with pytest.raises(OSError, match="disk is gone"):
        cache.write(KEY, failing(), RECIPE)
    assert [path for path in cache.folder.rglob("*") if path.is_file()] == []


def damage(path, how):
    content = path.read_bytes()
    if how == "about":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("about.json", json.dumps({"n_rows": 3}))
    else:
        path.write_bytes({"cut": content[: len(content) // 2], "empty": b"", "text": b"no zip"}[how])


@pytest.mark.parametrize("how", ["cut", "empty", "text", "about"])
def test_a_damaged_entry_counts_as_none(cache, how):
    damage(write(cache).path, how)
    assert cache.find(KEY) is None
    assert write(cache).n_rows == cache.find(KEY).n_rows


def test_a_byte_that_was_flipped_anywhere_does_no_harm(cache):
    entry = cache.write(KEY, [SMALL], RECIPE)
    content, expected = entry.path.read_bytes(), entry.load(RECIPE).X
    for place in range(0, len(content), 3):
        entry.path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        found = cache.find(KEY)
        assert found is None or np.array_equal(found.load(RECIPE).X, expected)
    entry.path.write_bytes(content)
    assert cache.find(KEY) == entry


def test_an_entry_of_something_else_counts_as_none(cache):
    other = cache.write("cd" + "0" * 62, [SMALL], RECIPE)
    cache.store.place(KEY).parent.mkdir(exist_ok=True)
    cache.store.place(KEY).write_bytes(other.path.read_bytes())
    assert cache.find(KEY) is None


def test_an_entry_with_what_is_not_a_number_counts_as_none(cache):
    X = SMALL.X.copy()
    X[1, 7] = np.nan
    cache.write(KEY, [replace(SMALL, X=X)], RECIPE)
    assert cache.find(KEY) is None


def test_what_a_killed_process_left_is_swept_out(cache):
    (cache.folder / "ab").mkdir()
    dead = cache.folder / "ab" / ".abc.4194305.part"
    dead.write_bytes(b"half")
    cache.prepare()
    assert not dead.exists()


def test_what_a_living_process_writes_is_left_alone(cache):
    def chunks():
        yield from extract_features(BLOCKS, RECIPE)
        Cache(cache.folder).prepare()  # another batch begins while this one writes

    cache.write(KEY, chunks(), RECIPE)
    assert cache.find(KEY) is not None


def test_the_key_is_made_of_content_and_recipe(tmp_path):
    for name, content in (("a.wav", b"same"), ("b.wav", b"same"), ("c.wav", b"other")):
        (tmp_path / name).write_bytes(content)
    a, b, c = (cache_key(tmp_path / name, RECIPE) for name in ("a.wav", "b.wav", "c.wav"))
    assert a == b != c
    assert cache_key(tmp_path / "a.wav", load_recipe("environment22")) != a
