"""WordsOfTest: what articles say of a test: subject, method, decision and papers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from shrinktest.estimators import KME
from shrinktest.results.base import as_tuple
from shrinktest.results.info import CONDITIONAL, INDEPENDENCE, METHOD_SOURCES
from shrinktest.results.paragraph import (
    draws_in_words,
    finding,
    kernel_in_words,
    paragraph,
    seed_in_words,
    sentence,
    sources_of,
    sources_of_route,
)
from shrinktest.results.references import cited, joined

if TYPE_CHECKING:
    from shrinktest.results.effect import Effect


class WordsOfTest:
    """What articles say of a :class:`TestResult`, which derives from this class."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def paragraph(self, *, effect: bool | Effect = True) -> str:
        """Return two to four sentences for an article: method, decision, effect and software.

        Parameters
        ----------
        effect : bool or Effect, default True
            Whether to report the effect, or the output of :meth:`effect`, which takes time to
            compute.  It is left out where there is none.

        Examples
        --------
        >>> import numpy as np
        >>> from shrinktest import independence_test
        >>> x = np.random.default_rng(0).normal(size=100)
        >>> print(independence_test(x, x**2, rng=0).paragraph())
        The independence of X and Y was tested on 100 pairs by a kernel independence test (biased
        HSIC [Gretton et al., 2005; Gretton et al., 2007]; plain kernel means; Gaussian kernel with
        bandwidth 0.9565, the median distance, for X; Gaussian kernel with bandwidth 0.7786, the
        median distance, for Y; 999 random permutations of the rows of Y). The null hypothesis of
        independence was rejected at the .05 level (HSIC = 0.0371, p = .001). The kernel correlation
        was .42 (95% CI .30 to .54). Software: shrinktest ..., seed 0.
        """
        size = self._reported(effect)
        return paragraph(
            self._tested(),
            self._by(),
            self._details(),
            [self._finding(), "" if size is None else size.reported()],
            self.versions,
            seed_in_words(self.rng),
        )

    def _headline(self) -> str:
        return sentence(self._finding())

    def _reported(self, effect: bool | Effect) -> Effect | None:
        """Return the effect; None if it is not wanted, or if this test has none."""
        if not effect:
            return None
        try:
            return self._effect(effect)
        except ValueError:
            return None

    def _tested(self) -> str:
        """Return what was tested, with names and sizes."""
        sizes = self.n_observations
        if self._of_samples_given_others:
            first, second = own_names(self.names, ("X", "Y"))
            return (
                f"The independence of values and sample ({first}, n = {sizes[0]}, or {second}, "
                f"n = {sizes[1]}) given covariates was tested"
            )
        if self.kind.several_samples:
            names = own_names(self.names, self.kind.estimate_names(len(sizes)))
            samples = [f"{name} (n = {n})" for name, n in zip(names, sizes, strict=True)]
            return self.kind.tested.format(samples=joined(samples))
        names = own_names(self.names, self.kind.variables) if self.kind.variables else self.names
        known = joined([str(name) for name in names]) if names and all(names) else ""
        size = " + ".join(map(str, sizes))
        return self.kind.tested.format(names=known or f"{len(names)} variables", size=size)

    def _by(self) -> str:
        if not self.kind.has_kernel(self.form):
            return self.kind.described
        title = self.kind.title.partition(" (")[0]
        return f"a {title.replace('Kernel', 'kernel').replace('Permutation', 'permutation')}"

    def _details(self) -> list[str]:
        """Return statistic, estimator, kernels, method, permutations and stopping rule."""
        estimator = self.estimator
        means = "" if estimator is None else f"kernel means by {estimator!r}"
        if isinstance(estimator, KME):
            means = "plain kernel means"
        how = "method:" if self.kind.no_effect else "given covariates, method:"
        method = f"{how} {self.method}{cited(self._method_sources())}" if self.method else ""
        rule = self.stopping
        early = f"early stopping by {rule!r}{cited(sources_of(rule))}" if rule is not None else ""
        return [
            f"{self._statistic_in_words()}{cited(self._statistic_sources())}",
            f"{means}{cited(sources_of(estimator))}" if means else "",
            *self._kernels_in_words(),
            method,
            self._draws_in_words(),
            early,
        ]

    def _statistic_name(self) -> str:
        kind = self.kind
        if not kind.has_kernel(self.form):
            return self.form
        own = "statistic" if self.test == "permutation" else self.test
        return kind.measured or kind.statistic or own

    def _statistic_in_words(self) -> str:
        name = self._statistic_name()
        if name == "statistic":
            return ""
        both = self.form in ("biased", "unbiased") and len(self.kind.statistics) > 1
        return f"{self.form} {name}" if both else name

    def _kernels_in_words(self) -> list[str]:
        if self.kernel is None:
            return []
        kernels = as_tuple(self.kernel)
        given = as_tuple(self.setup.given)
        given = given if len(given) == len(kernels) else (None,) * len(kernels)
        texts = [kernel_in_words(*pair) for pair in zip(kernels, given, strict=True)]
        if len(texts) == 1:
            return texts
        if len(set(texts)) == 1:
            return [f"{texts[0]}, for every variable"]
        if self._of_samples_given_others:
            return [f"{texts[0]}, for the values", f"{texts[1]}, for the sample"]
        labels = [
            f"variable {label}" if label.isdecimal() else label
            for label in own_names(self.names, self.kind.kernel_names(len(kernels)))
        ]
        return [f"{text}, for {label}" for text, label in zip(texts, labels, strict=True)]

    def _draws_in_words(self) -> str:
        kind = self.kind
        restricted = kind.restrictions or not kind.statistics
        moved = "simulations" if self.data.simulated and "data" not in kind.moved else kind.moved
        return draws_in_words(
            self.n_resamples,
            moved,
            self.restriction if restricted else "",
            exact=self.exact,
            planned=None if self.stopping is None else self.n_planned,
        )

    def _finding(self) -> str:
        name = self._statistic_name()
        text = finding(self.kind.hypothesis, name, self.statistic, self.pvalue, self.alpha)
        assumed = self.data.assumption.partition(";")[0].rstrip(".")
        return f"{text}; {assumed}" if assumed else text

    @property
    def _of_samples_given_others(self) -> bool:
        """True if two samples are compared as values and labels, given covariates."""
        return self.kind is CONDITIONAL and len(self.n_observations) == 2

    def _statistic_sources(self) -> tuple[str, ...]:
        if not self.kind.has_kernel(self.form):
            return ()
        unbiased = self.kind is INDEPENDENCE and self.form == "unbiased"
        return (*self.kind.sources, *(["Song12"] if unbiased else []))

    def _method_sources(self) -> tuple[str, ...]:
        return METHOD_SOURCES.get(self.method, ())

    def _sources(self) -> Iterator[str]:
        yield from self._statistic_sources()
        yield from sources_of(self.estimator)
        yield from sources_of(self.kernel)
        yield from sources_of_route(self.setup.route)
        yield from self._method_sources()
        yield from sources_of(self.stopping)
        if self.n_resamples and not self.exact and self.stopping is None:
            yield "PS10"


def own_names(own: tuple[str | None, ...], plain: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of samples or variables, from the data or the kind of test.

    Names are from the data if there are as many.
    """
    if len(own) != len(plain):
        return plain
    return tuple(name or other for name, other in zip(own, plain, strict=True))
