"""Messages of the library in the words of the command line: its arguments become options as they are typed."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache, partial
from pathlib import Path
from typing import Any

from shrinktest.cli.values import typed_type
from shrinktest.kernels import NAMES as KERNEL_NAMES
from shrinktest.kernels import as_kernel

#: Arguments of the library whose options have their names.
_ALIKE = (
    *("alternative", "bandwidth", "bins", "blocks", "change", "comparison", "confidence", "coordinates"),
    *("covariate_method", "covariates", "folds", "form", "given", "given_method", "gram", "groups", "kernel"),
    *("lags", "largest", "margin", "max_memory", "measure", "method", "n", "n_changes", "nan_policy"),
    *("paired", "power", "rank", "ratio", "scale", "seed", "shift", "stopping", "store", "test", "trim", "tuning"),
    *("weights", "workers"),
)
#: Arguments and the options that give them; of several, the first that a command has.
OPTIONS: dict[str, tuple[str, ...]] = {
    **{name: (f"--{name.replace('_', '-')}",) for name in _ALIKE},
    "alpha": ("--alpha", "--alphas"),
    "alphas": ("--alphas", "--alpha"),
    "bandwidth_x": ("--bandwidth-x", "--bandwidth"),
    "bandwidth_y": ("--bandwidth-y", "--bandwidth"),
    "bandwidths": ("--bandwidth",),
    "column_types": ("--types",),
    "estimator": ("--estimator", "--estimators"),
    "estimators": ("--estimators", "--estimator"),
    "fraction": ("--fractions",),
    "kernel_x": ("--kernel-x", "--kernel"),
    "kernel_y": ("--kernel-y", "--kernel"),
    "kernels": ("--kernel",),
    "n_resamples": ("--resamples",),
    "n_trials": ("--trials",),
    "rng": ("--seed",),
    "sample_sizes": ("--n",),
    "times": ("--time",),
}


def _type_of(found: re.Match[str]) -> str:
    """What says how a column is to be read."""
    return typed_type(found[1] or found[2], found[3])


def _levels_of(found: re.Match[str]) -> str:
    """What says in which order the levels of a column are."""
    return typed_type(found[1] or found[2], "first<second<...")


#: Functions of the library, and the commands that call them.
_COMMANDS = {
    "two_sample_test": "two-sample",
    "two_sample_test_columns": "columns",
    "k_sample_test": "k-sample",
    "independence_test": "independence",
    "independence_matrix": "matrix",
    "joint_independence_test": "joint",
    "symmetry_test": "symmetry",
    "change_point_test": "change",
    "change_points": "change --several",
    "closer_test": "closer",
    "equivalence_test": "equivalence",
}

#: What is said of Python only, and how it is said here.
_PHRASES: tuple[tuple[str, Any], ...] = (
    (r"(?<!')\bcolumn_types\[(?:'([^']*)'|\"([^\"]*)\")\](?:='(\w+)')?", _type_of),
    (r"\bcolumn_types=\{(?:'([^']*)'|\"([^\"]*)\"): '(\w+)'\}", _type_of),
    (r"column_types=\{(?:'([^']*)'|\"([^\"]*)\"): \[(\.\.\.)\]\}", _levels_of),
    (r"as a list$", "such as --types 'size=S<M<L'"),
    (r", turn the text into numbers \(transform=\)", ""),
    (r"gram='(\w+)', rank=(\d+)", r"--gram \1 --rank \2"),
    (r"scale=None\b", "scale='none'"),
    (r"^X: (.*?)\bbandwidth(?==| has| must)", r"X: \1bandwidth_x"),  # each variable has an option
    (r"^Y: (.*?)\bbandwidth(?==| has| must)", r"Y: \1bandwidth_y"),
    (r"\b(kernels|bandwidths)\[\d+\]", r"\1"),  # one option for all variables
    (r"pass the matrix itself: (\w+)=Precomputed\(gram\), .*", r"\1 cannot be a matrix here"),
    (r"numpy\.inf asks", "inf asks"),
    (r"put both in the same order, such as table\.sort_values\((.*?), ignore_index=True\)", r"sort both files by \1"),
    (r"blocks= with a label for every row", "blocks= with the name of the column"),
    (r"None or -1 use all cores", "-1 uses all cores"),
    (r"test_options has '(\w+)'", r"\1 is given"),  # a key of what a study tells its tests
    (r"(?: by|:) Batches\(\.\.\., columns=\[\.\.\.\]\)", " with --columns"),
    (
        r"^test_options is for kernel tests, and (.*); leave it out$",
        r"options of kernels and permutations are for kernel tests, and \1; leave them out",
    ),
    (
        r"is for kind='independence' without other restrictions and with all rows; leave one",
        r"goes without --blocks, --groups, --shift and --nan-policy omit; leave one",
    ),
    (r"result\.effect\(\) has one", "--effect has one"),
    (r"independence_matrix\(X, Y\)", "with --x and --y"),
    (r"\b(bandwidth\w*)=\[.*?\](?= has no effect on )", r"\1"),  # each of several is typed behind its own option
    (r"\(Batches\(\.\.\., bins=\)\)", "(bins=)"),
    (r"or EckerleSimulation, which", "or eckerle-simulation, which"),
    (r" or a function of the pooled rows|, or a Collection of members with kernels of their own", ""),
    *((rf"(?<![\w./\\'\"-])(?:shrinktest\.)?{one}\b(?!\()", command) for one, command in _COMMANDS.items()),
)


_ENDINGS = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".npy")  # of files that are read
_OF_FILES = rf"(?:{'|'.join(map(re.escape, _ENDINGS))})(?!\w)"


class OfParameter(ValueError):
    """An error about a parameter of an estimator, a design or a rule, which may be called as an argument is."""


def as_typed(message: str, options: Collection[str], words: Collection[str] = ()) -> str:
    """A message of the library in which its arguments are the options of a command.

    Replaced are arguments that a message begins with, and those that it gives a value or advice about.  A word that
    merely is the same, in a quotation or in the sentence, stays as it is.

    ``options`` are those of the command, such as "--alpha"; ``words`` are what was typed: a file or a column that is
    called as an argument is not one, and alpha=0.05/x.csv is a file.

    Examples
    --------
    >>> as_typed("alpha must lie strictly between 0 and 1, got 2.0", ["--alpha"])
    '--alpha must lie strictly between 0 and 1, got 2.0'
    >>> as_typed("X has 1 missing value; pass nan_policy='omit' to drop its row", ["--nan-policy"])
    'X has 1 missing value; pass --nan-policy omit to drop its row'
    """
    known = {
        argument: typed
        for argument, options_of in OPTIONS.items()
        if argument not in words and (typed := next((option for option in options_of if option in options), None))
    }
    if not known:
        return message
    for phrase, said in _PHRASES:
        message = re.sub(phrase, said, message)
    return _pattern(known, words).sub(partial(_replaced, known, _subjects(words)), message)


def _pattern(known: Collection[str], words: Collection[str]) -> re.Pattern[str]:
    """What is looked for, in this order: what stays as it is, an argument with a value, and one that is named.

    Among what stays is what is typed behind an option already, and files.
    """
    name = f"(?:{'|'.join(sorted(known, key=len, reverse=True))})"
    quoted = r"(?<!\w)'[^']*'(?!\w)"
    made = r"[A-Z]\w*\((?:[^()]|\([^()]*\))*\)"  # such as FKMSE(lam=0.1)
    value = rf"{quoted}(?:(?:, | or |, or | \(or ){quoted}\)?)*|\[[^\]]*\]|{made}|[^\s,;:()\[\]'\"]+"
    typed = r"--(?:types|scale|bandwidth(?:-[xy])?|columns) (?:'[^']*'|\"[^\"]*\"|[^\s'\"])+"
    files = "".join(rf"|(?<![\w./\\-]){one}" for one in (*_called_so(words), rf"{name}=[^\s,;'\"]*{_OF_FILES}"))
    return re.compile(
        rf"(?P<stays>{quoted}|\"[^\"]*\"|{typed}{files}|{made})"
        rf"|(?<![\w./\\-])(?P<argument>{name})(?:=| = )(?P<value>{value})?"
        rf"|(?<![\w./\\-])(?P<first>{name})(?: and (?P<second>{name}))?(?![\w./=(-])"
        r"(?: (?P<sign>[<>])= (?P<bound>[\d.]+))?"
    )


def _called_so(words: Collection[str]) -> list[str]:
    """Patterns of what was typed that looks like an argument with a value, and of what messages make of such files."""
    found = {
        form for word in words if "=" in word and word[0] != "-" for form in (word, Path(word).name, str(Path(word)))
    }
    found |= {Path(word).stem for word in words if "=" in word and Path(word).suffix.lower() in _ENDINGS}
    return [rf"{re.escape(word)}(?![\w=])" for word in sorted(found, key=len, reverse=True) if "=" in word]


def _subjects(words: Collection[str]) -> str:
    """A pattern of what may come before an argument that a message begins with: samples, by their files if known."""
    files = "|".join(["standard input", *(re.escape(word) for word in words if word)])
    return rf"(?:(?:X|Y|X and Y|the samples|\w+\[\d+\]|(?:{files})(?: and (?:{files}))*): )?"


def _replaced(known: dict[str, str], subjects: str, found: re.Match[str]) -> str:
    """What stands for a match of the pattern."""
    if found["stays"] is not None:
        return found[0]
    if found["argument"] is not None:
        value = _value(found["value"] or "")
        return known[found["argument"]] + (f" {value}" if value else "")
    before, after = found.string[: found.start()], found.string[found.end() :]
    if not _is_argument(subjects, before, after, bound=found["bound"] is not None):
        return found[0]
    said = " and ".join(known[name] for name in found.group("first", "second") if name is not None)
    return (
        said if found["bound"] is None else f"{said} {found['bound']} or {'more' if found['sign'] == '>' else 'less'}"
    )


def _is_argument(subjects: str, before: str, after: str, *, bound: bool) -> bool:
    """Whether a name between these words is that of an argument: the subject of the message, or of its advice."""
    if re.fullmatch(subjects, before) or after.startswith(": stored ") or before.endswith("a column in "):
        return True
    advice = re.search(r"\b(?:use|raise|lower|leave|leave out|give) $", before) is not None
    return advice and (bound or re.match(r"$|[,;:.)]| (?:and|at|or) ", after) is not None)


def _value(python: str) -> str:
    """A value as it is typed: 'omit' is omit, ['kme', 'fkmse'] is kme,fkmse, Linear() is linear, True is an option."""
    if python.startswith("["):
        return re.sub(r"['\s]", "", python[1:-1])
    if re.fullmatch(r"[A-Z]\w*\(.*\)", python):
        return _called().get(python, python[:-2].lower() if python.endswith("()") else python)
    return "" if python == "True" else python.replace("'", "")


@cache
def _called() -> dict[str, str]:
    """Kernels as they are shown, and their names."""
    return {repr(as_kernel(name)): name for name in KERNEL_NAMES}
