import pytest
from hypothesis import given
from hypothesis import strategies as st

from audioclass.errors import CorpusError, UsageError
from audioclass.taxonomy import Node, Taxonomy

NESTED = {"animal": {"cat": {}, "bird": ["crow", "owl"]}, "engine": {}}

names = st.text(st.characters(categories=["L", "N", "Zs", "P"]), min_size=1, max_size=6)
valid_names = names.filter(lambda name: name.strip() and name.isprintable())
trees = st.recursive(
    st.just({}), lambda below: st.dictionaries(valid_names, below, min_size=1, max_size=3), max_leaves=10
).filter(bool)


def test_walk_goes_from_the_root_to_the_leaves():
    taxonomy = Taxonomy.of(NESTED)
    assert [node.name for node in taxonomy.root.walk()] == ["", "animal", "cat", "bird", "crow", "owl", "engine"]
    assert taxonomy.labels == ("cat", "crow", "owl", "engine")
    assert [group.name for group in taxonomy.groups] == ["", "animal", "bird"]


def test_nodes_know_their_labels_and_paths():
    taxonomy = Taxonomy.of(NESTED)
    assert taxonomy.node("animal").labels == ("cat", "crow", "owl")
    assert taxonomy.path("owl") == ("animal", "bird", "owl")
    assert taxonomy.path("engine") == ("engine",)


def test_it_is_drawn_as_text():
    assert (
        Taxonomy.of(NESTED).draw()
        == "├── animal\n│   ├── cat\n│   └── bird\n│       ├── crow\n│       └── owl\n└── engine"
    )


@given(tree=trees)
def test_what_is_written_reads_back(tree, tmp_path_factory):
    try:
        taxonomy = Taxonomy.of(tree)
    except CorpusError:  # a group and a label of one name
        return
    path = tmp_path_factory.mktemp("taxonomy") / "taxonomy.toml"
    path.write_text(taxonomy.to_toml(), encoding="utf-8")
    assert Taxonomy.read(path) == taxonomy


def test_folders_are_a_tree(tmp_path):
    taxonomy = Taxonomy.of({"tier": {"Käuzchen": {}, "Ente": {}}, "maschine": {}})
    for path in taxonomy.leaf_paths:
        tmp_path.joinpath(*path).mkdir(parents=True)
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "notes.txt").write_text("not a label")
    assert set(Taxonomy.read(tmp_path).labels) == set(taxonomy.labels)
    assert Taxonomy.read(tmp_path).path("Ente") == ("tier", "Ente")


def test_paths_make_a_tree():
    assert Taxonomy.of_paths([("animal", "cat"), ("engine",), ("animal", "dog")]).draw().count("animal") == 1


def test_a_group_of_one_is_its_member():
    assert Taxonomy.of({"sound": {"animal": {"cat": {}}, "engine": {}}}).root == Node(
        "sound", (Node("cat"), Node("engine"))
    )


def test_a_single_label_is_a_taxonomy():
    taxonomy = Taxonomy.of(["speech"])
    assert taxonomy.labels == ("speech",)
    assert taxonomy.to_toml() == "[speech]\n"


def test_a_label_may_stand_in_several_groups():
    taxonomy = Taxonomy.of({"out": {"speech": {}, "bird": ["owl", "crow"]}, "in": ["music", "speech"]})
    assert taxonomy.labels == ("speech", "owl", "crow", "music")
    assert taxonomy.repeated == ("speech",)
    assert taxonomy.path("speech") == ("out", "in", "speech")
    assert taxonomy.path("owl") == ("out", "bird", "owl")
    assert ("in", "speech") in taxonomy.leaf_paths
    assert Taxonomy.of_paths(taxonomy.leaf_paths) == taxonomy


def test_a_label_stands_once_in_one_group():
    assert Taxonomy.of({"a": {"b": ["x"], "c": ["x"]}, "d": {}}).labels == ("x", "d")
    assert [node.name for node in Taxonomy.of({"a": {"b": ["x"], "c": ["x"]}, "d": {}}).root.walk()] == ["", "x", "d"]


@given(tree=trees)
def test_a_path_names_every_group_that_holds_a_label(tree):
    try:
        taxonomy = Taxonomy.of(tree)
    except CorpusError:  # a group and a label of one name
        return
    for label in taxonomy.labels:
        holding = {group.name for group in taxonomy.groups if label in group.labels} - {""}
        *above, itself = taxonomy.path(label)
        sizes = [len(taxonomy.node(name).labels) for name in above]
        assert (set(above), itself) == (holding, label)
        assert sizes == sorted(sizes, reverse=True)


def too_deep():
    nested = {}
    for _ in range(80):
        nested = {"a": nested, "b": {}}
    return nested


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        ({}, "the taxonomy is empty"),
        ({"animal": 3}, "animal: 3 must be a table or a list of names"),
        ({"animal": ["cat", 3]}, "animal: a list must hold names only"),
        ({"animal": ["cat", "cat"]}, "a name stands twice in one list"),
        ({"animal": ["animal", "cat"]}, "'animal' is the name of two nodes, and one of them is a group"),
        ({" ": ["cat", "dog"]}, "' ' cannot be a name"),
        ({"a\nb": ["cat", "dog"]}, "cannot be a name"),
        (too_deep(), "deeper than 64 groups"),
    ],
)  # fmt: skip
def test_wrong_trees_are_refused(nested, message):
    with pytest.raises(CorpusError, match=message):
        Taxonomy.of(nested)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"[animal", "not a TOML file"), (b"\xff\xfe", "not a TOML file"), (b"", "the taxonomy is empty")],
)
def test_wrong_files_are_refused(tmp_path, content, message):
    path = tmp_path / "taxonomy.toml"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        Taxonomy.read(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="nothing.toml: cannot be read: No such file"):
        Taxonomy.read(tmp_path / "nothing.toml")


def test_links_in_circles_are_refused(tmp_path):
    (tmp_path / "animal").mkdir()
    (tmp_path / "animal" / "again").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(CorpusError, match="a link that leads back"):
        Taxonomy.read(tmp_path)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["cat", "crow", "owl", "engine", "dog"], "label 'dog' is not in the taxonomy"),
        (["cat", "crow", "owl"], "the taxonomy has 'engine', which has no example"),
        (["cat", "crow", "owl", "engin", "engine"], "'engin' is not in the taxonomy; did you mean 'engine'"),
    ],
)
def test_labels_must_be_the_leaves(labels, message):
    with pytest.raises(CorpusError, match=message):
        Taxonomy.of(NESTED).check_labels(labels)


def test_the_leaves_are_labels():
    Taxonomy.of(NESTED).check_labels(["owl", "engine", "cat", "crow"])


@pytest.mark.parametrize("method", ["node", "path"])
def test_an_unknown_node_gets_a_suggestion(method):
    with pytest.raises(UsageError, match="unknown label or group 'owls'; did you mean 'owl'"):
        getattr(Taxonomy.of(NESTED), method)("owls")


def test_a_tree_is_as_deep_as_its_deepest_label():
    assert Taxonomy.of(["a", "b"]).depth == Taxonomy.of(["a"]).depth == 1
    assert Taxonomy.of({"all": ["a", "b"]}).depth == 1
    assert Taxonomy.of({"g": {"h": ["a", "b"], "c": {}}, "d": {}}).depth == 3


def test_a_tree_at_a_depth_lacks_what_lies_deeper():
    tree = Taxonomy.of({"g": {"h": ["a", "b"], "c": {}}, "d": {}})
    assert [tree.at_depth(depth).labels for depth in (1, 2, 3)] == [("g", "d"), ("h", "c", "d"), ("a", "b", "c", "d")]
    assert tree.at_depth(2).path("h") == ("g", "h")
    assert tree.at_depth(9) is tree
    with pytest.raises(UsageError, match="depth=0 must be a whole number of at least 1"):
        tree.at_depth(0)
