import pytest

from audioclass.corpora.choosing import read_corpus
from audioclass.corpora.esc50 import Esc50
from audioclass.corpora.folders import Folders
from audioclass.data import Clip, Ignored
from audioclass.errors import CorpusError

HEADER = "filename,fold,target,category,esc10,src_file,take\n"


def test_folds_and_sources_are_those_of_the_table(written):
    lines = (
        "1-17-A-0.wav,1,0,dog,True,17,A\n5-9-A-40.wav,5,40,helicopter,False,9,A\ngone.wav,5,40,helicopter,True,9,B\n"
    )
    folder = written({"meta/esc50.csv": HEADER + lines, "audio/1-17-A-0.wav": "", "audio/5-9-A-40.wav": ""})
    corpus = Esc50().read(folder)
    assert corpus.clips == (
        Clip(folder / "audio" / "1-17-A-0.wav", "dog", group="17", fold="1"),
        Clip(folder / "audio" / "5-9-A-40.wav", "helicopter", group="9", fold="5"),
    )
    assert corpus.ignored == (Ignored(folder / "audio" / "gone.wav", "no such file"),)
    assert Esc50(esc10=True).read(folder).labels == ("dog",)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a.wav,1,0,dog,maybe,17,A", "line 2: esc10 'maybe' must be True or False"),
        ("../a.wav,1,0,dog,True,17,A", "line 2: filename '../a.wav' must be the name of a file in audio/"),
        ("a.wav,1,0,,True,17,A", "line 2: the label is empty"),
    ],
)
def test_a_wrong_line_is_named(written, line, message):
    folder = written({"meta/esc50.csv": HEADER + line, "audio/a.wav": ""})
    with pytest.raises(CorpusError, match=message):
        Esc50(esc10=True).read(folder)


@pytest.mark.parametrize("table", ["", "filename,fold\n"], ids=["empty", "other columns"])
def test_a_table_that_says_nothing_is_refused_and_its_folders_are_no_labels(written, table):
    folder = written({"meta/esc50.csv": table, "audio/a.wav": ""})
    with pytest.raises(CorpusError, match="esc50.csv"):
        read_corpus(folder, [Folders(), Esc50()])
