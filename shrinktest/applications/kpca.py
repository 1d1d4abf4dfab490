"""Kernel principal components for any estimates of the mean and the covariance operator."""

from __future__ import annotations

from typing import Any

import numpy as np

from shrinktest._check import Array, choice, count
from shrinktest.applications._sklearn import (
    ClassNamePrefixFeaturesOutMixin,
    OnPoints,
    TransformerMixin,
)
from shrinktest.embedding import MeanEmbedding
from shrinktest.estimators import SKMSE, MeanEstimator, as_estimator
from shrinktest.kernels import FeatureMap, Kernel, as_kernel

#: What a reconstruction error measures; see :meth:`ShrinkageKernelPCA.reconstruction_error`.
KINDS = ("centered", "uncentered")

# Eigenvalues below this part of the largest one are rounding.
_ROUNDING = 1e-10


class ShrinkageKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnPoints):
    """Kernel PCA with possibly shrunken mean and covariance operator.

    The components are the eigenfunctions of sum_i w_i (phi_i - m) (x) (phi_i - m), where m is the
    kernel mean as estimated by ``centering``, and w are the weights that the estimator
    ``covariance`` gives the n features (phi_i - m) (x) (phi_i - m).  If both are the standard mean,
    so that w_i = 1/n, it is kernel PCA.

    Parameters
    ----------
    n_components : int, optional
        Number of components; by default all with a positive eigenvalue.
    kernel : str, Kernel or callable, default "gaussian"
        Kernel of the rows.  A bandwidth of ``"median"`` is resolved on the rows that are passed to
        ``fit``.
    centering : str, MeanEstimator or callable, default "kme"
        Estimator of the mean m, which may be any, including marginalized ones and those with a
        target ("shrinkage centering", [M14]).
    covariance : str, MeanEstimator or callable, default "kme"
        Estimator of the covariance operator (COSE), which must compute weights from a Gram matrix,
        here the entrywise square of the centered one.

    Attributes
    ----------
    eigenvalues_ : ndarray, shape (c,)
        Positive eigenvalues of the operator, in descending order; for the standard estimators the
        eigenvalues of :class:`sklearn.decomposition.KernelPCA` (those of the centered Gram matrix)
        divided by n.
    coefficients_ : ndarray, shape (n, c)
        A of the orthonormal eigenfunctions f_k = sum_i A_ik (phi_i - m).
    covariance_weights_ : ndarray, shape (n,)
        The weights w of the features.
    mean_ : MeanEmbedding
        The mean m by which features are centered.
    kernel_ : Kernel
        The kernel with its bandwidth resolved.
    points_ : ndarray, shape (n, d)
        The rows to which the model was fitted.
    n_features_in_ : int
        Number of columns; ``feature_names_in_`` holds their names if a DataFrame was fitted.

    Raises
    ------
    ValueError
        From ``fit``, if there are more components than positive eigenvalues, all observations are
        equal, or the ``covariance`` estimator changes the features (marginalized, with a target).

    Notes
    -----
    ``covariance="skmse"`` (S-COSE) does not change the components, because it multiplies the
    operator by one number.  Its eigenfunctions, and therefore every projection and every
    reconstruction error, are as before; only ``eigenvalues_`` are smaller.  The advantage that
    [M14] Fig. 3 reports is impossible (erratum E14 in :doc:`/errata`).  ``covariance="fkmse"``
    (F-COSE) and the other spectral filters, however, weight the points unequally and do change the
    components.  Simple shrinkage of the mean, ``centering="skmse"``, adds alpha^2 mu (x) mu to the
    operator, which can promote the direction of the mean.

    Regardless of the signs of w, the eigenproblem is solved in the span of the centered features,
    where it is symmetric ([M14]).  Signs are such that the training score of largest size is
    positive, as in scikit-learn.

    References
    ----------
    .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> pca = ShrinkageKernelPCA(n_components=3, centering="fkmse").fit(X)
    >>> pca.transform(X[:5]).shape
    (5, 3)
    >>> errors = pca.reconstruction_error(X)
    >>> errors.shape, bool((errors >= 0).all())
    ((30,), True)
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "gaussian",
        centering: Any = "kme",
        covariance: Any = "kme",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.centering = centering
        self.covariance = covariance

    def fit(self, X: Any, y: Any = None) -> ShrinkageKernelPCA:
        """Find the components of the rows of ``X`` (n, d); ``y`` is not used."""
        n_components = (
            None
            if self.n_components is None
            else count(self.n_components, "n_components", minimum=1)
        )
        kernel = as_kernel(self.kernel)
        centering = as_estimator(self.centering)
        covariance = _operator_estimator(as_estimator(self.covariance))
        self.points_ = self._read_fit(X)
        self.kernel_: Kernel = kernel.resolve(
            self.points_, rng=0
        )  # of many rows a random part: always the same one
        self.mean_: MeanEmbedding = centering.embed(self.points_, self.kernel_)
        self._mean_at_points = self.mean_.embedding(self.points_)
        self._mean_norm2 = self.mean_.norm2()
        gram = self._centered(self.points_, self._mean_at_points)
        self.covariance_weights_ = covariance.checked_weights(gram * gram)
        rounded = len(gram) * np.finfo(np.float64).eps
        rounded = (
            rounded**2 if isinstance(self.kernel_, FeatureMap) else rounded
        )  # features, and not their products
        self.eigenvalues_, self.coefficients_ = _components(
            gram,
            self.covariance_weights_,
            n_components,
            rounding=rounded * _diagonal(self.kernel_, self.points_).sum(),
        )
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.eigenvalues_)

    def _centered(self, rows: Array, mean_at_rows: Array) -> Array:
        """Inner products of phi(z) - m, for the rows z, with the phi_i - m."""
        if isinstance(self.kernel_, FeatureMap):
            return self._features(rows) @ self._features(self.points_).T
        gram = self.kernel_(rows, self.points_)
        return gram - mean_at_rows[:, None] - self._mean_at_points[None, :] + self._mean_norm2

    def _features(self, rows: Array) -> Array:
        """The coordinates of phi(z) - m for the rows z, where the kernel has some."""
        assert isinstance(self.kernel_, FeatureMap)
        return self.kernel_.coordinates(rows) - self.kernel_.combination(
            self.mean_.points, self.mean_.weights
        )

    def transform(self, X: Any) -> Array:
        """Return the scores <f_k, phi(x) - m> of the rows of ``X`` (m, d), shape (m, c)."""
        rows = self._read(X)
        return self._centered(rows, self.mean_.embedding(rows)) @ self.coefficients_

    def reconstruction_error(
        self, X: Any, kind: str = "centered", n_components: int | None = None
    ) -> Array:
        """Return the squared RKHS distance of every row of ``X`` from its projection.

        Parameters
        ----------
        X : array_like, shape (m, d)
            Rows with the columns that were fitted.
        kind : {"centered", "uncentered"}, default "centered"
            "centered" is |(I - P)(phi(x) - m)|^2, the distance from the affine space through m that
            the components span, whereas "uncentered" is |(I - P) phi(x)|^2, as [M14] prints it,
            from their linear span.  The two differ.
        n_components : int, optional
            Number of components to use; by default all that were fitted.

        Returns
        -------
        ndarray, shape (m,)
            The squared distances, one per row.

        References
        ----------
        .. [M14] Muandet et al., "Kernel mean estimation and Stein effect", ICML, 2014.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(20, 2))
        >>> pca = ShrinkageKernelPCA(kernel="linear").fit(X)
        >>> bool(np.allclose(pca.reconstruction_error(X), 0.0))  # two components span the plane
        True
        """
        choice(kind, KINDS, "kind")
        rows = self._read(X)
        used = (
            len(self.eigenvalues_)
            if n_components is None
            else count(n_components, "n_components", minimum=0)
        )
        if used > len(self.eigenvalues_):
            raise ValueError(
                f"n_components={used} is more than the {len(self.eigenvalues_)} components kept by "
                "fit"
            )
        mean_at_rows = self.mean_.embedding(rows)
        norms = _diagonal(self.kernel_, rows)
        if kind == "centered":
            products = self._centered(rows, mean_at_rows)
            if isinstance(self.kernel_, FeatureMap):
                norms = np.square(self._features(rows)).sum(axis=1)
            else:
                norms = norms - 2.0 * mean_at_rows + self._mean_norm2
        else:  # <phi(x), phi_i - m>
            products = self.kernel_(rows, self.points_) - mean_at_rows[:, None]
        explained = np.square(products @ self.coefficients_[:, :used]).sum(axis=1)
        return np.asarray(np.maximum(norms - explained, 0.0))  # below 0 is rounding


def _operator_estimator(estimator: MeanEstimator) -> MeanEstimator:
    """The estimator, if all it does is to give weights to the Gram matrix of the operators."""
    changes = type(estimator).features not in (MeanEstimator.features, SKMSE.features)
    if changes or getattr(estimator, "target", None) is not None:
        raise ValueError(
            f"covariance={estimator!r} changes the features; use an estimator that only weights "
            "the Gram matrix, "
            "such as 'fkmse'"
        )
    return estimator


def _diagonal(kernel: Kernel, rows: Array) -> Array:
    """Return k(x, x) of every row, from Gram matrices of a few rows each."""
    return np.concatenate([np.diag(kernel(rows[i : i + 64])) for i in range(0, len(rows), 64)])


def _components(
    gram: Array, weights: Array, n_components: int | None, rounding: float
) -> tuple[Array, Array]:
    """Eigenvalues (c,) of sum_i w_i phit_i (x) phit_i, with coefficients (n, c).

    The coefficients are those of its orthonormal eigenfunctions.

    K^c = U D U', R = D^(1/2) U': the eigenpairs of the symmetric R diag(w) R' are (gamma, Y), and A
    = U D^(-1/2) Y.
    """
    values, vectors = np.linalg.eigh(gram)
    # The centered Gram matrix of equal features is all rounding error, which has eigenvalues, too.
    nonzero = values > max(_ROUNDING * values[-1], rounding)
    if not nonzero.any():
        raise ValueError("X: all observations have the same features, so there is no component")
    root = np.sqrt(values[nonzero])
    vectors = vectors[:, nonzero]
    factor = root[:, None] * vectors.T
    gammas, directions = np.linalg.eigh((factor * weights) @ factor.T)
    gammas = gammas[::-1]
    directions = directions[:, ::-1]
    positive = int(np.sum(gammas > _ROUNDING * max(gammas[0], 0.0)))
    if positive == 0:
        raise ValueError(
            "covariance: the estimate has no positive eigenvalue (everything was shrunken to zero)"
        )
    if n_components is not None and n_components > positive:
        raise ValueError(
            f"n_components={n_components}, but only {positive} eigenvalues are positive; use "
            "fewer, or None"
        )
    gammas = gammas[: n_components or positive]
    directions = directions[:, : n_components or positive]
    scores = factor.T @ directions
    signs = np.sign(scores[np.abs(scores).argmax(axis=0), np.arange(len(gammas))])
    return gammas, vectors @ (directions / root[:, None]) * signs
