"""Whatever stands in the files of a corpus, it is read or refused in one line, and no reader stumbles on a path."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.engine.corpus_reading import corpus_readers
from audioclass.errors import CorpusError
from audioclass.plugins.manager import plugin_manager
from audioclass.recordings import is_recording

MANAGER = plugin_manager(installed=False)
READERS = corpus_readers(MANAGER)
TEXTUAL = [reader for reader in READERS if reader.name not in ("folders", "fsdd")]
PIECES = st.one_of(
    st.binary(max_size=12),
    st.sampled_from(
        [b'"', b"\n", b"\t", b",", b";", b"\0", b"nan", b"-1", b"1e999", b"\xff\xfe", b"\xef\xbb\xbf", b"[", b"="]
    ),
)


def outcome(reader, path):
    """What reading gives: the number of clips, or the line that refuses."""
    try:
        return len(reader.read(path).clips), ""
    except CorpusError as error:
        return 0, str(error)


@settings(max_examples=60)
@pytest.mark.parametrize("reader", TEXTUAL, ids=lambda reader: reader.name)
@given(data=st.data())
def test_a_changed_file_is_read_or_refused_in_one_line(tmp_path_factory, reader, data):
    folder = tmp_path_factory.mktemp("corpus")
    path = reader.example(folder)
    texts = sorted(file for file in folder.rglob("*") if file.is_file() and not is_recording(file))
    file = data.draw(st.sampled_from(texts))
    content = file.read_bytes()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    file.write_bytes(content[:start] + data.draw(PIECES) + content[end:])
    assert reader.matches(path) in (True, False)
    n_entries, message = outcome(reader, path)
    assert n_entries <= 8
    assert "\n" not in message


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_no_path_makes_a_reader_stumble(tmp_path, reader):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / os.fsdecode(b"\xff.csv")).write_bytes(b"\0")
    for name in ("pipe.csv", "loop", os.fsdecode(b"\xff.csv"), "n" * 300, "nul\0.csv", "none/below.csv"):
        assert not reader.matches(tmp_path / name)
        with pytest.raises(CorpusError):
            reader.read(tmp_path / name)
