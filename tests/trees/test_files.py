import pytest
from trees.test_text import FIVE

from audioclass.errors import UsageError
from audioclass.trees.files import READERS, SUFFIXES, WRITERS, read_tree, tree_format


@pytest.mark.parametrize("suffix", [suffix for suffix, form in SUFFIXES.items() if form in READERS])
def test_what_is_written_is_read(suffix, tmp_path):
    path = tmp_path / f"tree{suffix.upper()}"
    path.write_text(WRITERS[tree_format(path)](FIVE), encoding="utf-8")
    assert read_tree(path) == FIVE


def test_a_stated_format_wins(tmp_path):
    assert tree_format(tmp_path / "x.svg", "newick") == "newick"
    assert tree_format() == tree_format(tmp_path / "x") == "toml"


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("t.json", b"{}", "t.json: suffix '.json' is no format of a tree, must be .toml, .nwk, .newick, .svg"),
        ("t.svg", b"<svg/>", "t.svg: a tree is not read from svg, only from toml or newick"),
        ("t.toml", b"\xff", "t.toml: not a text in UTF-8"),
        ("t.toml", b"schema = 9", "t.toml: tree: schema 9 must be 1"),
        ("absent.toml", None, "absent.toml: cannot be read: No such file"),
    ],
)
def test_wrong_files_are_one_line(name, content, match, tmp_path):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UsageError, match=match):
        read_tree(tmp_path / name)


def test_an_unknown_format_is_refused():
    with pytest.raises(UsageError, match="unknown format of a tree 'newik'; did you mean 'newick'"):
        tree_format(stated="newik")
