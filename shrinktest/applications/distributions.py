"""Kernels on distributions: how alike two samples are, by the estimates of their kernel means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shrinktest._check import Array, Columns, choice, complete_points, counted, positive
from shrinktest.applications._sklearn import (
    BaseEstimator,
    TransformerMixin,
    check_is_fitted,
    generator,
)
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import as_estimator
from shrinktest.kernels import FeatureMap, Kernel, as_kernel

#: Kernels of two embeddings: their inner product, or a Gaussian kernel of their distance.
LEVEL2 = ("linear", "gaussian")


class DistributionKernel(TransformerMixin, BaseEstimator):
    """Kernel matrix between samples, for classifiers and detectors of whole samples.

    Each sample is replaced by an estimate of its kernel mean, and two samples are compared by the
    inner product of these, <mu_i, mu_j>, or by exp(-|mu_i - mu_j|^2 / (2 bandwidth^2)).  Pass the
    result to scikit-learn's ``SVC`` (a support measure machine) or ``OneClassSVM`` (its one-class
    form) with ``kernel="precomputed"``.

    Parameters
    ----------
    estimator : str, MeanEstimator or callable, default "kme"
        Estimator of the kernel means, which is tuned on every sample separately.
    kernel : str, Kernel or callable, default "gaussian"
        Kernel of the points.  A bandwidth of ``"median"`` is resolved on the points of all training
        samples.
    level2 : {"gaussian", "linear"}, default "gaussian"
        Kernel of the embeddings.
    level2_bandwidth : float or "median", default "median"
        Bandwidth of ``level2="gaussian"``.  If it is "median", its square is the median squared
        distance between the embeddings of two training samples.
    random_state : None, int, RandomState or Generator
        Seed or generator that draws the points for the median heuristic if there are more than
        2000.

    Attributes
    ----------
    embeddings_ : list of MeanEmbedding
        Embeddings of the training samples.
    kernel_ : Kernel
        The kernel of the points with its bandwidth resolved.
    level2_bandwidth_ : float or None
        The bandwidth in use; None for ``level2="linear"``.
    n_features_in_ : int
        Number of columns of every sample.

    Raises
    ------
    TypeError, ValueError
        From ``fit`` and ``transform``, if the argument is not a list of samples, a sample is empty,
        samples have different columns, or a bandwidth is to be computed from embeddings that are
        all equal.

    Notes
    -----
    The method is from [M14] section 4.2, but the Gaussian kernel printed there has a plus sign in
    its exponent, with which it is not a kernel (erratum E15 in :doc:`/errata`).  The matrices are
    positive semi-definite for every estimator, including the marginalized ones, because all
    embeddings are elements of one RKHS regardless of their noise.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> rng = np.random.default_rng(0)
    >>> narrow = [rng.normal(size=(20, 2)) for _ in range(15)]
    >>> wide = [2.0 * rng.normal(size=(20, 2)) for _ in range(15)]
    >>> machine = make_pipeline(DistributionKernel(estimator="skmse"), SVC(kernel="precomputed"))
    >>> machine = machine.fit(narrow + wide, [0] * 15 + [1] * 15)
    >>> machine.predict([rng.normal(size=(20, 2)), 2.0 * rng.normal(size=(20, 2))])
    array([0, 1])
    """

    def __init__(
        self,
        *,
        estimator: Any = "kme",
        kernel: Any = "gaussian",
        level2: str = "gaussian",
        level2_bandwidth: Any = "median",
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.kernel = kernel
        self.level2 = level2
        self.level2_bandwidth = level2_bandwidth
        self.random_state = random_state

    def fit(self, samples: Any, y: Any = None) -> DistributionKernel:
        """Embed the training ``samples``, a list of arrays (n_i, d); ``y`` is not used."""
        self._fit(samples)
        return self

    def fit_transform(self, samples: Any, y: Any = None) -> Array:
        """Return the kernel matrix of the training samples, (N, N) and exactly symmetric."""
        return self._kernel(self._fit(samples), self.embeddings_, self._norms)

    def _fit(self, samples: Any) -> Array:
        """Inner products of the training embeddings."""
        choice(self.level2, LEVEL2, "level2")
        median = isinstance(self.level2_bandwidth, str)
        if median:
            choice(self.level2_bandwidth, ("median",), "level2_bandwidth")
        else:
            positive(self.level2_bandwidth, "level2_bandwidth")
        estimator = as_estimator(self.estimator)
        kernel = as_kernel(self.kernel)
        points, self._columns = _read(samples)
        self.n_features_in_ = points[0].shape[1]
        self.kernel_: Kernel = kernel.resolve(np.vstack(points), generator(self.random_state))
        self.embeddings_ = [estimator.embed(rows, self.kernel_) for rows in points]
        inner = inner_products(self.embeddings_)
        self._norms = np.diag(inner).copy()
        self.level2_bandwidth_: float | None = None
        if self.level2 == "gaussian":
            squares = self._squares(inner, self.embeddings_, self._norms) if median else None
            self.level2_bandwidth_ = (
                _median(squares) if squares is not None else float(self.level2_bandwidth)
            )
        return inner

    def transform(self, samples: Any) -> Array:
        """Return the kernel matrix (M, N) of ``samples`` against the training samples.

        ``samples`` is a list of arrays (m_i, d).
        """
        check_is_fitted(self)
        points = _read(samples, self._columns)[0]
        if points[0].shape[1] != self.n_features_in_:
            raise ValueError(
                f"the samples have {counted(points[0].shape[1], 'column')}, those that "
                f"{type(self).__name__} was "
                f"fitted on {self.n_features_in_}; pass the same variables"
            )
        estimator = as_estimator(self.estimator)
        embeddings = [estimator.embed(rows, self.kernel_) for rows in points]
        norms = np.array([embedding.norm2() for embedding in embeddings])
        return self._kernel(inner_products(embeddings, self.embeddings_), embeddings, norms)

    def _kernel(self, inner: Array, embeddings: list[MeanEmbedding], norms: Array) -> Array:
        if self.level2_bandwidth_ is None:
            return inner
        return np.exp(-self._squares(inner, embeddings, norms) / (2.0 * self.level2_bandwidth_**2))

    def _squares(self, inner: Array, embeddings: list[MeanEmbedding], norms: Array) -> Array:
        """Return nonnegative squared distances of embeddings from the training embeddings."""
        if isinstance(self.kernel_, FeatureMap):  # nothing cancels that both have far from zero
            from scipy.spatial.distance import cdist

            combined = self.kernel_.combination
            rows, columns = (
                [combined(e.points, e.weights) for e in some]
                for some in (embeddings, self.embeddings_)
            )
            return np.asarray(cdist(rows, columns, "sqeuclidean"))
        return np.asarray(np.maximum(norms[:, None] + self._norms[None, :] - 2.0 * inner, 0.0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a list of them
        return tags


def inner_products(
    embeddings: Sequence[MeanEmbedding], others: Sequence[MeanEmbedding] | None = None
) -> Array:
    """Return RKHS inner products of embeddings with others of the same kernel.

    Parameters
    ----------
    embeddings : sequence of MeanEmbedding
        Embeddings of the rows of the result.
    others : sequence of MeanEmbedding, optional
        Embeddings of its columns; by default ``embeddings`` themselves, so that the matrix is
        exactly symmetric.

    Returns
    -------
    ndarray, shape (N, M)
        G_ij = b_i' K b_j, in closed form if one or both are smoothed (marginalized estimators).

    Raises
    ------
    ValueError
        If two embeddings do not belong to the same RKHS, or if there is none.

    Examples
    --------
    >>> from shrinktest import KME
    >>> means = [KME().fit(sample, "linear") for sample in ([1.0, 3.0], [-1.0], [0.0, 2.0, 4.0])]
    >>> inner_products(means)
    array([[ 4., -2.,  4.],
           [-2.,  1., -2.],
           [ 4., -2.,  4.]])
    """
    columns = embeddings if others is None else others
    for name, given in (("embeddings", embeddings), ("others", columns)):
        if not hasattr(given, "__len__") or not all(
            isinstance(entry, MeanEmbedding) for entry in given
        ):
            raise TypeError(
                f"{name} must be a list of MeanEmbedding, as fit() returns them; got "
                f"{type(given).__name__}"
            )
        if len(given) == 0:
            raise ValueError(
                f"{name} is empty: there is no embedding in the list; fit one to each sample"
            )
    first = embeddings[0]
    for other in (*embeddings, *columns):
        if other.kernel != first.kernel:
            raise ValueError(
                "embeddings: inner products need one RKHS, but the kernels differ "
                f"({first.kernel!r} and "
                f"{other.kernel!r}); fit all with the same resolved kernel"
            )
        if other.points.shape[1:] != first.points.shape[1:]:
            raise ValueError(
                "embeddings: inner products need one RKHS, but the points have shapes "
                f"{first.points.shape} and "
                f"{other.points.shape}; fit all to the same columns"
            )
    # One kernel matrix per row serves all columns that are smoothed alike, most often all of them.
    alike: dict[tuple[float, ...] | None, list[int]] = {}
    for j, other in enumerate(columns):
        alike.setdefault(other.smoothing, []).append(j)
    distances = np.empty((len(embeddings), len(columns)))
    for smoothing, indices in alike.items():
        points = np.vstack([columns[j].points for j in indices])
        weights = np.concatenate([columns[j].weights for j in indices])
        starts = np.cumsum([0, *(len(columns[j].points) for j in indices[:-1])])
        for i, row in enumerate(embeddings):
            noise = [np.asarray(v) for v in (smoothing, row.smoothing) if v is not None]
            kernel = row.kernel.smoothed(sum(noise), points.shape[1]) if noise else row.kernel
            distances[i, indices] = np.add.reduceat(
                row.weights @ kernel(row.points, points) * weights, starts
            )
    return distances if others is not None else (distances + distances.T) / 2.0


def _median(squares: Array) -> float:
    """Return the square root of the median squared distance over pairs i < j."""
    pairs = squares[np.triu_indices(len(squares), 1)]
    if len(pairs) == 0:
        raise ValueError(
            "level2_bandwidth='median' needs at least 2 training samples; use a number"
        )
    middle = float(np.median(pairs))
    if middle <= 0.0:
        raise ValueError(
            "level2_bandwidth='median': the median distance of the embeddings is 0; use a number"
        )
    return float(np.sqrt(middle))


def _read(samples: Any, columns: Columns = None) -> tuple[list[Array], Columns]:
    """The samples as arrays with the same columns, and the names of these.

    Columns of DataFrames go by name.
    """
    if not isinstance(samples, Sequence | np.ndarray) or isinstance(samples, str):
        raise TypeError(f"samples must be a list of arrays (n, d); got {type(samples).__name__}")
    if isinstance(samples, np.ndarray) and samples.dtype != object and samples.ndim != 3:
        raise TypeError(
            f"samples must be a list of arrays (n, d); got one array of shape {samples.shape}; use "
            "[sample]"
        )
    if len(samples) == 0:
        raise ValueError("samples is empty: there is no sample in the list")
    points: list[Array] = []
    for i, sample in enumerate(samples):
        values, names, _ = complete_points(sample, f"samples[{i}]")
        columns = names if columns is None else columns
        if points and values.shape[1] != points[0].shape[1]:
            raise ValueError(
                f"samples[{i}] has {counted(values.shape[1], 'column')}, samples[0] has "
                f"{points[0].shape[1]}; "
                "all samples must hold the same variables, one per column"
            )
        if names is not None and columns is not None and names != columns:
            if sorted(names) != sorted(columns):
                raise ValueError(
                    f"samples[{i}] has the columns {', '.join(names)}, others have "
                    f"{', '.join(columns)}; "
                    "select the same in all"
                )
            values = np.ascontiguousarray(values[:, [names.index(name) for name in columns]])
        points.append(values)
    return points, columns
