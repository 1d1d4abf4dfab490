"""Leave-one-out filter scores and iterations for a stack of samples.

`filter_loops` compiles them.
"""

from __future__ import annotations

import numpy as np

_TOGETHER = 2**14  # numbers of the points of some samples, which stay in the cache


def tikhonov_deletion(
    values: np.ndarray,
    points: np.ndarray,
    along: np.ndarray,
    outside: np.ndarray,
    lams: np.ndarray,
    t: int,
) -> np.ndarray:
    """Return what lam (B, g) changes in the scores of t Tikhonov steps, (B, g).

    The change is summed over the points.

    Point i is really left out.  With R = lam (K + lam I)^-1 the residual of the deleted problem is
    x = R^t e + sum_k beta_k R^k e_i, which vanishes at i after every step, and K x = lam (R^-1 - 1)
    x.  All that is needed are m_j = e_i'R^j e_i and s_j = e_i'R^j e, j = 0..2t: products of squares
    of eigenvectors with powers of lam / (D + lam), and ``outside`` (B, 2, n), what e_i and e have
    there, where R is the identity.
    """
    n = points.shape[2]
    scale = 1.0 / (n - 1.0)
    once = 2.0 * (scale + scale * scale)
    twice = scale * scale
    out = np.empty(lams.shape)
    step = max(1, _TOGETHER // (n * lams.shape[1]))
    for start in range(0, len(lams), step):
        some = slice(start, start + step)
        lam = lams[some, None, :]
        residual = lam / (values[some, :, None] + lam)
        squares = np.square(points[some]).transpose(0, 2, 1)
        mixed = (points[some] * along[some, :, None]).transpose(0, 2, 1)
        power = np.ones_like(residual)
        m = [np.ones((1, 1, 1))]
        s = [np.ones((1, 1, 1))]
        for _ in range(2 * t):
            power = power * residual
            m.append(squares @ power + outside[some, 0, :, None])
            s.append(mixed @ power + outside[some, 1, :, None])
        beta = [s[0]] * (t + 1)
        for j in range(1, t + 1):
            beta[2 : j + 1] = beta[1:j]
            beta[0] = sum((beta[k] * m[k] for k in range(2, j + 1)), start=s[j])
            beta[1] = -beta[0] / m[1]
        total = once * s[t - 1] + n * twice * (s[2 * t - 1] - s[2 * t] - 2.0 * (s[t - 1] - s[t]))
        for k in range(1, t + 1):
            moved = s[t + k - 1] - s[t + k] - s[k - 1] + s[k]
            for p in range(1, t + 1):
                moved = moved + 0.5 * beta[p] * (m[k + p - 1] - m[k + p])
            total = total + beta[k] * (once * m[k - 1] + 2.0 * twice * moved)
        out[some] = total.sum(axis=1)
    return out


def gradient_deletion(
    values: np.ndarray,
    points: np.ndarray,
    along: np.ndarray,
    momenta: np.ndarray,
    steps: np.ndarray,
) -> np.ndarray:
    """Return exact leave-one-out scores (B, T) of gradient iterations.

    Each point is really left out of the iterations.

    ``points`` (B, r, n) are axes in the basis of the eigenvalues D, where the features are phi =
    sqrt|D| times these.  Deleting a point is a change of rank one: with the residual x of the
    deleted problem in the feature space, started at sum_j phi_j - phi_i, one iteration is x <- x +
    momentum (x - before) - step (D x - phi_i <phi_i, x>).  ``steps`` (B, T) refer to K.
    """
    n = points.shape[2]
    scale = 1.0 / (n - 1.0)
    root = np.sqrt(np.abs(values))
    phi = root[:, :, None] * points
    mean = root * along
    x = mean[:, :, None] - phi
    signs = np.sign(values)[:, :, None]
    definite = bool((values >= 0.0).all())
    signed = phi if definite else signs * phi
    own = _inner(signed, phi)
    at = _inner(signed, x)
    rows = at + own
    total = rows.sum(axis=1, keepdims=True)
    before = x.copy()
    change = np.empty_like(x)
    mean = mean[:, None, :] if definite else mean[:, None, :] * signs.transpose(0, 2, 1)
    out = np.empty(steps.shape)
    for t in range(steps.shape[1]):
        step = steps[:, t, None]
        np.multiply(phi, (step * at)[:, None, :], out=change)
        if momenta[t]:
            before *= -momenta[t]
            change += before
        if momenta.any():
            before[:] = x
        x *= (1.0 + momenta[t] - step * values)[:, :, None]
        x += change
        at = _inner(signed, x)
        square = _inner(x, x if definite else signs * x)
        moved = total - 2.0 * rows + own - 2.0 * ((mean @ x)[:, 0] - at) + square
        out[:, t] = (own - 2.0 * scale * (rows - own - at) + moved * scale * scale).mean(axis=1)
    return out


def _inner(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.einsum("brn,brn->bn", x, y)


def gradient_path(
    values: np.ndarray,
    off: np.ndarray,
    start: np.ndarray,
    momenta: np.ndarray,
    steps: np.ndarray,
    counts: np.ndarray,
) -> np.ndarray:
    """Return the iterates (B, c, r) of T b = start from zero after ``counts`` (B, c).

    Counts are ascending.

    T has the diagonal ``values`` (B, r) and entries ``off`` (B, r) beside it, of which the last is
    zero.
    """
    now = before = np.zeros(values.shape)
    out = np.empty((*counts.shape, values.shape[1]))
    for t in range(int(counts.max())):
        image = values * now
        image[:, 1:] += off[:, :-1] * now[:, :-1]
        image[:, :-1] += off[:, :-1] * now[:, 1:]
        change = momenta[t] * (now - before) + steps[:, t, None] * (start - image)
        before = now
        now = now + change
        sample, place = np.nonzero(counts == t + 1)
        out[sample, place] = now[sample]
    return out
