"""Every registered name, built in or installed, passes the check of its contract."""

import pytest

from audioclass.plugins.manager import plugin_manager
from audioclass.testing import check_piece

MANAGER = plugin_manager()
OFFERS = MANAGER.offers()


@pytest.mark.parametrize("offer", OFFERS, ids=[f"{offer.kind}-{offer.name}" for offer in OFFERS])
def test_piece_keeps_its_contract(offer):
    check_piece(offer.kind, MANAGER.make(offer.kind, offer.name))


def test_the_plugins_of_the_repository_are_installed():
    assert {"laplacian", "chi2"} <= {offer.name for offer in OFFERS}
    assert MANAGER.quarantine == []
