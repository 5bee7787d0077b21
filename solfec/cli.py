"""The command line: `solfec [switches] path [user's arguments]` (docs/running.md, Running).

The input runs as the main module with every command among its names.  An error is reported with the
user's file and line first, then the user's own calls that led there.
"""

from __future__ import annotations

import builtins
import errno
import itertools
import linecache
import os
import shlex
import signal
import sys
import sysconfig
import traceback
import types
import warnings
from collections.abc import Callable
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field

from . import language, ranks, subcommands
from .errors import NotBuiltYet, SolfecError, SolfecWarning, shown
from .language import session
from .language.legacy import loader
from .log import logged
from .suggestions import did_you_mean, nearest, of_error
from .switches import NEW_SWITCHES, SUBCOMMANDS, SWITCHES, USAGE, help_text
from .terminal import discard, print_anything

HELPERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "parmec", "helpers")  # modules that inputs of Parmec import
MOST_THREADS = 1024  # far more would make the OpenMP library end the process


class UsageError(Exception):
    """A command line that cannot be understood."""


@dataclass
class Arguments:
    """A parsed command line."""

    path: str | None = None
    overwrite: bool = False
    yes: bool = False
    resume: bool = False
    reading: bool = False
    subdirectory: str | None = None
    interval: float = 1.0
    threads: int | None = None
    traceback: bool = False
    python: int | None = None
    convert: bool = False
    strict: bool = False
    quiet: bool = False
    log: str | None = None
    mpi: bool = False
    version: bool = False
    help: bool = False
    view: bool = False
    wire: bool = False
    size: tuple[int, int] | None = None
    words: list[str] = field(default_factory=list)
    language: types.ModuleType = language  # module whose commands the input starts with


def parse(words: list[str]) -> Arguments:
    """Sort the words of a command line into switches, path and user's arguments (docs/running.md, Running).

    Switches of Solfec-1.0 may stand anywhere, new ones before the path only; the path is the first other word that
    names an existing file or directory.
    """
    result = Arguments()
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-w", "-c", "-v", "-f"):
            if word == "-w":
                result.overwrite = True
            elif word == "-c":
                result.resume = True
            elif word == "-v":
                result.view = True
            else:
                result.wire = True
        elif word in ("-s", "-i", "-g"):
            value = _value(word, words)
            if word == "-s":
                result.subdirectory = value.strip("/")
            elif word == "-i":
                result.interval = _number(word, value)
            else:
                result.size = _size(value)
        elif result.path is None and _new_switch(word, words, result):
            pass
        elif result.path is None and os.access(word, os.R_OK):
            result.path = word
        else:
            result.words.append(word)
    return result


def _new_switch(word: str, words: list[str], result: Arguments) -> bool:
    """Parse a switch that Solfec-1.0 did not have; return False if the word is none."""
    if word == "-y":
        result.yes = True
    elif word == "-t":
        result.threads = int(_number(word, _value(word, words)))
    elif word in ("--python2", "--python3"):
        result.python = int(word[-1])
    elif word in ("--version", "--help", "--traceback", "--convert", "--strict", "--quiet", "--mpi"):
        setattr(result, word[2:], True)
    elif word == "--log":
        result.log = _value(word, words)
    elif word in ("-h",):
        result.help = True
    elif word.startswith("--"):
        raise UsageError(f"unknown switch {word}{did_you_mean(word, (name for name, *_ in (*SWITCHES, *NEW_SWITCHES)), quoted=False)}")
    else:
        return False
    return True


def _value(switch: str, words: list[str]) -> str:
    if not words:
        raise UsageError(f"{switch} needs a value")
    if words[0].startswith("-") and switch != "-i":
        raise UsageError(f"{switch} needs a value, and {words[0]} looks like a switch (a name may begin with ./)")
    return words.pop(0)


def _size(text: str) -> tuple[int, int]:
    from .viewer import pixels

    size = pixels(text)
    if size is None:
        raise UsageError(f"-g needs a size such as 800x600, not {text!r}")
    return size


def _number(switch: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf") or (switch == "-t" and (not 1 <= value <= MOST_THREADS or value != int(value))):
        wanted = f"a positive whole number up to {MOST_THREADS}" if switch == "-t" else "a number of seconds"
        raise UsageError(f"{switch} needs {wanted}, not {text!r}")
    return value


def main(words: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = sys.argv[1:] if words is None else words
    print_anything(sys.stdout)
    if words[:1] == ["check"]:
        return _check(words[1:])
    if words[:1] == ["cross-check"]:
        from .coupling import cross_check

        return _instead_of_run("cross-check", words[1:], cross_check.parse, cross_check.compare)
    if words[:1] == ["plan"]:
        from .tools import planning

        return _instead_of_run("plan", words[1:], planning.parse, planning.plan)
    if words[:1] == ["profile"]:
        return _profile(words[1:])
    if words and words[0] in subcommands.COMMANDS:
        return subcommands.run(words[0], words[1:])
    try:
        arguments = parse(words)
        if arguments.help:
            print(help_text(), end="")
            return 0
        if arguments.version:
            from . import __version__

            print(f"solfec {__version__}")
            return 0
        _check_view(arguments)
        ranks.begin(arguments)
        if arguments.overwrite and arguments.resume:
            raise UsageError("-w computes again from the start, -c goes on from what is there: choose one")
        if arguments.path is None:
            raise UsageError(_missing(arguments.words) or (f"{words[-1]}: the path of an input must follow" if words else ""))
        _refuse_misspelt_command(words[0], arguments.path)
        input_path, directory = _input_of(arguments.path)
    except UsageError as error:
        if ranks.speaks():
            print(f"solfec: {error}\n{USAGE}" if str(error) else USAGE, file=sys.stderr)
        return 2
    except SolfecError as error:  # processes that do not find one another
        print(f"solfec: {error}", file=sys.stderr)
        return 2
    if arguments.convert:
        return _convert(input_path, arguments)
    try:
        with logged(arguments.log if ranks.speaks() else None, words) as end_log:
            status = run_input(input_path, directory, arguments)
            end_log(status)
            return ranks.end(status)
    except OSError as error:
        if arguments.log is None or error.filename != arguments.log:
            raise
        print(f"solfec: --log: {arguments.log}: {error.strerror}\n{USAGE}", file=sys.stderr)
        return 2


def main_of_many() -> int:
    """Run the command line of `solfec-mpi`: MPI is asked how many processes there are, whatever launcher has started them."""
    return main(["--mpi", *sys.argv[1:]])


def _check_view(arguments: Arguments) -> None:
    """Refuse -v, -f and -g if no window is possible, before the input runs."""
    if not arguments.view:
        if arguments.wire or arguments.size:
            raise UsageError(f"{'-f' if arguments.wire else '-g'} is for the viewer: -v")
        return
    if arguments.convert:
        raise UsageError("-v and --convert: choose one")
    from .viewer import ViewerUnavailable, require_display

    try:
        require_display()
    except ViewerUnavailable as error:
        raise UsageError(f"-v: {error}") from None


def _check(words: list[str]) -> int:
    """Build the models of an input and report on them before their first step."""
    asked = subcommands.check_options(words)
    if isinstance(asked, int):
        return asked
    as_json, rest = asked
    try:
        arguments = parse(rest)
        if arguments.view or arguments.wire or arguments.size:
            raise UsageError("check opens no window: -v, -f and -g have no meaning")
        if arguments.path is None:
            raise UsageError(_missing(arguments.words) or "check needs an input file")
        input_path, directory = _input_of(arguments.path)
    except UsageError as error:
        print(f"solfec check: {error}", file=sys.stderr)
        return 2
    from .tools import checking

    found: list[dict] = []
    with checking.kept(found):  # output of the input goes elsewhere; standard output has only the report
        status = run_input(input_path, directory, arguments, found)
    return max(status, subcommands.tell_check(found, as_json)) if found or not status else status


def _profile(words: list[str]) -> int:
    """Run an input into a sub-directory of its own, and tell where its time went."""
    try:
        asked = subcommands.profile_options(words)
        if isinstance(asked, int):
            return asked
        as_json, page, rest = asked
        arguments = parse(rest)
        if arguments.view or arguments.wire or arguments.size or arguments.resume or arguments.mpi or arguments.convert or arguments.log:
            raise UsageError("profile opens no window, begins anew, runs one process and keeps no log: -v, -f, -g, -c, --mpi, --convert and --log have no meaning")
        if page is not None and not os.access(os.path.dirname(page) or ".", os.W_OK):
            raise UsageError(f"--html {page}: its directory is not there, or cannot be written to")
        if arguments.path is None:
            raise UsageError(_missing(arguments.words) or "profile needs an input file")
        input_path, directory = _input_of(arguments.path)
        if directory is not None:
            raise UsageError(f"profile runs an input file, and {arguments.path!r} is a directory")
    except UsageError as error:
        print(f"solfec profile: {error}", file=sys.stderr)
        return 2
    from .tools import profiling

    if arguments.subdirectory is None:  # results of other runs stay; with -s they are overwritten if -w asks for it, as in any run
        arguments.overwrite, arguments.yes, arguments.subdirectory = True, True, "profile"
    with redirect_stdout(sys.stderr), profiling.measured() as found:  # standard output has only the profile
        status = run_input(input_path, None, arguments)
    if status not in (0, 128 + signal.SIGINT):  # its error stands last, without a table after it
        return status
    return max(status, subcommands.run("profile", [], lambda _: profiling.tell(arguments.path, found, as_json, page)))


def _instead_of_run(name: str, words: list[str], options_of: Callable, make: Callable) -> int:
    """Let a command take the first RUN of an input: `make (simulation, solver, duration, options)` returns the exit status.

    `options_of` divides words into the options of the command and the command line of the input.
    """
    try:
        options, rest = options_of(words)
        arguments = parse(rest)
        if arguments.view or arguments.wire or arguments.size or arguments.resume or arguments.overwrite:
            raise UsageError(f"{name} opens no window and keeps no results: -v, -f, -g, -c and -w have no meaning")
        if arguments.path is None:
            raise UsageError(_missing(arguments.words))
        input_path, directory = _input_of(arguments.path)
    except UsageError as error:
        print(f"solfec {name}: {error}", file=sys.stderr)
        return 2
    except SystemExit as request:  # argparse's
        return int(request.code or 0)

    taken = []

    def take(simulation, solver, duration: float) -> None:
        taken.append(duration)
        raise SystemExit(make(simulation, solver, duration, options))

    status = run_input(input_path, directory, arguments, compared=take)
    if taken or status:
        return status
    print(f"solfec {name}: {arguments.path} comes to its end without RUN", file=sys.stderr)
    return 1


def _convert(path: str, arguments: Arguments) -> int:
    """Print an old input as Python 3."""
    from .language.legacy import convert

    try:
        text, notes = convert.convert_file(path)
    except SyntaxError as error:
        report(error, path, arguments.traceback)
        return 1
    if hasattr(sys.stdout, "buffer"):  # a program is UTF-8, whatever the terminal is
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
    else:
        sys.stdout.write(text)
    for note in notes:
        print(note, file=sys.stderr)
    return 0


def _missing(words: list[str]) -> str:
    """Explain why there is no input, with the file that was probably meant, if any."""
    meant = next((word for word in words if word.endswith(".py")), words[0] if words else None)
    if meant is None:
        return ""
    if os.path.exists(meant):
        return f"cannot read the input file {meant!r}"
    command = nearest(meant, (name for name, *_ in SUBCOMMANDS)) if meant == words[0] else None
    return f"there is no input file {meant!r}" + (f"; did you mean solfec {command}?" if command else "")


def _refuse_misspelt_command(word: str, path: str) -> None:
    """Raise an error if the first word, which would be an argument of the input behind it, is like a command or a switch."""
    switches = {name.removeprefix("--"): name for name, *_ in NEW_SWITCHES if name.startswith("--")}
    meant = switches.get(word) or nearest(word, (name for name, *_ in SUBCOMMANDS))
    if word != path and not word.startswith("-") and meant:
        raise UsageError(f"there is no command {word!r}; did you mean solfec {meant}? (Arguments of an input stand behind its path.)")


def _input_of(path: str) -> tuple[str, str | None]:
    """Return the input file of a path, and the output directory if the path is one."""
    if not os.path.isdir(path):
        if path.endswith(".h5"):
            raise UsageError(f"{path!r} is no input file; its directory gives what it holds: solfec {shlex.quote(os.path.dirname(path) or '.')}")
        return path, None
    directory = path.rstrip("/") or path
    copy = os.path.join(directory, os.path.basename(os.path.abspath(directory)) + ".py")
    if not os.path.isfile(copy):
        raise UsageError(f"the directory {path!r} holds no copy of an input file ({copy})")
    return copy, directory


def run_input(path: str, directory: str | None, arguments: Arguments, checked: list[dict] | None = None, compared: Callable | None = None) -> int:
    """Run one input file as the main module; return the exit status.

    A list `checked` is filled, and no step is taken.  A function `compared` takes simulation, solver and duration of a RUN in its place.
    """
    main_before, argv, module_path = sys.modules.get("__main__"), sys.argv, list(sys.path)
    programs = os.environ.get("PATH")
    terminate = _set_handler(_terminated)
    now = session.Session(
        command=True,
        input_path=path,
        arguments=arguments.words or None,
        output_directory=directory,
        overwrite=arguments.overwrite,
        overwrite_without_asking=arguments.yes,
        resume=arguments.resume,
        reading=arguments.reading,
        subdirectory=arguments.subdirectory,
        interval=arguments.interval,
        quiet=arguments.quiet or not ranks.speaks(),
        checked=checked,
        compared=compared,
        viewed=[] if arguments.view and checked is None else None,
    )
    before = session.begin(now)
    try:
        _let_solfec_be_found()
        sys.path.append(HELPERS)
        with _warnings_by_line():
            return _guarded(path, now, arguments)
    finally:
        session.begin(before)
        loader.remove()
        sys.modules["__main__"], sys.argv, sys.path[:] = main_before, argv, module_path
        _set_handler(terminate)
        if programs is None:
            os.environ.pop("PATH", None)
        else:
            os.environ["PATH"] = programs


def _let_solfec_be_found() -> None:
    """Put the directory of this installation's `solfec` first in PATH: inputs that run further inputs look it up there."""
    for directory in (os.path.dirname(sys.executable), sysconfig.get_path("scripts")):
        if directory and os.access(os.path.join(directory, "solfec"), os.X_OK):
            os.environ["PATH"] = os.pathsep.join(filter(None, (directory, os.environ.get("PATH"))))
            return


def _guarded(path: str, now: session.Session, arguments: Arguments) -> int:
    """Run the input and turn what it raises into a status and a message."""
    status, watched = 0, []
    try:
        try:
            watched = _prepare_kernels(arguments)
            _execute(path, now, arguments)
        except BaseException:
            with suppress(Exception):  # the user should read the first error
                now.close()
            raise
        if now.checked is not None:
            _check_what_never_runs(now)
        if now.viewed is not None:
            from .viewer.live import look

            look(now, arguments.size, arguments.wire)
        now.close()
    except SystemExit as request:
        status = 0 if now.checked else _status(request.code)  # status of an input whose run has taken no steps
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except BaseException as error:
        if now.checked:  # after its first RUN an input may need results of a run
            report(error, path, arguments.traceback, "the check ends here, after a RUN that took no steps: ")
            return 0
        _hand_over_output()
        status = 1 if arguments.strict or not loader.is_failed_plot(error) else 0
        if ranks.tells(status, describe(error)):
            report(error, path, arguments.traceback, ranks.name() + ("" if status else "warning: plotting failed: "))
    if watched:
        from . import kernel_checks

        kernel_checks.unwrap(watched)
    return _hand_over_output() or status


def _check_what_never_runs(now: session.Session) -> None:
    """Inspect the models that the input has made and not run."""
    from .language.model import look_at

    for simulation in list(now.simulations):
        look_at(simulation)


def _hand_over_output() -> int:
    """Flush standard output; return 1 if it cannot be written, 0 also if its reader has closed it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
        return 0
    except OSError as error:
        discard(sys.stdout)
        if error.errno == errno.EPIPE:
            return 0
        print(f"solfec: the standard output cannot be written: {error.strerror}", file=sys.stderr)
        return 1


def _prepare_kernels(arguments: Arguments) -> list[tuple]:
    """Set the number of threads; in builds with checks, let kernels report floating-point exceptions, until they are unwrapped."""
    from . import _kernels

    if not arguments.threads:
        ranks.share_threads(_kernels.threads)
    if arguments.threads:
        _kernels.threads.set_threads(arguments.threads)
        if arguments.threads > 1 and _kernels.threads.get_threads() == 1 and not arguments.quiet:
            print(f"solfec: -t {arguments.threads}: this build runs kernels on one thread (OPENMP = no)", file=sys.stderr)
    if _kernels.threads.has_checks():
        from . import kernel_checks, simulation  # noqa: F401 (the modules that call kernels must be loaded)
        from .solvers import gauss_seidel, penalty  # noqa: F401

        return kernel_checks.watch_floating_point()
    return []


def _execute(path: str, now: session.Session, arguments: Arguments) -> None:
    """Compile and run the input file in a fresh main module."""
    with open(path, "rb") as file:
        source = file.read()
    loader.remember_lines(path, source)  # also if the input changes the directory
    now.input_text = source.decode("utf-8", errors="surrogateescape")
    try:
        reading = loader.read_input(source, path, arguments.python)
    except ValueError as error:
        raise UsageError(str(error)) from None
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = builtins
    for name in arguments.language.COMMANDS:
        if name not in arguments.language.NOT_INJECTED:
            setattr(module, name, arguments.language.load(name))
    sys.modules["__main__"] = module
    sys.argv = [path, *arguments.words]
    import scipy  # noqa: F401  # parts of it are imported later, when a scipy.py beside the input would be found first

    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))  # as Python does: the directory of a link's target
    loader.install(path, reading, arguments.python)
    loader.prepare(module, reading)
    if reading.told and not arguments.python and not now.quiet:
        print(f"{path}: read as Python 2 ({reading.why})", file=sys.stderr)
    if now.viewed is not None:
        now.namespace = module.__dict__
    try:
        exec(reading.code, module.__dict__)
    finally:  # an error stands in a line of its own
        loader.finish(reading)


def _status(code) -> int:
    """Exit status of sys.exit (code)."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _terminated(number, frame):
    raise SystemExit(128 + number)


def _set_handler(handler):
    """Handle TERM by `handler`; a no-op outside of the main thread."""
    try:
        return signal.signal(signal.SIGTERM, handler or signal.SIG_DFL)
    except ValueError:
        return None


@contextmanager
def _warnings_by_line():
    """Print the language's warnings as 'file:line: warning: text'; one process speaks for all."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message, category, filename, lineno, file=None, line=None):
            if issubclass(category, SolfecWarning) and not ranks.speaks():
                return
            if issubclass(category, SolfecWarning):
                print(f"{filename}:{lineno}: warning: {shown(message)}", file=file or sys.stderr)
            else:
                usual(message, category, filename, lineno, file, line)

        warnings.simplefilter("default", SolfecWarning)
        warnings.showwarning = show
        yield


# --- error messages ----------------------------------------------------------------------------------------


def report(error: BaseException, path: str, everything: bool = False, prefix: str = "") -> None:
    """Print an error: 'file:line: message' first, then the user's own calls that led there."""
    if everything:
        traceback.print_exception(error)
    frames = [
        (frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if session.is_users(frame.f_code.co_filename) and frame.f_code.co_filename != __file__
    ]
    frames = _below_input(frames, path)
    if isinstance(error, SyntaxError) and error.lineno is not None:
        frames.append((error.filename or path, error.lineno, "<module>"))
    if not frames:
        frames = [(path, 1, "<module>")]
    file, line, _ = frames[-1]
    text = [f"{file}:{line}: {prefix}{describe(error)}"]
    text += [f"  {note}" for note in getattr(error, "__notes__", ())]
    text += _source(file, line)
    for (file, line, name), repeated in itertools.groupby(reversed(frames[:-1])):  # a function that calls itself without end fills pages
        times = len(list(repeated))
        text.append(f"called from {file}:{line}" + ("" if name == "<module>" else f", in {name}") + (f", {times} times" if times > 1 else ""))
        text += _source(file, line)
    print(shown("\n".join(text)), file=sys.stderr)


def _below_input(frames: list, path: str) -> list:
    """Return frames from the input file on, without frames of the command line."""
    first = next((i for i, frame in enumerate(frames) if frame[0] == path), None)
    return frames if first is None else frames[first:]


def _source(file: str, line: int) -> list[str]:
    text = linecache.getline(file, line).strip()
    return [f"    {text}"] if text and "\0" not in text else []


def describe(error: BaseException) -> str:
    """Return one line for an error: its standard type, unless it is Solfec's own, and its message."""
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:  # the user's own error class
        text = ""
    if isinstance(error, (SolfecError, NotBuiltYet)):
        return text
    text += of_error(error)
    kind = next(k for k in type(error).__mro__ if not k.__module__.startswith("solfec"))
    return f"{kind.__name__}: {text}" if text else kind.__name__


if __name__ == "__main__":
    sys.exit(main())
