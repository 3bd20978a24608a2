"""The command line: arguments to one command, errors to sentences and exit codes. Data on stdout, words on stderr.

A command is the module of its name in this folder, imported when it is called: Qt, numpy and cupy only where they are
needed.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
import time
from collections.abc import Iterator, Sequence

from raygrove.app.cli.arguments import parse
from raygrove.app.system import interrupts, starting
from raygrove.gpu.brief import percent
from raygrove.gpu.linux import system_problem
from raygrove.printable import printable_lines
from raygrove.program import how_to_install
from raygrove.version import VERSION

EXIT_FAILURE, EXIT_USAGE, EXIT_NO_DEVICE, EXIT_INTERRUPTED = 1, 2, 4, 130

PATIENCE_S = 5.0
"""Who waits longer than this is told how far it is, as often."""


class Words:
    """What is said to the person, on stderr: `say` unless --quiet, `detail` with -v, `progress` then always and else
    now and then, `now_and_then` never oftener, `warn` and `error` always."""

    def __init__(self, names: argparse.Namespace) -> None:
        self._quiet, self._verbose = names.quiet, names.verbose
        self._told, self._last = time.monotonic(), ""

    @property
    def is_verbose(self) -> bool:
        """Whether anybody hears details; who has a million of them need not make them."""
        return bool(self._verbose)

    def say(self, sentence: str) -> None:
        """Something good to know."""
        if not self._quiet:
            print(printable_lines(sentence), file=sys.stderr, flush=True)

    def detail(self, sentence: str) -> None:
        """Something for who asked for more."""
        if self._verbose:
            print(printable_lines(sentence), file=sys.stderr, flush=True)

    def progress(self, sentence: str) -> None:
        """How far it is, of steps that may be many or take long."""
        if self._verbose:
            self.say(sentence)
        else:
            self.now_and_then(sentence)

    def now_and_then(self, sentence: str) -> None:
        """How far it is, of so many small steps that nobody asks for each."""
        now = time.monotonic()
        if now - self._told > PATIENCE_S:
            self._told = now
            self.say(sentence)

    def share(self, share: float, sentence: str) -> None:
        """Which share of all is done, and at what: with -v whenever that is something else, else now and then."""
        told = f"{percent(share)}: {sentence}"
        if sentence != self._last:
            self._last = sentence
            self.progress(told)
        elif not self._verbose:
            self.now_and_then(told)

    def warn(self, sentence: str) -> None:
        """Something that went another way than was asked for."""
        print(printable_lines(f"warning: {sentence}"), file=sys.stderr, flush=True)

    def error(self, sentence: str) -> None:
        """Why it did not work."""
        print(printable_lines(f"error: {sentence}"), file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Run the command line; returns the exit code."""
    try:
        _open_streams()
        return _main(arguments)
    except KeyboardInterrupt:
        print("error: interrupted.", file=sys.stderr, flush=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # so that the interpreter's last flush finds a reader
        return EXIT_FAILURE


def _open_streams() -> None:
    """Put /dev/null in the place of standard streams that the caller has closed: a file opened later would get their
    number and be written to."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open to the end of the process


def _main(arguments: Sequence[str]) -> int:
    if arguments and arguments[0].partition("=")[0] == "--completion":
        return _print_completion(arguments)
    try:
        names = parse(list(arguments), VERSION)
    except SystemExit as leaving:
        return int(leaving.code or 0)
    words = Words(names)
    if problem := system_problem():
        words.error(problem)
        return EXIT_NO_DEVICE
    try:
        with _heard(words):
            return run(names, words)
    except BrokenPipeError:
        raise
    except Exception as error:
        return _failed(error, names, words)


@contextlib.contextmanager
def _heard(words: Words) -> Iterator[None]:
    """Write what the program remarks on the way (gpu/target/remarks.py) as warnings; a window brings it into its log as
    well."""
    import logging

    class Warner(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            words.warn(record.getMessage())

    handler, remarks = Warner(), logging.getLogger("raygrove")
    remarks.addHandler(handler)
    try:
        yield
    finally:
        remarks.removeHandler(handler)


def _print_completion(arguments: Sequence[str]) -> int:
    """The script that completes the command line in a shell."""
    completion = importlib.import_module("raygrove.app.cli.completion")
    shell = " ".join(arguments).removeprefix("--completion").lstrip("= ")
    if shell not in completion.SHELLS:
        print(f"error: --completion {shell}: say for which shell: {', '.join(completion.SHELLS)}.", file=sys.stderr)
        return EXIT_USAGE
    print(completion.script(shell), end="", flush=True)
    return 0


def run(names: argparse.Namespace, words: Words) -> int:
    """Call the command's module."""
    command = "settings" if getattr(names, "print_settings", False) else names.command
    if getattr(names, "plug_in", None):
        _take_plug_ins(names.plug_in)
    if command == "view":
        starting.begin()
    with interrupts.noted():  # an import that is broken off can end as another error, or as none
        module = importlib.import_module(f"raygrove.app.cli.{command}")
    code: int = module.run(names, words)
    sys.stdout.flush()
    return code


def _take_plug_ins(files: Sequence[str]) -> None:
    """Have the builders that a person's own files register. Raises UsageError where one gives none."""
    from raygrove.app.problems.problems import UsageError
    from raygrove.gpu.hierarchy.plug_in_files import PlugInError, take_files

    try:
        take_files(files)
    except PlugInError as error:
        raise UsageError(str(error)) from error


def _failed(error: Exception, names: argparse.Namespace, words: Words) -> int:
    """The error as a sentence, with everything behind it where --debug asks for that."""
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("raygrove"):
        words.error(f"the library {error.name} is missing. {how_to_install('app')}")
        return EXIT_FAILURE
    from raygrove.app.problems.problems import problem_of
    from raygrove.app.settings.flags import ways_of

    problem = problem_of(error)
    ways = f" ({ways_of(f'import.{problem.trust[0]}=true')})" if problem.trust is not None else ""
    words.error(problem.sentence + ways)
    if names.debug:
        print(problem.details, file=sys.stderr)
    elif problem.title == "Something went wrong":
        words.error("this is a fault of the program; --debug shows where.")
    return problem.exit_code
