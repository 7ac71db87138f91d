import pytest
from audioclass_lab import Lab, register_commands

from audioclass.cli import run
from audioclass.testing import check_command


def test_it_passes_the_checks_of_its_contract():
    check_command(Lab())


def test_it_is_offered():
    assert register_commands() == [Lab]


@pytest.mark.parametrize("sweep", ["sweep-sigma", "sweep-c"])
def test_the_help_of_a_sweep_shows_no_default_of_its_table(sweep, capsys):
    assert run(["-p", "audioclass_lab", "lab", sweep, "--help"]) == 0
    out = capsys.readouterr().out
    assert "MISSING" not in out
    assert "[required]" in out


@pytest.mark.parametrize("sweep", ["sweep-sigma", "sweep-c"])
def test_a_sweep_without_its_table_says_what_is_missing(sweep, capsys):
    assert run(["-p", "audioclass_lab", "lab", sweep]) == 2
    assert capsys.readouterr().err == "missing argument 'TABLE'\n"
