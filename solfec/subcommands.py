"""Sub-commands of the command line: `solfec info`, `plot`, `view`, `export`, `report` and others; output of `check`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from importlib import import_module

from .errors import SolfecError, shown

PLOT_HELP = """\
Draws histories of results against time, items of one kind in one panel; without items energies, contacts, iterations, time step and
penetration.  An item is one word:

  KINETIC  STEP  CONS  GSITERS  GAP       of the whole model (any name or entity of HISTORY)
  arch:KINETIC  arch:GAP  7:R             of the body labelled arch, or number 7
  arch:0,0,1:DZ  arch:0,0,1:MISES         at a referential point: CX ... DX ... VX ... SX ... MISES
  arch:0,0,1:1,2:R  *:-:1,2:CU            of constraints along a direction (-: the normal) and of contacts between two surfaces
  2:PZ  0:STROKE  3:|V|                   of results of parmec: NUMBER:ENTITY with the names of its HISTORY; KINETIC  STEP  CONTACTS
"""


CHECK_HELP = """\
Builds the models of an input and says, without a step, a callback or a file of results, what they are like: counts, masses, overlaps and
gaps, faces that share one averaged point, joints that contradict one another or start with a velocity, bodies that nothing holds, the
critical step, memory and size of results.  What the input prints goes to the standard error.  Status: 0, or 1 where there is an error.
"""


PROFILE_HELP = """\
Runs an input to its end, or until CTRL-C, and tells where its time goes: the input itself, steps with their phases, output, callbacks, and the
kernels that take most; iterations, bytes, and advice in words. Results go into the sub-directory `profile` of the output directory (or that of -s).
What the input prints goes to the standard error.
"""


def info(words: list[str]) -> int:
    """Describe the contents of results directories."""
    from .parmec import stored_run
    from .results import info as facts

    parser = _parser("info", "What is in results directories; nothing in them is executed.")
    parser.add_argument("--json", action="store_true", help="for programs: a list of objects")
    parser.add_argument("path", nargs="+", help="output directory or results file")
    options = parser.parse_args(words)
    kinds = [stored_run if stored_run.is_own(path) else facts for path in options.path]
    found = [kind.describe(path) for kind, path in zip(kinds, options.path)]
    print(json.dumps(found, indent=1) if options.json else "\n\n".join(kind.text(one) for kind, one in zip(kinds, found)))
    return 0


def plot(words: list[str]) -> int:
    """Draw pictures of histories."""
    from .parmec import stored_run
    from .results import plot as pictures

    parser = _parser("plot", PLOT_HELP)
    parser.add_argument("-o", metavar="FILE", help="picture to write: .png, .svg or .pdf (default: histories.png beside the results)")
    parser.add_argument("--from", dest="start", type=float, metavar="T", help="first time")
    parser.add_argument("--to", dest="end", type=float, metavar="T", help="last time")
    parser.add_argument("--skip", type=int, default=1, metavar="N", help="every N-th frame")
    parser.add_argument("path", help="output directory or results file")
    parser.add_argument("item", nargs="*")
    options = parser.parse_intermixed_args(words)
    if stored_run.is_own(options.path):
        print(stored_run.picture(options.path, options.item, options.o, options.start, options.end, options.skip))
    elif options.item:
        print(pictures.plot_items(options.path, options.item, options.o, options.start, options.end, options.skip))
    else:
        print(pictures.plot(options.path, options.o))
    return 0


def fmu(words: list[str]) -> int:
    """Write the model of an input as an FMU."""
    from .coupling.fmu import export_fmu

    parser = _parser("fmu", "Writes the model that an input gives to its first RUN as an FMU for co-simulation (FMI 2); nothing is computed.")
    parser.add_argument("path", help="input file")
    parser.add_argument("file", nargs="?", help="FMU to write (default: the input's name with .fmu, here)")
    options = parser.parse_args(words)
    print(export_fmu(options.path, options.file or os.path.splitext(os.path.basename(options.path))[0]))
    return 0


def check_options(words: list[str]) -> tuple[bool, list[str]] | int:
    """Return whether JSON is requested and the command line of the input; or the exit status if nothing remains to do."""
    parser = _parser("check", CHECK_HELP)
    parser.usage = "solfec check [--json] [switches] path [arguments]"
    parser.add_argument("--json", action="store_true", help="for programs: a list of objects, one per model")
    if words[:1] in (["-h"], ["--help"]):
        parser.print_help()
        return 0
    return words[:1] == ["--json"], words[1:] if words[:1] == ["--json"] else words


def profile_options(words: list[str]) -> tuple[bool, str | None, list[str]] | int:
    """Return whether JSON is requested, the path of the page, and the command line of the input; or the exit status if nothing remains to do."""
    parser = _parser("profile", PROFILE_HELP)
    parser.usage = "solfec profile [--json] [--html FILE] [switches] path [arguments]"
    parser.add_argument("--json", action="store_true", help="for programs: an object")
    parser.add_argument("--html", metavar="FILE", help="write a page with pictures of the parts and of the course of the run")
    if words[:1] in (["-h"], ["--help"]):
        parser.print_help()
        return 0
    as_json, page, rest = False, None, list(words)
    while rest[:1] in (["--json"], ["--html"]):
        if rest.pop(0) == "--json":
            as_json = True
        elif rest:
            page = rest.pop(0)
        else:
            print("solfec profile: --html needs a file", file=sys.stderr)
            return 2
    return as_json, page, rest


def tell_check(found: list[dict], as_json: bool) -> int:
    """Print findings; return 1 if they contain an error."""
    return run("check", [], lambda _: _tell(found, as_json))


def _tell(found: list[dict], as_json: bool) -> int:
    from .inspection import text

    facts = [{key: value for key, value in one.items() if key != "simulation"} for one in found]
    print(json.dumps(facts, indent=1) if as_json else "\n\n".join(map(text, facts)) or "the input makes no SOLFEC object")
    return int(any(level == "error" for one in facts for level, _ in one["findings"]))


def completion(words: list[str]) -> int:
    """Print completion scripts for shells."""
    from .completion import SHELLS

    parser = _parser("completion", 'Prints completion for a shell, e.g. for ~/.bashrc: eval "$(solfec completion bash)"')
    parser.add_argument("shell", choices=list(SHELLS))
    print(SHELLS[parser.parse_args(words).shell](), end="")
    return 0


def _in(module: str, function: str = "command") -> Callable[[list[str]], int]:
    """Make a sub-command of a function in a module that is loaded when the sub-command runs."""
    return lambda words: getattr(import_module(f".{module}", __package__), function)(words)


COMMANDS = {
    "info": info,
    "plot": plot,
    "view": _in("viewer.view_command"),
    "export": _in("tools.exporting"),
    "report": _in("tools.report"),
    "compare": _in("tools.comparing"),
    "new": _in("tools.examples", "new"),
    "examples": _in("tools.examples"),
    "fclib": _in("solvers.fclib_table", "main"),
    "fmu": fmu,
    "completion": completion,
}


def run(name: str, words: list[str], command: Callable[[list[str]], int] | None = None) -> int:
    """Run a sub-command; return the exit status."""
    try:
        status = (command or COMMANDS[name])(words)
        sys.stdout.flush()  # here, where a closed pipe can still be distinguished from an error
        return status
    except BrokenPipeError:  # as in `solfec info DIR | head -1`: the reader has closed the pipe, which is no error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as request:  # argparse's
        return int(request.code or 0)
    except (SolfecError, ValueError) as error:
        print(f"solfec {name}: {shown(error)}", file=sys.stderr)
        return 2 if name == "compare" else 1


def _parser(name: str, text: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=f"solfec {name}", description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
