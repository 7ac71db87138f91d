"""Every registered name, built in or installed, passes the check of its contract."""

import pytest

from audioclass.plugins.manager import plugin_manager
from audioclass.testing import check_component

MANAGER = plugin_manager()
OFFERS = MANAGER.offers()
# A component that must be told something, such as a file, is checked by its own distribution, which knows what to tell it.
READY = [offer for offer in OFFERS if not any(parameter.required for parameter in offer.parameters)]


@pytest.mark.parametrize("offer", READY, ids=[f"{offer.kind}-{offer.name}" for offer in READY])
def test_piece_keeps_its_contract(offer):
    check_component(offer.kind, MANAGER.make(offer.kind, offer.name))


def test_the_plugins_of_the_repository_are_installed():
    assert {"laplacian", "chi2", "random_forest", "onnx", "egemaps", "ordinal", "hsic", "hts"} <= {
        offer.name for offer in OFFERS
    }
    assert MANAGER.quarantine == []
