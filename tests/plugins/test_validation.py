from dataclasses import dataclass
from typing import ClassVar

import pytest

from audioclass import contracts
from audioclass.errors import PluginError
from audioclass.plugins.validation import check_class, check_list, members


@dataclass(frozen=True)
class Sound:
    name: ClassVar[str] = "sound"
    statistic: ClassVar[str] = "dot"

    def of(self, S):
        return S


class NoDataclass(Sound):
    pass


@dataclass
class Thawed:
    name: ClassVar[str] = "thawed"


@dataclass(frozen=True)
class Nameless:
    statistic: ClassVar[str] = "dot"


@dataclass(frozen=True)
class Shouting:
    name: ClassVar[str] = "My Kernel"


@dataclass(frozen=True)
class Useless:
    name: ClassVar[str] = "useless"


@dataclass(frozen=True)
class Deaf:
    name: ClassVar[str] = "deaf"
    statistic: ClassVar[str] = "dot"

    def of(self):
        return 0


@dataclass(frozen=True)
class Odd:
    name: ClassVar[str] = "odd"
    table: dict = None


@pytest.mark.parametrize(
    ("cls", "message"),
    [
        (Thawed, "kernel 'thawed': Thawed must be a frozen dataclass"),
        (Nameless, "Nameless.name is None, must be lower-case letters"),
        (Shouting, "Shouting.name is 'My Kernel'"),
        (Useless, "kernel 'useless': Useless has no 'statistic' or Useless has no 'gram'"),
        (Deaf, r"kernel 'deaf': Deaf.of takes \(\), must take \(S\)"),
        (Odd, "parameter 'table': type"),
    ],
)
def test_classes_that_are_no_kernel_are_refused(cls, message):
    with pytest.raises(PluginError, match=message):
        check_class(cls, "kernel")


def test_a_kernel_passes():
    check_class(Sound, "kernel")


@pytest.mark.parametrize("returned", [None, Sound, ["sound"], [Sound()]])
def test_a_hook_must_return_a_list_of_classes(returned):
    with pytest.raises(PluginError, match="register_kernels returned .* must return a list of classes"):
        check_list(returned, "register_kernels")


def test_members_are_those_of_the_protocol_and_of_what_it_extends():
    assert list(members(contracts.LabelFormat)) == ["name", "suffix", "carries_probabilities", "write"]
