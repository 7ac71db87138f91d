from audioclass_example_name import ExampleName, register_EXAMPLE_HOOK

from audioclass.testing import check_EXAMPLE_KIND


def test_it_keeps_its_contract():
    check_EXAMPLE_KIND(ExampleName())


def test_it_is_offered():
    assert register_EXAMPLE_HOOK() == [ExampleName]
