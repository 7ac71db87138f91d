from audioclass_lab import Lab, register_commands

from audioclass.cli import run
from audioclass.testing import check_command


def test_it_passes_the_checks_of_its_contract():
    check_command(Lab())


def test_it_is_offered():
    assert register_commands() == [Lab]


def test_the_help_of_a_sweep_shows_no_default_of_its_table(capsys):
    assert run(["lab", "sweep-sigma", "--help"]) == 0
    assert "MISSING" not in capsys.readouterr().out
