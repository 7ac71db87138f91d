import pytest

from audioclass.errors import PluginError
from audioclass.hookspecs import KINDS
from audioclass.plugins.manager import PluginManager
from audioclass.plugins.manifests import read_manifest, write_manifest
from audioclass.plugins.sources import PluginSource


def entries_of(kind):
    return PluginManager([PluginSource("third-party", "1.0", (f"audioclass.plugins.templates.{kind}",))]).entries()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_reads_back(kind):
    entries = entries_of(kind)
    assert list(read_manifest(write_manifest(entries), "third-party", "1.0")) == entries


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema = ", "audioclass-plugin.toml: "),
        ("schema = 1", "schema 1, this version reads 2; `audioclass plugins manifest` writes it anew"),
        ("schema = 2\napi = 99", "made for API 99, this audioclass has API 1; upgrade audioclass"),
        ("", "schema None"),
        ("schema = 2\n[[entries]]\nkind = 'kernel'", "'name'"),
        ("schema = 2\n[[entries]]\nkind = 'kernl'\nname = 'a'\nsummary = ''\nmodule = 'm'", "did you mean 'kernel'"),
        ("schema = 2\n[[entries]]\nkind = 'kernel'\nname = 3\nsummary = ''\nmodule = 'm'", "name = 3 must be a text"),
        ("schema = 2\nentries = 3", "audioclass-plugin.toml: "),
        (
            "schema = 2\n[[entries]]\nkind = 'kernel'\nname = 'a'\nsummary = ''\nmodule = 'm'\n"
            "[[entries.parameters]]\nname = 'x'\ntype = 'float'\nlowest = 1",
            "unknown key of a parameter 'lowest'; did you mean 'low'",
        ),
    ],
)
def test_wrong_manifests_are_refused(text, message):
    with pytest.raises(PluginError, match=message):
        read_manifest(text, "third-party", "1.0")
