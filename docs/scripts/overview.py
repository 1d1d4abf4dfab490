"""Every table and figure of the papers: what it shows, whether it is reproduced, and on which page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import folders  # noqa: F401 - makes the studies importable
import pandas as pd

# isort: split
from _study import markdown

#: What can come of it.
REPRODUCES, NOT, REFUTED, NOTHING = "reproduces", "does not", "refuted", "nothing"


@dataclass(frozen=True)
class Item:
    """A table or figure; `verdicts` are what came of it and the rest of the sentence."""

    where: str
    shows: str
    verdicts: tuple[tuple[str, str], ...]
    link: str
    file: str | None = None  # its numbers, in examples/studies/published

    def row(self, counts: Mapping[str, str]) -> dict[str, str]:
        """A row of the overview; ``counts`` are those that verdicts name in braces."""
        words = {
            REPRODUCES: "*reproduced*",
            NOT: "*not reproduced*",
            REFUTED: "*refuted by*",
            NOTHING: "",
        }
        outcome = "; ".join(f"{words[verdict]} {rest}".strip() for verdict, rest in self.verdicts)
        outcome = outcome.format(**counts)
        return {
            "item": self.where,
            "what it shows": self.shows,
            "reproduced?": outcome,
            "page": self.link,
        }


RISK, FIGURES, THEORY = (
    "[risk study](reproduction.md#risk)",
    "[figures](reproduction.md#the-papers-figures)",
    "[theory](theory.md)",
)
DENSITIES, TAILS = (
    "[densities](reproduction.md#data-sets-of-the-papers)",
    "[heavy tails](reproduction.md#heavy-tails)",
)

ITEMS = (
    Item(
        "[M14], [M13] Fig. 1",
        "risk of simple and flexible shrinkage as a function of their amounts, four kernels",
        ((REPRODUCES, "in that some amount of shrinkage helps under every kernel"),),
        FIGURES,
    ),
    Item(
        "[M14], [M13] Fig. 2",
        "risk against n and d",
        (
            (REPRODUCES, "for simple shrinkage: gains, largest at small n"),
            (
                NOT,
                "for flexible shrinkage, because its score over-shrinks (E1), "
                "but reproduced if tuned by deletion",
            ),
            (
                NOT,
                "for high dimensions, because the relative gain falls with d under the median bandwidth",
            ),
        ),
        f"{FIGURES}, {RISK}",
    ),
    Item(
        "[M14], [M13] Fig. 3",
        "reconstruction error of kernel PCA",
        (
            (REPRODUCES, "for shrinkage of the mean: a gain, mostly small"),
            (REFUTED, "E14 for S-COSE: it does not change any eigenvector"),
        ),
        "[kernel PCA](reproduction.md#kernel-pca)",
    ),
    Item(
        "[M14], [M13] Table 1",
        "log-likelihood of densities, 15 data sets (14 in [M13]) and 4 kernels",
        (
            (
                REPRODUCES,
                "under the linear kernel, because in these units the true mean is the target of shrinkage",
            ),
            (
                REPRODUCES,
                "in part for simple shrinkage under the Gaussian kernel; flexible shrinkage has gains and losses",
            ),
            (
                NOT,
                "under the polynomial kernels, because shrunken moments belong to a distribution that is too narrow",
            ),
        ),
        f"[below](#densities), {DENSITIES}",
        "M14_table1_density_nll",
    ),
    Item(
        "[M14], [M13] Table 2",
        "support measure machines; one-class machines on groups",
        (
            (
                NOT,
                "because the original data are not available; on other data there are no such gains",
            ),
        ),
        "[digits](reproduction.md#digits), [groups](reproduction.md#unusual-groups)",
        "M14_table2_distributions",
    ),
    Item(
        "[S14] Fig. 1",
        "an illustration without data",
        ((NOTHING, "no numbers and no claim to check"),),
        THEORY,
    ),
    Item("[S14] Fig. 2", "the filters", ((REPRODUCES, "with the corrected formulas"),), FIGURES),
    Item(
        "[S14] Fig. 3",
        "risk against iterations, run time against n, improvement against dimension",
        (
            (
                REPRODUCES,
                "in that there is a best number of iterations; run times are those of our programs",
            ),
            (
                NOT,
                "for gains that grow with d, because they are small if stopping is tuned",
            ),
        ),
        f"{FIGURES}, {RISK}",
    ),
    Item(
        "[S14] Fig. 4",
        r"risk of $\lambda = n^{-\beta}$",
        ((REPRODUCES, "exactly: the risk has a closed form"),),
        RISK,
    ),
    Item(
        "[S14] Table 1",
        "the filters' formulas",
        ((REFUTED, "E18 to E21: four of them are wrong"),),
        THEORY,
    ),
    Item(
        "[S14] Table 2",
        "log-likelihood of densities, 9 data sets, all filters",
        (
            (REPRODUCES, "in part for simple shrinkage"),
            (
                NOT,
                "for the filters, because {filters}; they do worse if components become narrow",
            ),
        ),
        f"[below](#densities), {DENSITIES}",
        "S14_table2_density_nll",
    ),
    Item(
        "[S14] section 4",
        "rates of convergence of the filters",
        (
            (
                REPRODUCES,
                "in {steep} cases, including all in which the amount of shrinkage falls as 1/n",
            ),
            (
                NOT,
                "in {flat}, probably because about a thousand points are too few to show the bound, which is asymptotic",
            ),
        ),
        "[rates](reproduction.md#rates-of-convergence)",
    ),
    Item(
        "[X20] Fig. 1",
        "risk of marginalized means as a function of the noise variance",
        ((REPRODUCES, "in that a small amount of noise reduces the risk"),),
        FIGURES,
    ),
    Item(
        "[X20] Fig. 2",
        "risk of marginalized means compared with the other estimators",
        ((REPRODUCES, "in small samples, although the advantage over simple shrinkage is small"),),
        f"{FIGURES}",
    ),
    Item(
        "[X20] Fig. 3",
        "two-sample power on mixtures",
        (
            (
                NOT,
                "because marginalized means are plain means under a slightly wider kernel, with no more power than shrinkage",
            ),
        ),
        "[mixtures](reproduction.md#mixtures-of-gaussians)",
    ),
    Item(
        "[X20] Table 1",
        "log-likelihood for the t distribution against the dimension",
        (
            (
                REPRODUCES,
                "for the gains over the plain average, but not for the advantage of marginalized "
                "means",
            ),
        ),
        f"[below](#densities), {TAILS}",
        "X20_table1_nll",
    ),
    Item(
        "[X20] Table 2",
        "log-likelihood for the t distribution against n",
        (
            (
                REPRODUCES,
                "for the gains over the plain average, but not for the advantage of marginalized "
                "means",
            ),
        ),
        TAILS,
        "X20_table2_nll_t_distribution",
    ),
    Item(
        "[X20] Table 3",
        "log-likelihood of densities, 15 data sets, 10 of them here",
        (
            (
                REPRODUCES,
                "for marginalized means and mostly for simple shrinkage, with small gains",
            ),
            (
                NOT,
                "for flexible shrinkage, because {flexible}",
            ),
        ),
        f"[below](#densities), {DENSITIES}",
        "X20_table3_density_nll",
    ),
    Item(
        "[X20] Table 4",
        "power of HSIC on Eckerle4",
        ((REPRODUCES, "in three columns"), (REFUTED, "E30 in two")),
        "[Eckerle4](reproduction.md#eckerle4)",
        "X20_table4_hsic_power_eckerle",
    ),
)


def overview(counts: Mapping[str, str]) -> str:
    """The table of all items, with counts from the data."""
    return markdown(pd.DataFrame([item.row(counts) for item in ITEMS]))
