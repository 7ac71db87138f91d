import gzip
import zipfile

import numpy as np
import pytest
from audioclass_lab.tables import read_table

from audioclass.errors import UsageError

CSV = "a,b,class\n1,2,x\n3,,y\n5,6,x\n"


def save(path, **arrays):
    """What `np.savez` does, which cannot name an array `file`."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(CSV)
    return tmp_path / "t.csv"


def test_the_last_column_is_the_label_and_gaps_are_filled_with_means(table):
    read = read_table(table)
    assert read.labels.tolist() == ["x", "y", "x"]
    np.testing.assert_array_equal(read.filled(), [[1, 2], [3, 4], [5, 6]])
    assert len(set(read.groups)) == 3


def test_compressed_tables_and_a_byte_order_mark_are_read(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"\xef\xbb\xbf" + CSV.encode()))
    assert read_table(tmp_path / "t.csv.gz").X.shape == (3, 2)


def test_columns_of_labels_and_groups_can_be_named(tmp_path):
    (tmp_path / "t.csv").write_text("who,kind,a\nann,x,1\nbob,y,2\n")
    read = read_table(tmp_path / "t.csv", label="kind", group="who")
    assert (read.labels.tolist(), read.groups.tolist(), read.X.tolist()) == (["x", "y"], ["ann", "bob"], [[1], [2]])


def test_sides_are_two_labels_or_one_against_the_rest(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,é\n2,y\n3,z\n")
    read = read_table(tmp_path / "t.csv")
    assert read.sides("é")[1].tolist() == [1, -1, -1]
    table, y = read.sides("y", "z")
    assert (y.tolist(), table.X.tolist()) == ([1, -1], [[2], [3]])
    with pytest.raises(UsageError, match="3 labels, say which one"):
        read.sides()
    with pytest.raises(UsageError, match="unknown label 'w'"):
        read.sides("w")


def test_one_label_has_no_two_sides(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n1,x\n2,x\n")
    with pytest.raises(UsageError, match="every example is 'x'"):
        read_table(tmp_path / "t.csv").sides("x")


def test_features_of_extract_find_their_labels(tmp_path):
    save(tmp_path / "f.npz", X=np.arange(6.0).reshape(3, 2), file=[0, 0, 1], files=["a/é.wav", "b.wav"])
    (tmp_path / "l.csv").write_text("file,label,group\né.wav,speech,g1\nb.wav,music,g2\n", encoding="utf-8")
    read = read_table(tmp_path / "f.npz", labels=tmp_path / "l.csv")
    assert read.labels.tolist() == ["speech", "speech", "music"]
    assert read.groups.tolist() == ["g1", "g1", "g2"]
    (tmp_path / "f.csv").write_text("file,start,end,v\né.wav,0,1,5\nb.wav,0,1,7\n", encoding="utf-8")
    assert read_table(tmp_path / "f.csv", labels=tmp_path / "l.csv").X.tolist() == [[5], [7]]


def test_a_feature_file_may_hold_its_labels(tmp_path):
    np.savez(tmp_path / "f.npz", X=np.eye(2), label=np.array(["x", "y"]))
    assert read_table(tmp_path / "f.npz").labels.tolist() == ["x", "y"]


def test_the_digest_tells_tables_apart(table, tmp_path):
    (tmp_path / "u.csv").write_text(CSV.replace("5", "4"))
    assert read_table(table).digest == read_table(table).digest != read_table(tmp_path / "u.csv").digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows below a header"),
        ("a,b\n", "no rows below a header"),
        ("a,label\n1,x,3\n", "line 2: 3 fields where the header has 2"),
        ("a,label\n1,x\none,y\n", "line 3: a='one' must be a number"),
        ("a,label\ninf,x\n", "a='inf' must be a number"),
        ("label\nx\n", "no column of features besides label"),
    ],
)
def test_hostile_tables_are_one_line(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(UsageError, match=message):
        read_table(tmp_path / "t.csv")


def test_missing_files_and_columns_are_one_line(tmp_path, table):
    with pytest.raises(UsageError, match="no.csv: cannot be read: No such file"):
        read_table(tmp_path / "no.csv")
    with pytest.raises(UsageError, match="unknown column 'clas'; did you mean 'class'"):
        read_table(table, label="clas")
    (tmp_path / "l.csv").write_text("name\nx\n")
    with pytest.raises(UsageError, match="must have the columns file and label"):
        read_table(table, labels=tmp_path / "l.csv")
    (tmp_path / "l.csv").write_text("file,label\nx,y\n")
    save(tmp_path / "f.npz", X=np.eye(1), file=[0], files=["b.wav"])
    with pytest.raises(UsageError, match="no label for b.wav"):
        read_table(tmp_path / "f.npz", labels=tmp_path / "l.csv")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut", b"\xff\xfe"])
def test_damaged_feature_files_are_one_line(tmp_path, content):
    (tmp_path / "f.npz").write_bytes(content)
    with pytest.raises(UsageError, match="f.npz: "):
        read_table(tmp_path / "f.npz")


def test_feature_files_of_other_arrays_are_one_line(tmp_path):
    np.savez(tmp_path / "f.npz", Y=np.eye(2))
    with pytest.raises(UsageError, match="no array X; say labels with --labels"):
        read_table(tmp_path / "f.npz")
    np.savez(tmp_path / "f.npz", X=np.eye(3), label=np.array(["x"]))
    with pytest.raises(UsageError, match=r"features of shape \(3, 3\) for 1 labels"):
        read_table(tmp_path / "f.npz")


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
def test_bytes_that_are_no_text_are_one_line(tmp_path, name):
    (tmp_path / name).write_bytes(b"a,label\n\xff\xfe,x\n")
    with pytest.raises(UsageError, match="t.csv"):
        read_table(tmp_path / name)
