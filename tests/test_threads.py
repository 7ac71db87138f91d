import numpy as np
from threadpoolctl import threadpool_info

from audioclass.threads import one_thread


@one_thread()
def counts():
    return {pool["num_threads"] for pool in threadpool_info()}


def test_within_it_there_is_one_thread():
    assert np.dot(np.ones(3), np.ones(3)) == 3  # its library is loaded
    assert counts() == {1}
