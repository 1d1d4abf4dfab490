"""Options generated from test signatures, and the help of each."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from textwrap import wrap
from typing import Any

from shrinktest._docs import parameters_of
from shrinktest.cli import values

WIDTH = 115  # of the help, in letters
NAN_POLICY = "raise"  # of all commands, whatever the function has in Python

#: Parameters that only Python has, or that a command gives by itself.
_PYTHON_ONLY = {
    "names",
    "permutations",
    "propensity",
    "transform",
    "regressor",
    "x_given_z",
    "test_options",
    "kind",
    "test",
    "with_null",
    "Y",
}
#: Options of parameters that have another name on the command line; several parameters may share an
#: option.
SPELLED = {
    **{
        "rng": "seed",
        "n_resamples": "resamples",
        "n_simulations": "simulations",
        "n_trials": "trials",
        "sample_sizes": "n",
        "column_types": "types",
    },
    **{"times": "time", "kernels": "kernel", "bandwidths": "bandwidth"},
}
#: How to read values that are no text, numbers or flags, by option.
_READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(
        [
            "bandwidth",
            "bandwidth_x",
            "bandwidth_y",
            "scale",
            "margin",
            "block_length",
            "about",
            "alphas",
            "n",
            "sample_ratio",
            "location",
        ],
        values.value,
    ),
    **dict.fromkeys(("seed", "workers", "folds", "skip_rows", "bins", "typ"), values.count),
    **{
        "types": values.column_types,
        "lags": values.lags,
        "terms": values.joint,
        "sep": values.separator,
        "resamples": values.resamples,
    },
    **{"max_memory": values.number, "set": values.setting},
}
_REPEATED = (
    *("bandwidth", "bandwidth_x", "bandwidth_y", "types", "variable", "na", "comment", "set"),
    "terms",
)
_CHOICES = {"header": ("auto", "yes", "no"), "decimal": (".", ",")}
_ALSO = {"sep": ("--separator", "--delimiter")}
#: The value, "-" for none, and the help of every option.  Of a parameter, {choices} are the values
#: that its type lists, and ({default}) is its default, if it has one.
HELP = {
    "columns": "NAMES columns to use, such as a,b or, by position, 2:5 (all)",
    "x": "NAMES columns of variable x, such as a,b or 2:5",
    "y": "NAMES columns of variable y",
    "z": "NAMES columns of variable z",
    "variable": "NAMES columns of one variable; repeatable (each column is a variable)",
    "header": "VALUE whether the first row names the columns: auto, yes or no (auto)",
    "sep": "MARK separator: a character, or the word tab or space (detected from line 1)",
    "decimal": "MARK decimal mark (.)",
    "thousands": "MARK thousands separator",
    "date_format": "FORMAT format of dates, such as %%d/%%m/%%Y (ISO: 2024-03-31)",
    "encoding": "NAME text encoding, such as latin-1 or utf-16 (utf-8)",
    "na": "CELL further code for missing values, in addition to NA and NaN; repeatable",
    "comment": "MARK skip lines starting with MARK; repeatable",
    "skip_rows": "N number of lines to skip at the beginning",
    "nan_policy": "VALUE treatment of missing values: {choices} ({default})",
    "sort": "- sort the rows by --time first",
    "unordered": "- shuffle the rows of each file; use this if their order has no meaning",
    "state": "FILE file that stores the monitor; if it exists, pass no reference",
    "again": "- process files even if the monitor has already processed them",
    "several": "- find several changes, one after another",
    "n_changes": "N largest number of changes, with --several (no limit)",
    "change": "VALUE single: one change; epidemic: a change that later ends ({default})",
    "trim": "FRACTION rows at either end in which no change is sought, as a fraction ({default})",
    "set": "KEY=VALUE parameter of the estimator, such as lam_cov=0.3; repeatable",
    "bins": "N number of bins for data read in batches (2000)",
    "effect": "- estimate the effect size, with confidence intervals",
    "json": "- print JSON, whose keys are the attributes of the result in Python",
    "plot": "FILE save a plot of the result, such as null.png",
    "paragraph": "- print a paragraph for a report or an article",
    "markdown": "- print Markdown, for example for a comment on a pull request",
    "html": "FILE save the report as a web page with pictures",
    "csv": "FILE save the table",
    "witness": "FILE save a picture of where the samples differ",
    "coordinates": "NAMES one or two columns to show in the picture of --witness",
    "response": "NAMES response columns, such as pain,mood",
    "typ": (
        "N type 2 adjusts a term for all terms that do not contain it, type 1 for earlier terms "
        "({default})"
    ),
    "statistic": "VALUE robust (allows for unequal spread) or F ({default})",
    "location": (
        "VALUE auto: subtract the effects of the other terms from numeric responses; none: do not "
        "(auto)"
    ),
    "within": (
        "VALUE rows: permute rows within groups; signs: flip the signs of groups of residuals "
        "({default})"
    ),
    "terms": "NAME=TERMS terms tested jointly: 'arm in any way=arm,arm:time'; repeatable",
    "fit": "MODULE:FUNCTION function that computes the parameters of the model from the data",
    "simulations": "N number of data sets simulated from the model ({default})",
    "n_reference": "N rows of the reference sample (5 per row of data, between 200 and 2000)",
    "by_column": "- test each column separately, with adjusted p-values",
    "pairwise": "TERM compare all pairs of levels of this factor, with adjusted p-values",
    "comparison": "VALUE distances between pairs of samples, or from the pooled sample ({default})",
    "weights": "VALUE weights of the distances: {choices} ({default})",
    "covariate_method": "VALUE adjustment for covariates: {choices} ({default})",
    "given_method": "VALUE conditioning method: {choices} ({default})",
    "measure": "VALUE measure of the difference or dependence: {choices} ({default})",
    "margin": "VALUE smallest difference that matters, chosen before seeing the data",
    "alternative": "VALUE alternative hypothesis for each pair: {choices} ({default})",
    "method": "NAME adjustment for multiple comparisons, such as holm or fdr_bh ({default})",
    "folds": "N number of folds of cross-fitting, with --measure auc ({default})",
    "exit_code": "- exit with 1 if the test rejects",
    "fail_if": "CONDITION exit with 1 if the result meets a condition, such as 'pvalue < 0.01'",
    "test": "TEST MODULE:FUNCTION with (X, Y) -> p-value, or a name such as ks_2samp",
    "list": "- list the designs",
    "tests": "- list the tests of other packages, for use in --estimators",
    "quiet": "- show no progress bar",
    "estimator": (
        "VALUE auto (recommended), fkmse:lam_cov=0.3 or a list a,b,c; see `shrinktest estimators`"
    ),
    "estimators": "VALUE estimators and tests, such as kme,auto,ks_2samp; kme+fkmse combines two",
    "kernel": (
        "VALUE gaussian, laplacian, linear, polynomial, cosine, whitened:lam=0.01, second-order, "
        "depth or energy"
    ),
    "kernel_x": "VALUE as --kernel, for one variable",
    "kernel_y": "VALUE as --kernel, for one variable",
    "bandwidth": (
        "VALUE median, neighbors, 0.5*median, 2, grid, or per column (3,0.5 or income=3,age=0.5)"
    ),
    "bandwidth_x": "VALUE as --bandwidth, for one variable",
    "bandwidth_y": "VALUE as --bandwidth, for one variable",
    "form": "VALUE form of the statistic: {choices} ({default})",
    "scale": (
        "VALUE units: sd, mad, rank, deviation, none, or per column (1,1000 or income=1000,age=mad)"
    ),
    "types": (
        "TYPES column types: zip=category,amount=number,id=drop,day=date,size=S<M<L; repeatable"
    ),
    "blocks": "NAME column of labels: permute rows only within blocks",
    "groups": "NAME column of labels: permute whole groups (clusters)",
    "top": "N number of columns that the report shows (all)",
    "by": "NAME column whose values divide the rows into samples",
    "sample_ratio": "VALUE planned ratio of sizes, such as 1,1; a note warns of a mismatch",
    "paired": "- row i of one sample and row i of the other are a pair",
    "block_length": (
        "VALUE rows of a series permuted together: a number, auto, or whole (shift the series)"
    ),
    "given": "NAMES conditioning columns: test whether x and y are dependent given these",
    "covariates": "NAMES columns of both files to adjust for",
    "time": "NAME column of increasing times",
    "resamples": "N number of random permutations, or inf for all ({default})",
    "stopping": "VALUE stop early: besag-clifford, besag-clifford:h=10 or curtailed",
    "lags": "VALUE lags to test, such as -5:5; lag k pairs row t of x with row t + k of y",
    "about": "VALUE center of symmetry: a number, or one per column such as 0.5,2",
    "alpha": "N significance level; the p-value does not depend on it ({default})",
    "alphas": "LEVELS significance levels, such as 0.05,0.1",
    "confidence": "N confidence level of the intervals ({default})",
    "run_length": "N lower bound on the mean number of rows before a false alarm; replaces --alpha",
    "seed": "N seed that makes the p-value reproducible",
    "n": "SIZES sample sizes, such as 20,40,80",
    "trials": "N number of simulated data sets per sample size ({default})",
    "power": "N required power ({default})",
    "ratio": "N size of the second sample divided by the size of the first",
    "largest": "N largest sample size to try ({default})",
    "gram": "VALUE evaluation of the kernel: {choices} ({default})",
    "rank": "N largest number of coordinates of an approximation (1000)",
    "max_memory": "BYTES maximum memory for kernel values (a quarter of the free memory)",
    "workers": "N number of threads; it does not affect the result (all cores)",
    "progress": "- show a progress bar, in a terminal only",
    "store": "FILE checkpoint file; rerun the same command to resume",
}

#: Groups of the help, in its order, and what is in them; other options are in the second.
_GROUPS = {
    "rows and columns": (
        "columns by x y z variable given given_method covariates covariate_method types scale "
        "nan_policy header sep decimal thousands date_format encoding na comment skip_rows time "
        "sort top unordered again"
    ),
    "comparison": "",
    "design": (
        "sample_ratio typ terms pairwise by_column fit simulations n_reference blocks groups "
        "within paired block_length lags resamples alpha alphas stopping seed "
        "trials n n_trials power ratio confidence trim run_length"
    ),
    "output": (
        "effect json paragraph markdown plot html csv witness coordinates exit_code fail_if "
        "progress quiet store state list tests"
    ),
    "expert": "gram rank max_memory workers bins largest folds tuning",
}


class Typed(argparse.Namespace):
    """Options of a command; None if not typed, or not an option of this command."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return None


class Parser(argparse.ArgumentParser):
    """Parser with one help line per option, in groups, and one-line complaints."""

    examples: tuple[str, ...] = ()
    files = ""

    def error(self, message: str) -> Any:
        """Say what is wrong in one line, and exit."""
        message = re.sub(r"^argument ([^\s/]+)\S*:", r"\1", message)
        self.exit(2, f"shrinktest: error: {' '.join(message.split())}; see {self.prog} --help\n")

    def format_help(self) -> str:
        """Return the help; options with the same text are one line."""
        if not self.examples:
            return super().format_help()
        group_of = {name: group for group, names in _GROUPS.items() for name in names.split()}
        groups: dict[str, dict[str, str]] = {group: {} for group in _GROUPS}
        for action in self._actions:
            if action.option_strings and action.dest != "help":
                texts = groups[group_of.get(action.dest, "comparison")]
                text = str(action.help).replace("%%", "%")
                value = f" {action.metavar}" if action.nargs != 0 else ""
                before = f"{texts[text].partition(' ')[0]}, " if text in texts else ""
                texts[text] = f"{before}{action.option_strings[0]}{value}"
        lines = [f"usage: {self.prog} {self.files} [options]", "", str(self.description)]
        for group, texts in groups.items():
            lines += [f"{group}:"] * bool(texts)
            lines += [line for text, typed in texts.items() for line in _entry(typed, text)]
        return (
            "\n".join([*lines, "examples:", *(f"  {example}" for example in self.examples)]) + "\n"
        )


def _entry(typed: str, text: str) -> list[str]:
    """Return the lines of an option: what is typed, and its help."""
    first, *others = wrap(text, WIDTH - 30, break_on_hyphens=False)
    return [f"  {typed:27} {first}", *(f"{'':30}{line}" for line in others)]


def add_option(
    command: Parser,
    option: str,
    parameter: str = "",
    kind: str = "",
    standard: Any = None,
    shown: str = "",
    **how: Any,
) -> None:
    """Add an option to a command for a parameter.

    The parameter has this type and default in Python, if any; ``shown`` is what a command has in
    place of the entry in ``HELP``.
    """
    metavar, _, text = (shown or HELP[option]).partition(" ")
    numeric = {"int": values.count, "float": values.number}.get(re.split(r"\W", kind)[0], str)
    how |= {"dest": option, "help": _filled_in(text, kind, standard)}
    if metavar == "-":
        how["action"] = "store_true"
    else:
        how |= {"type": _READERS.get(option, numeric), "choices": _CHOICES.get(option)}
        how["metavar"] = metavar
        how["action"] = "append" if option in _REPEATED else "store"
    words = dict.fromkeys(f"--{word.replace('_', '-')}" for word in (option, parameter or option))
    command.add_argument(*words, *_ALSO.get(option, ()), **how)


def add_parameters(
    command: Parser,
    verbs: Iterable[Callable[..., Any]],
    leave_out: Iterable[str] = (),
    shown: Mapping[str, str] | None = None,
) -> None:
    """Add an option for every parameter of functions that can be typed.

    Those not typed are not passed on; ``shown`` has entries in place of those in ``HELP``.
    """
    parameters: dict[str, Parameter] = {}
    described: dict[str, tuple[str, str]] = {}
    for verb in verbs:  # the first that has one counts
        parameters = {**signature(verb).parameters, **parameters}
        described = {**parameters_of(verb), **described}
    typed = {
        name: parameter.default
        for name, parameter in parameters.items()
        if name not in {*_PYTHON_ONLY, *leave_out}
        and (parameter.kind is Parameter.KEYWORD_ONLY or parameter.default is not Parameter.empty)
    }
    if "nan_policy" in typed:
        typed["nan_policy"] = NAN_POLICY
    for name in ("kernel", "bandwidth"):  # of all variables
        if f"{name}_x" in typed:
            typed.setdefault(name, None)
    for name, default in typed.items():
        kind, _ = described.get(name, ("", ""))
        option = SPELLED.get(name, name)
        entry = (shown or {}).get(option, "")
        add_option(command, option, name, kind, default, entry, default=argparse.SUPPRESS)


def _filled_in(text: str, kind: str, default: Any) -> str:
    """Return a help text with the choices and the default of a parameter of this type."""
    choices = re.match(r"\{([^}]*)\}", kind)
    if choices:
        text = text.replace("{choices}", choices[1].replace(chr(34), ""))
    if default in (None, False, Parameter.empty):
        return text.replace(" ({default})", "")
    return text.replace("{default}", str(default))
