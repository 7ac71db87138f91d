import pytest

from audioclass.errors import PluginError
from audioclass.hookspecs import KINDS
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import read_manifest, write_manifest
from audioclass.plugins.sources import BUILTINS, Source, builtin_source


def offers_of(kind):
    return PluginManager([Source("third-party", "1.0", (f"audioclass.plugins.templates.{kind}",))]).offers()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_reads_back(kind):
    offers = offers_of(kind)
    assert list(read_manifest(write_manifest(offers), "third-party", "1.0")) == offers


def test_the_manifest_of_the_builtins_says_what_they_offer():
    offers = PluginManager([Source("audioclass", builtin_source().version, BUILTINS)]).offers()
    assert builtin_source().manifest == write_manifest(offers), "run `audioclass plugins manifest audioclass`"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = ", "audioclass-plugin.toml: "),
        ("schema = 2", "schema 2, this version reads 1"),
        ("", "schema None"),
        ("schema = 1\n[[offers]]\nkind = 'kernel'", "'name'"),
        ("schema = 1\n[[offers]]\nkind = 'kernl'\nname = 'a'\nsummary = ''\nmodule = 'm'", "did you mean 'kernel'"),
        ("schema = 1\n[[offers]]\nkind = 'kernel'\nname = 3\nsummary = ''\nmodule = 'm'", "name = 3 must be a text"),
        ("schema = 1\noffers = 3", "audioclass-plugin.toml: "),
        (
            "schema = 1\n[[offers]]\nkind = 'kernel'\nname = 'a'\nsummary = ''\nmodule = 'm'\n"
            "[[offers.parameters]]\nname = 'x'\ntype = 'float'\nlowest = 1",
            "unknown key of a parameter 'lowest'; did you mean 'low'",
        ),
    ],
)
def test_wrong_manifests_are_refused(text, message):
    with pytest.raises(PluginError, match=message):
        read_manifest(text, "third-party", "1.0")
