import pytest

from audioclass.errors import AudioclassError, CorpusError, UsageError, did_you_mean, unknown_name


def test_nearest_name_is_suggested():
    error = unknown_name("kernel", "gausian", {"linear", "gaussian"})
    assert str(error) == "unknown kernel 'gausian'; did you mean 'gaussian'? known: gaussian, linear"


def test_without_a_near_name_the_known_ones_are_listed():
    assert str(unknown_name("kernel", "zzz", ["linear"])) == "unknown kernel 'zzz'; known: linear"


def test_without_any_name_none_are_known():
    assert str(unknown_name("export", "csv", [])) == "unknown export 'csv'; known: none"


def test_nothing_is_suggested_for_a_distant_name():
    assert did_you_mean("zzz", ["linear"]) == ""


@pytest.mark.parametrize(("error", "code"), [(UsageError, 2), (CorpusError, 1), (AudioclassError, 1)])
def test_errors_know_their_exit_code(error, code):
    assert error("where, what, what should be").exit_code == code


def test_wrong_use_is_a_value_error_too():
    assert issubclass(UsageError, ValueError)


def test_a_line_lists_no_more_than_it_can_hold():
    line = str(unknown_name("component", "zzz", [f"name{i:02}" for i in range(30)]))
    assert line.endswith("name18, name19, and 10 more")
