"""Density estimation by kernel mean matching with a Gaussian mixture.

The mixture is the one whose kernel mean is closest to an estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shrinktest._check import Array, choice, count, counted, positive, real_values
from shrinktest._warn import warn_user
from shrinktest.applications._matching import Matching, kmeans_start
from shrinktest.applications._mixtures import Mixture
from shrinktest.applications._sklearn import DensityMixin, OnPoints, check_is_fitted, generator
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import as_estimator
from shrinktest.kernels import Gaussian, Kernel, Linear, Polynomial, as_kernel

#: The kernels of the papers, all with a closed form, by name.
_NAMED = {
    "gaussian": Gaussian(),
    "linear": Linear(),
    "poly2": Polynomial(2),
    "poly3": Polynomial(3),
}


class KernelMeanMatching(DensityMixin, OnPoints):
    """A mixture of isotropic Gaussians, fitted to any estimate of the kernel mean.

    The fit minimizes |mu - mu_Q|^2 over Q = sum_j pi_j N(m_j, s_j I), in closed form with analytic
    gradients, starting from the clusters of k-means or from a specified mixture.

    Parameters
    ----------
    n_components : int, default 1
        Number of Gaussians, at most the number of distinct rows.
    estimator : str, MeanEstimator or callable, default "kme"
        Estimator of the kernel mean mu, which may be any, including the marginalized ones.
    kernel : {"gaussian", "linear", "poly2", "poly3"} or Kernel, default "gaussian"
        Kernel of the rows.  A bandwidth of ``"median"`` is resolved on the rows that are passed to
        ``fit``, and bandwidths per coordinate are accepted.
    init : "k-means" or (weights, means, variances), default "k-means"
        Start of the optimizer: a mixture with positive weights (k,), means (k, d) and positive
        variances (k,), such as ``start_`` of another fit.
    n_init : int, default 10
        Number of starts of k-means, of which the best is used.
    max_iter : int, default 5000
        Largest number of iterations of the optimizer (L-BFGS-B).
    tol : float, default 1e-9
        The optimizer stops when an iteration improves the objective by less than this fraction of
        its value at the start.  The likelihood of the result depends on it, because the objective
        is flat where the likelihood is not.
    min_variance : float, default 1e-3
        Smallest variance of a component, as a fraction of the mean variance of the columns.  If the
        best match of an empirical mean is a set of points, this makes the likelihood of other data
        finite.
    random_state : None, int, RandomState or Generator
        Seed or generator for k-means.

    Attributes
    ----------
    weights_, means_, variances_ : ndarray, shapes (k,), (k, d), (k,)
        The fitted mixture.
    start_ : (weights, means, variances)
        The mixture at which the optimizer started.
    objective_ : float
        Squared RKHS distance of the mixture from the estimate.
    embedding_ : MeanEmbedding
        The estimate that was matched.
    kernel_ : Kernel
        The kernel with its bandwidth resolved.
    variances_identified_ : bool
        False for the linear kernel, and True for all others.
    n_iter_ : int
        Number of iterations of the optimizer.
    converged_ : bool
        Whether the optimizer stopped before ``max_iter``.

    Raises
    ------
    ValueError
        From ``fit``, if there are more components than distinct rows, the kernel has no closed
        form, or the start is not a mixture of ``n_components`` Gaussians.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If ``max_iter`` was reached.

    Notes
    -----
    The method follows the experiments of [M14] and [S14].  A softmax keeps the weights on the
    simplex, because the constraint in the papers does not require them to be nonnegative (erratum
    E17 in :doc:`/errata`).

    A kernel compares distributions by the functions in its RKHS.  The linear kernel compares only
    means: its objective does not depend on the variances at all, which therefore remain at the
    values of the k-means start, and identifies nothing but the mean of the mixture.  Polynomial
    kernels compare moments up to their degree.  Parameters that are not identified remain near the
    start, whereas the Gaussian kernel identifies every distribution.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.
    .. [S14] Muandet et al., "Kernel mean estimation via spectral filtering", NeurIPS, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate(
    ...     [rng.normal(-4.0, 1.0, size=(60, 1)), rng.normal(4.0, 1.0, size=(60, 1))]
    ... )
    >>> mixture = KernelMeanMatching(2, estimator="skmse", random_state=0).fit(X)
    >>> np.sort(mixture.means_.ravel()).round(0)
    array([-4.,  4.])
    >>> draws, component = mixture.sample(5, random_state=1)
    >>> draws.shape, mixture.pdf(draws).shape
    ((5, 1), (5,))
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        estimator: Any = "kme",
        kernel: Any = "gaussian",
        init: Any = "k-means",
        n_init: int = 10,
        max_iter: int = 5000,
        tol: float = 1e-9,
        min_variance: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.estimator = estimator
        self.kernel = kernel
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.min_variance = min_variance
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KernelMeanMatching:
        """Match the kernel mean of the rows of ``X`` (n, d); ``y`` is not used."""
        k = count(self.n_components, "n_components", minimum=1)
        starts = count(self.n_init, "n_init", minimum=1)
        steps = count(self.max_iter, "max_iter", minimum=1)
        tol = positive(self.tol, "tol", allow_zero=True)
        part = positive(self.min_variance, "min_variance")
        estimator = as_estimator(self.estimator)
        kernel = self.kernel
        kernel = (
            _NAMED[choice(kernel, _NAMED, "kernel")]
            if isinstance(kernel, str)
            else as_kernel(kernel)
        )
        points = self._read_fit(X)
        distinct = len(np.unique(points, axis=0))
        if k > distinct:
            rows = counted(len(points), "row") + (
                f", {distinct} of them different" if distinct < len(points) else ""
            )
            raise ValueError(f"n_components={k}, but X has {rows}; use fewer components")
        if distinct == 1:
            raise ValueError("X: all rows are equal, so there is no density to estimate")
        with np.errstate(over="ignore", under="ignore"):
            spread = float(points.var(axis=0).mean())
        if not 0.0 < spread < np.inf:
            raise ValueError(
                "X: squares of its values are beyond the range of numbers; multiply X by a constant"
            )
        self.kernel_: Kernel = kernel.resolve(
            points, rng=0
        )  # of many rows a random part: always the same one
        self.embedding_: MeanEmbedding = estimator.embed(points, self.kernel_)
        floor = part * spread
        matching = Matching(self.embedding_)
        self.start_ = self._start(points, k, floor, starts)
        self.variances_identified_ = matching.closed.sees_variances
        mixture, self.n_iter_, self.converged_ = matching.minimize(self.start_, floor, steps, tol)
        self.weights_, self.means_, self.variances_ = mixture
        self.objective_ = max(matching.evaluate(mixture)[0], 0.0)
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            warn_user(f"stopped after max_iter={steps} iterations; raise it", ConvergenceWarning)
        return self

    def _start(self, points: Array, k: int, floor: float, starts: int) -> Mixture:
        """Return the starting point of the optimizer."""
        if isinstance(self.init, str):
            choice(self.init, ["k-means"], "init")
            return kmeans_start(points, k, floor, starts, generator(self.random_state))
        try:
            weights, means, variances = (real_values(part).copy() for part in self.init)
        except (TypeError, ValueError):
            raise TypeError(
                'init must be "k-means" or arrays (weights, means, variances) of numbers'
            ) from None
        shapes = weights.shape, means.shape, variances.shape
        if shapes != ((k,), (k, points.shape[1]), (k,)):
            raise ValueError(
                f"init must be weights ({k},), means ({k}, {points.shape[1]}) and variances "
                f"({k},); "
                f"got shapes {', '.join(map(str, shapes))}"
            )
        if not (
            np.isfinite(means).all()
            and all((v > 0.0).all() and (v < np.inf).all() for v in (weights, variances))
        ):
            raise ValueError(
                "init must have finite means, and weights and variances that are finite and "
                "positive"
            )
        return Mixture(weights / weights.sum(), means, np.maximum(variances, floor))

    def score_samples(self, X: Any) -> Array:
        """Return the log density at the rows of ``X`` (m, d), shape (m,)."""
        from scipy.spatial.distance import cdist
        from scipy.special import logsumexp

        rows = self._read(X)
        squares = cdist(rows, self.means_, "sqeuclidean")
        with np.errstate(divide="ignore"):  # a weight may be 0
            heights = np.log(self.weights_) - 0.5 * rows.shape[1] * np.log(
                2.0 * np.pi * self.variances_
            )
        return np.asarray(logsumexp(heights - 0.5 * squares / self.variances_, axis=1))

    def pdf(self, X: Any) -> Array:
        """Return the density at the rows of ``X`` (m, d), shape (m,)."""
        with np.errstate(under="ignore"):
            return np.exp(self.score_samples(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows of ``X`` (m, d).

        It is larger for a better fit, and ``y`` is not used.
        """
        return float(np.mean(self.score_samples(X)))

    def sample(
        self, n_samples: int = 1, random_state: Any = None
    ) -> tuple[Array, NDArray[np.intp]]:
        """Draw observations from the mixture.

        Parameters
        ----------
        n_samples : int, default 1
            Number of observations to draw.
        random_state : None, int, RandomState or Generator
            Seed or generator of the random numbers.

        Returns
        -------
        X : ndarray, shape (n_samples, d)
            The observations, one per row.
        component : ndarray of int, shape (n_samples,)
            Number of the Gaussian that each row was drawn from.
        """
        check_is_fitted(self)
        n = count(n_samples, "n_samples", minimum=1)
        rng = generator(random_state)
        component = rng.choice(len(self.weights_), size=n, p=self.weights_)
        noise = rng.standard_normal((n, self.means_.shape[1]))
        return self.means_[component] + np.sqrt(self.variances_[component])[
            :, None
        ] * noise, component
