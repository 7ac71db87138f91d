from dataclasses import replace
from pathlib import Path

import pytest
from attributions import HERE, SUFFIX, Origin, read_origins, sources_page, write_sources
from packages import Package, read_packages

import audioclass

MODELS = Path(audioclass.__file__).parent / "models"
PACKAGE = Package("choir", "1.0", "0" * 64, "CC-BY-3.0, GPL-2", "The | Choir, 2001", music=["*.ogg"])
ORIGIN = Origin("1-7-A", "dog.wav", "https://sounds.example/7", "somebody", "CC-BY")


NAMES = ("broadcast", "overlap")


@pytest.fixture(params=NAMES)
def shipped(request):
    return (MODELS / f"{request.param}.sources.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_shipped_page_is_what_the_tables_give(name, tmp_path):
    written = write_sources(tmp_path / f"{name}.audioclass").read_text(encoding="utf-8")
    assert written == (MODELS / f"{name}.sources.md").read_text(encoding="utf-8")


def test_every_source_is_named_with_its_licence(shipped):
    for package in read_packages(HERE / "packages.toml"):
        name = package.name if package.registry == "debian" else f"{package.name} ({package.registry})"
        assert f"| {name} | {package.version} | {package.licence} | {package.attribution} |" in shipped
    for origin in read_origins(HERE / "esc50.csv"):
        assert origin.address in shipped
        assert f"| {origin.author} | {origin.licence} |" in shipped
        assert origin.clip in shipped


def test_all_clips_of_esc50_have_an_origin():
    origins = read_origins(HERE / "esc50.csv")
    assert len({origin.clip for origin in origins}) == len(origins) == 1190
    assert all(origin.title and origin.author and origin.licence for origin in origins)


def test_a_row_says_what_a_package_gave():
    page = sources_page([PACKAGE], [])
    assert r"| choir | 1.0 | CC-BY-3.0, GPL-2 | The \| Choir, 2001 | music |" in page
    assert "Licences that they name: CC-BY-3.0, GPL-2." in page
    assert "ESC-50" not in page


def test_a_sound_is_named_once_with_its_clips():
    page = sources_page([PACKAGE], [ORIGIN, replace(ORIGIN, clip="1-7-B")])
    assert "| dog.wav <https://sounds.example/7> | somebody | CC-BY | 1-7-A, 1-7-B |" in page


@pytest.mark.parametrize("model", NAMES)
def test_the_card_and_the_terms_name_the_page(model):
    name = f"{model}{SUFFIX}"
    assert f"[{name}]({name})" in (MODELS / f"{model}.md").read_text(encoding="utf-8")
    assert name in (MODELS / "MODEL-LICENSE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("family", ["GPL", "LGPL", "GFDL", "CC BY", "CC BY-SA", "CC0", "MIT"])
def test_the_licences_that_the_terms_name_are_those_of_sources(family, shipped):
    named = next(line for line in shipped.splitlines() if line.startswith("Licences that they name: "))
    assert f" {family.replace(' ', '-')}" in named
    assert f"{family}," in (MODELS / "MODEL-LICENSE.md").read_text(encoding="utf-8").replace(" and", ",")
