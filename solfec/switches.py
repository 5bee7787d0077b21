"""Switches and sub-commands of the command line, for its help and the shells' completion."""

from __future__ import annotations

USAGE = "usage: solfec [-w [-y] | -c] [-s sub-directory] [-i seconds] [-t threads] path [arguments]"
SWITCHES = (  # switch, name of its value, what it does; those of Solfec-1.0 may stand anywhere
    ("-w", "", "compute again and overwrite results (asks on a terminal)"),
    ("-c", "", "go on from the last frame of results that are there"),
    ("-v", "", "open a window; RETURN in it runs the input's models, or plays their results"),
    ("-f", "", "with -v: edges alone at first"),
    ("-g", "WxH", "with -v: size of the window in pixels"),
    ("-s", "NAME", "use a sub-directory of the output directory"),
    ("-i", "SECONDS", "wall time between progress reports (default: 1)"),
)
NEW_SWITCHES = (  # before the path only
    ("-y", "", "overwrite without asking (with -w)"),
    ("-t", "THREADS", "number of threads (default: all cores)"),
    ("--mpi", "", "ask MPI for other processes, as solfec-mpi does (default: where mpiexec has started several)"),
    ("--quiet", "", "no progress and no notes, whatever the input says"),
    ("--log", "FILE", "write what is printed to the end of a file, too"),
    ("--python2", "", "read the input as Python 2 (docs/legacy.md)"),
    ("--python3", "", "read the input as Python 3"),
    ("--convert", "", "print the old input as Python 3 and stop"),
    ("--strict", "", "failures of plots in old inputs are errors, not warnings"),
    ("--traceback", "", "show the program's own frames in error messages"),
    ("--version", "", "print the version"),
    ("--help", "", "print this text"),
)
SUBCOMMANDS = (  # name, arguments, what it does
    ("info", "PATH...", "what is in results directories (--json: for programs)"),
    ("plot", "PATH [ITEM...]", "draw histories (more: solfec plot --help)"),
    ("view", "PATH", "look at results, or write pictures of them (more: solfec view --help)"),
    ("export", "PATH FORMAT", "write results for other programs: --vtkhdf, --xdmf, --csv, --gltf"),
    ("report", "PATH", "write a page about results: model, pictures, energies, contacts, what looks wrong"),
    ("new", "[FILE]", "write a small input with comments to begin with"),
    ("examples", "[NAME...]", "list the examples, or copy some of them"),
    ("check", "PATH [ARGUMENTS]", "what the input's model is like before its first step (--json: for programs)"),
    ("profile", "PATH [ARGUMENTS]", "run an input, and tell where its time goes (--html FILE: with pictures)"),
    ("cross-check", "PATH [ARGUMENTS]", "the same run by another code, and what differs (more: solfec cross-check --help)"),
    ("plan", "PATH [ARGUMENTS]", "what several processes would make of the input: time, memory, messages (more: solfec plan --help)"),
    ("fmu", "PATH [FILE]", "write an input's model as an FMU for co-simulation"),
    ("fclib", "FILE...", "solve contact problems in FCLIB files (more: solfec fclib --help)"),
    ("compare", "A B", "what differs between two results, or two files that LOCDYN_DUMP wrote"),
    ("completion", "SHELL", "print completion for bash, zsh or fish"),
)


def help_text() -> str:
    """Return the text of --help."""
    lines = [
        USAGE, "",
        "Runs the input file `path`, or reads the results of an earlier run of it when there are any.  `path` is an",
        "input file or an output directory; it is the first word that names an existing file or directory.", "",
        *(f"  {' '.join(filter(None, (switch, value))):<12} {text}" for switch, value, text in SWITCHES), "",
        "before the path only:", "",
        *(f"  {' '.join(filter(None, (switch, value))):<12} {text}" for switch, value, text in NEW_SWITCHES), "",
        "in the place of all these:", "",
        *(f"  solfec {f'{name} {words}':<22} {text}" for name, words, text in SUBCOMMANDS), "",
        "Other words are the input's own arguments (NON_SOLFEC_ARGV).  Examples:", "",
        "  solfec in.py 12            run in.py, which gets the argument 12; when there are results, read them",
        "  solfec -w -y in.py 12      run it again",
        "  solfec -c in.py 12         go on where it was stopped",
        "  solfec out/arch            read the results in out/arch with the copy of the input there",
        "  solfec info out/arch       what the results hold",
        "  solfec plot out/arch KINETIC keystone:0,0,1:DZ", "",
        "Status: 0 normal end, 1 error in the input, 2 wrong command line, 130, 143 and 129 after INT, TERM and HUP.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
