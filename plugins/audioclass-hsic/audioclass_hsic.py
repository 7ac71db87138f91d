"""Hilbert-Schmidt independence criterion (Gretton et al. 2005): y'HKHy / (n − 1)², H = I − 11'/n."""

from audioclass import component, hookimpl


@component
class HSIC:
    """How much the kernel knows of the sides: 0 where they are independent of it."""

    name = "hsic"
    better = "higher"

    def value(self, problem):
        return self._product(problem.K, problem.y)

    def gradient(self, problem):
        return {name: self._product(G, problem.y) for name, G in problem.gradients.items()}

    def _product(self, K, y):
        centred = y - y.mean()
        return float(centred @ K @ centred) / (len(y) - 1) ** 2


@hookimpl
def register_criteria():
    return [HSIC]
