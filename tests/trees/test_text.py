import xml.etree.ElementTree as ET

import dendropy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audioclass.errors import UsageError
from audioclass.strategies.additive import Additive
from audioclass.strategies.weighted import SOLVERS, Weighted
from audioclass.taxonomy import Taxonomy
from audioclass.trees.branches import Branch, of_taxonomy, random_tree
from audioclass.trees.drawing import draw_lines, draw_svg
from audioclass.trees.newick import read_newick, write_newick
from audioclass.trees.reading import read_toml
from audioclass.trees.text import WrittenTree

FORMS = {"additive": Additive(), "weighted": Weighted(SOLVERS["one_vs_one"]())}
odd_names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8).filter(
        str.strip
    ),
    min_size=2,
    max_size=9,
    unique=True,
)


def tree_from(nested, height=1.0):
    if isinstance(nested, int):
        return Branch.leaf(nested)
    return Branch.group([tree_from(part, height / 2) for part in nested], height)


def written(tree, labels, form="additive", **changes):
    facts = [
        {
            "positive": [labels[k] for k in dichotomy.positive],
            "negative": [labels[k] for k in dichotomy.negative],
            "kernel": {"name": "gaussian", "sigma": 0.5 + i},
            "C": 10.0,
            "examples": 7 * i,
            "support_vectors": 3,
            "log_loss": 0.1 * i,
            **changes,
        }
        for i, dichotomy in enumerate(FORMS[form].dichotomies(tree))
    ]
    return WrittenTree.of(tree, labels, form, facts)


FIVE = written(tree_from([[0, 1], [2, 3, 4]]), ("cat", "dog", "engine", "it's", "rain, heavy"))


# --- read back


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(labels=odd_names, seed=st.integers(0, 100))
def test_both_texts_give_the_tree_back_whatever_the_names(form, labels, seed):
    labels = sorted(labels)
    tree = random_tree(len(labels), np.random.default_rng(seed))
    before = written(tree, labels, form)
    assert read_toml(before.to_toml()) == before
    assert read_newick(write_newick(before)) == before


@pytest.mark.parametrize("form", FORMS)
def test_a_label_in_several_groups_survives(form):
    before = written(tree_from([[0, 1], [1, 2]]), ("a", "b", "c"), form)
    assert read_toml(before.to_toml()) == before
    assert read_newick(write_newick(before)) == before


def test_dendropy_reads_the_same_tree():
    tree = dendropy.Tree.get(data=write_newick(FIVE), schema="newick", preserve_underscores=True)
    assert sorted(leaf.taxon.label for leaf in tree.leaf_node_iter()) == list(FIVE.labels)
    groups = {
        tuple(sorted(leaf.taxon.label for leaf in node.leaf_iter())) for node in tree.preorder_internal_node_iter()
    }
    assert groups == {FIVE.labels, FIVE.labels[:2], FIVE.labels[2:]}
    distances = tree.calc_node_root_distances()
    assert distances == pytest.approx([1.0] * 5)
    cat = tree.find_node_with_taxon_label("cat")
    assert cat.annotations.get_value("C") == "10.0"
    assert cat.annotations.get_value("positive") == "cat"


def test_what_dendropy_writes_is_read():
    text = dendropy.Tree.get(data="((a:1,b:1):2,(c:2,d:2):1);", schema="newick").as_string(schema="newick")
    read = read_newick(text)
    assert read.labels == ("a", "b", "c", "d")
    assert [node.labels for node in read.tree.children] == [(0, 1), (2, 3)]
    assert [node.height for node in read.tree.walk() if node.children] == [3.0, 1.0, 2.0]
    assert read.machines == {}


def test_groups_have_the_names_of_a_taxonomy():
    tree = tree_from([[0, 1], [2, 3, 4]])
    named = WrittenTree.of(tree, FIVE.labels, "additive", [], {("cat", "dog"): "animal"})
    assert named.names == ("group 1", "animal", "cat", "dog", "group 2", "engine", "it's", "rain, heavy")
    assert read_toml(named.to_toml()).names == named.names


def test_a_machine_stands_at_its_node():
    owners = {name: [sorted(d.positive) for d, _ in machines] for name, _, machines in FIVE.nodes}
    assert owners["cat"] == [[0]]
    assert owners["group 2"] == [[0, 1]]  # which tells the other group from it as well
    both = {name: len(machines) for name, _, machines in written(FIVE.tree, FIVE.labels, "weighted").nodes}
    assert both == {"group 1": 1, "group 2": 1, "group 3": 3} | dict.fromkeys(FIVE.labels, 0)


# --- what is wrong


def edited(old, new):
    text = FIVE.to_toml()
    assert old in text
    return text.replace(old, new)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a = [", "not a TOML text"),
        ("schema = 9", "schema 9 must be 1"),
        ("schema = 1\nlabels = ['a']", "no \\[\\[node\\]\\] table"),
        ("schema = 1\nnode = 3", "node must be tables"),
        (edited('form = "additive"', 'form = "aditive"'), "unknown form of a tree 'aditive'; did you mean 'additive'"),
        (edited('members = ["cat", "dog"]', 'members = ["cat", "dgo"]'), "unknown label or group 'dgo'; did you mean"),
        (edited('members = ["cat", "dog"]', 'members = ["cat"]'), "'dog' is in no group|'group 2' is in no group"),
        (edited('members = ["cat", "dog"]', 'members = ["cat", "group 1"]'), "'group 1' stands in itself"),
        (edited('members = ["cat", "dog"]', 'members = ["cat", "cat"]'), "a name stands twice in members"),
        (edited('members = ["cat", "dog"]', "members = []"), "members is \\[\\], must be a list of names"),
        (edited('name = "group 2"', 'name = "group 3"'), "two nodes have the same name"),
        (edited('name = "group 2"', "name = 2"), "name 2 of a node must be a text"),
        (edited("height = 0.5", "height = -1"), "height -1 of 'group 2' must be a number of at least 0"),
        (edited("C = 10.0", "C = 0"), "C=0 of a machine must be positive and finite"),
        (edited('positive = ["cat"]', 'positive = ["kat"]'), "unknown label 'kat'; did you mean 'cat'"),
        (edited('positive = ["cat"]', 'positive = ["cat", "dog"]'), "'dog' is on both sides of a machine"),
        (edited('name = "gaussian", ', ""), "kernel .* of a machine must be a table with a name"),
    ],
)  # fmt: skip
def test_wrong_texts_are_one_line(text, match):
    with pytest.raises(UsageError, match=match) as error:
        read_toml(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "a leaf without a name"),
        ("a;", "a single leaf is no tree"),
        ("(a,b", "open bracket that is not closed"),
        ("(a,b));", "'\\)' where Newick's tree ends"),
        ("(a,);", "a leaf without a name"),
        ("(a:x,b);", "length 'x' of a branch must be a number"),
        ("(a,b)'c", "cannot be read as Newick's notation"),
        ("(a[&positive=a,negative=b,kernel=k,C={],b);", "C=None of a machine must be positive|no JSON"),
        ("(" * 100 + "a" + ")" * 100, "deeper than 64 groups"),
        ("(a:nan,b[&height=nan])c[&height=nan];", "height nan of 'c' must be a number of at least 0"),
    ],
)
def test_wrong_newick_is_one_line(text, match):
    with pytest.raises(UsageError, match=match) as error:
        read_newick(text)
    assert "\n" not in str(error.value)


@settings(max_examples=100)
@given(st.text(max_size=60) | st.text("()[]&=,:;'ab1{}|%", max_size=60))
def test_any_text_is_a_tree_or_one_line(text):
    assert "\n" not in complaint(read_toml, text) + complaint(read_newick, text)


def complaint(read, text):
    """What is said of a text; nothing where it is a tree."""
    try:
        read(text)
    except UsageError as error:
        return str(error)
    return ""


# --- the taxonomy of a tree


@settings(max_examples=30)
@given(labels=odd_names.map(lambda names: [name.strip() for name in names]), seed=st.integers(0, 100))
def test_the_full_taxonomy_is_the_tree(labels, seed):
    labels = sorted({label for label in labels if label.isprintable() and not label.startswith("group ")} | {"a", "b"})
    tree = random_tree(len(labels), np.random.default_rng(seed))
    again = of_taxonomy(written(tree, labels).full_taxonomy, labels)
    assert {node.labels for node in again.walk()} == {node.labels for node in tree.walk()}


def test_groups_without_a_name_are_not_in_the_taxonomy():
    named = WrittenTree.of(
        tree_from([[0, [1, 2]], [3, 4]]), FIVE.labels, "additive", [], {("cat", "dog", "engine"): "x"}
    )
    assert named.taxonomy == Taxonomy.of({"x": ["cat", "dog", "engine"], "it's": {}, "rain, heavy": {}})
    assert named.named_groups == {(0, 1, 2): "x"}


# --- drawn


def test_lines_by_hand():
    tree = tree_from([[0, 1], 2])
    lines = draw_lines(written(tree, ("a", "b", "c"), examples=9, log_loss=0.25, kernel={"name": "linear"}))
    said = "log-loss 0.250, 9 examples, 3 support vectors, linear C=10"
    assert lines == [
        "group 1",
        "├── group 2",
        f"│   ├── a  ({said})",
        f"│   └── b  ({said})",
        f"└── c  ({said})",
    ]


def test_a_node_of_several_machines_says_their_span():
    lines = draw_lines(written(tree_from([0, 1, 2]), ("a", "b", "c"), "weighted"))
    assert lines[0] == "group 1  (3 machines, log-loss 0.000 to 0.200, 0 to 14 examples, 3 support vectors, 3 kernels)"


def test_the_picture_is_well_formed_and_has_every_name():
    root = ET.fromstring(draw_svg(FIVE))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted(FIVE.names)
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == len(FIVE.names) - 1


@settings(max_examples=20)
@given(labels=odd_names, seed=st.integers(0, 20))
def test_any_names_can_be_drawn(labels, seed):
    tree = random_tree(len(labels), np.random.default_rng(seed))
    some = written(tree, sorted(labels))
    ET.fromstring(draw_svg(some))
    assert len(draw_lines(some)) == len(some.names)
