import hashlib

import pytest

from audioclass.corpora.corpus_folder import CorpusFolder
from audioclass.data import Ignored
from audioclass.errors import CorpusError

SEGMENTS = "file,start,end,label,fold\naudio/a.wav,0,1,dog,1\naudio/b.wav,1,2,cat,2\n"
FILES = {"audio/a.wav": "", "audio/b.wav": "", "segments.csv": SEGMENTS}
DIGEST = hashlib.sha256(b"").hexdigest()


def test_segments_alone_are_a_corpus(written):
    corpus = CorpusFolder().read(written(FILES))
    assert [(clip.label, clip.fold, clip.group) for clip in corpus.clips] == [
        ("dog", "1", "audio/a.wav"),
        ("cat", "2", "audio/b.wav"),
    ]
    assert (corpus.paths, corpus.about) == ((), {})


def test_the_tree_and_what_it_says_of_itself(written):
    about = f'title = "Pets"\nlicence = "CC0"\nsource = "home"\nfolds = 2\n[checksums]\n"audio/a.wav" = "{DIGEST}"\n'
    taxonomy = 'animal = ["cat", "dog"]\nmachine = ["engine", "fan"]\n'
    folder = written(FILES | {"corpus.toml": about, "taxonomy.toml": taxonomy})
    corpus = CorpusFolder().read(folder)
    assert corpus.paths == (("animal", "cat"), ("animal", "dog"))
    assert corpus.about == {"title": "Pets", "licence": "CC0", "source": "home"}
    assert corpus.checksums == {folder / "audio" / "a.wav": DIGEST}
    assert corpus.ignored[0] == Ignored(folder / "taxonomy.toml", "label 'engine' has no clip")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"taxonomy.toml": "[dog]\n[cats]\n"}, "taxonomy.toml: label 'cat' is not in it; did you mean 'cats'?"),
        ({"taxonomy.toml": "dog = \n"}, "taxonomy.toml: not a TOML file"),
        ({"corpus.toml": "title = \n"}, "corpus.toml: not a TOML file"),
        ({"corpus.toml": "title = 1\n"}, "corpus.toml: title must be a text"),
        ({"corpus.toml": "license = 'x'\n"}, "corpus.toml: unknown key 'license'; did you mean 'licence'?"),
        ({"corpus.toml": "folds = 3\n"}, "corpus.toml: folds=3, segments.csv has 2 of them"),
        ({"corpus.toml": "folds = 'five'\n"}, "corpus.toml: folds='five' must be a number of at least 2"),
        ({"corpus.toml": "checksums = 'x'\n"}, "corpus.toml: checksums must be a table"),
        ({"corpus.toml": "[checksums]\na = 'md5'\n"}, "corpus.toml: checksum of 'a' must be the 64 hexadecimal digits"),
        ({"segments.csv": "file,label\n../a.wav,x\n"}, "line 2: file '../a.wav' lies outside the folder of the corpus"),
        ({"segments.csv": "file,label\na/../../a,x\n"}, "line 2: file 'a/../../a' lies outside the folder"),
        ({"segments.csv": "file,label\n..\\a.wav,x\n"}, "line 2: file '../a.wav' lies outside the folder"),
        ({"segments.csv": "file,label\n/etc/passwd,x\n"}, "line 2: file '/etc/passwd' lies outside the folder"),
    ],
)
def test_what_is_wrong_is_one_line(written, files, message):
    folder = written(FILES | files)
    with pytest.raises(CorpusError) as caught:
        CorpusFolder().read(folder)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
