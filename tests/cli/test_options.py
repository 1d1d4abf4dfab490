"""Options come from the signatures of tests; help is short; hints name the option that is meant."""

from __future__ import annotations

import re
from inspect import signature

import pytest

import shrinktest
from shrinktest._docs import documented, parameters_of
from shrinktest.cli import main
from shrinktest.cli.commands import COMMANDS, TEST_OPTIONS, parser
from shrinktest.cli.options import HELP, SPELLED

#: Parameters that cannot be typed.
PYTHON = {"names", "permutations", "propensity", "transform", "regressor", "x_given_z", "test", "kind", "test_options",
          "with_null", "interval", "X", "Y", "A", "B", "samples", "variables", "candidates", "design"}  # fmt: skip


def subparsers():
    (commands,) = [action for action in parser()._actions if action.dest == "command"]
    return {name: subparser for name, subparser in commands.choices.items() if name in COMMANDS}


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.verbs])
def test_every_parameter_is_an_option(name):
    command, strings = COMMANDS[name], subparsers()[name]._option_string_actions
    for function in command.functions[: 1 if "DESIGN" in command.files else None]:
        for parameter in (
            signature(function).parameters.keys() - PYTHON - {*command.leave_out.split()}
        ):
            for word in (SPELLED.get(parameter, parameter), parameter):
                assert f"--{word.replace('_', '-')}" in strings
    assert "DESIGN" not in command.files or {
        f"--{name.replace('_', '-')}" for name in TEST_OPTIONS
    } <= {*strings}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_on_a_screen(name, capsys):
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert main(["help", name]) == 0 and capsys.readouterr().out == shown
    lines = shown.splitlines()
    assert lines[0].startswith(f"usage: shrinktest {name}") and len(lines) <= 60
    assert all(len(line) <= 120 for line in lines)
    if COMMANDS[name].examples:
        examples = COMMANDS[name].examples.split("|")
        assert [line.strip() for line in lines[-3:]] == [
            f"shrinktest {name} {line}" for line in examples
        ]


def test_help_has_one_style():
    for name, subparser in subparsers().items():
        for action in subparser._actions:
            if action.option_strings:
                text = str(action.help)
                assert text[0].islower() or text.split()[0].isupper() or "=" in text, name
                assert not text.endswith((".", "...")) and "{" not in text, (name, text)
    for option, entry in HELP.items():
        value, _, text = entry.partition(" ")
        assert text and (value == "-" or value == value.upper()), option


def test_examples_are_parsed():
    import shlex

    program = parser()
    for name, command in COMMANDS.items():
        for example in command.examples.split("|") if command.examples else ():
            assert program.parse_args([name, *shlex.split(example)]).command == name


def test_the_command_alone_prints_help(capsys):
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"    {name}" in shown for name in COMMANDS) and "exit codes" in shown
    assert main(["-V"]) == 0 and capsys.readouterr().out == f"shrinktest {shrinktest.__version__}\n"


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        ("--random-state", "--seed"),
        ("--n-permutations", "--resamples"),
        ("--n-jobs", "--workers"),
        ("--bandwith", "--bandwidth"),
        ("--estimater", "--estimator"),
        ("--tuning", "--set"),
    ],
)
def test_hints(option, meant, capsys):
    assert main(["two-sample", "a.csv", "b.csv", option, "3"]) == 2
    assert f"two-sample has no option {option}; did you mean {meant}?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("--device", "tests run on the CPU"),
        ("--alternative", "differences between distributions have no direction"),
        ("--delimeters", "did you mean --delimiter?"),
        ("--band", "see shrinktest two-sample --help"),
        ("--nonsense", "see shrinktest two-sample --help"),
    ],
)
def test_only_words_that_are_near_are_suggested(option, hint, capsys):
    assert main(["two-sample", "a.csv", "b.csv", option, "3"]) == 2
    shown = capsys.readouterr().err
    assert f"two-sample has no option {option}; {hint}" in shown
    assert ("did you mean" in shown) == ("did you mean" in hint)


def test_python_names_are_options_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("u\n" + "\n".join(map(str, range(9))))
    outs = []
    for words in (["--seed", "1", "--resamples", "19"], ["--rng", "1", "--n-resamples", "19"]):
        assert main(["two-sample", "a.csv", "a.csv", "--alpha", "0.1", *words]) == 0
        outs.append(capsys.readouterr().out)
    assert outs[0] == outs[1]


def test_auto_is_listed_among_estimators(capsys):
    main(["two-sample", "--help"])
    assert "auto" in next(
        line for line in capsys.readouterr().out.splitlines() if "--estimator" in line
    )


def test_descriptions_of_parameters():
    def function(x, *, n=1):
        """Do something.

        Parameters
        ----------
        x : array
            The data, see :func:`a`.
            More.
        n : int, default 1
            A number.

        Returns
        -------
        None
        """

    assert parameters_of(function) == {
        "x": ("array", "The data, see :func:`a`. More."),
        "n": ("int, default 1", "A number."),
    }
    assert parameters_of(len) == {} and documented(test_hints) is test_hints


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_option(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name, subparser in subparsers().items():
        (line,) = [
            line for line in script.splitlines() if f" {name})" in line or f"_from {name}'" in line
        ]
        options = {word[2:] for word in subparser._option_string_actions if word.startswith("--")}
        assert {*re.findall(r"(?:--|-l )([a-z-]+)", line)} == options


@pytest.mark.parametrize("command", ["compare", "monitor", "two-sample", "columns", "k-sample"])
def test_missing_cells_are_an_error_of_every_command(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("u\n" + "\n".join(f"{0.37 * row % 1:.2f}" for row in range(60)))
    (tmp_path / "b.csv").write_text(
        'u\n""\n' + "\n".join(f"{0.61 * row % 1:.2f}" for row in range(59))
    )
    assert main([command, "a.csv", "b.csv"]) == 2
    assert "missing" in capsys.readouterr().err
    assert main([command, "a.csv", "b.csv", "--nan-policy", "omit"]) == 0
    main([command, "--help"])
    shown = capsys.readouterr().out
    (line,) = (line for line in shown.splitlines() if line.strip().startswith("--nan-policy"))
    assert line.endswith("(raise)")
