"""Decision whether an input is Python 2 or Python 3, and its compilation.

A switch decides; else a comment `# solfec: python2` or `#!` in the first line; else a file is Python 2 if it does not
parse as Python 3 or uses names that only Python 2 has.  For a file that parses as both, the user's preference decides
(`preference`); without a preference it is read as Python 3 and watched.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
import threading
import warnings
from dataclasses import dataclass
from types import CodeType

from . import cache
from .preference import Preference
from .source import Masked, decode, expand_tabs, layout, mask

# The grammar's parser is slow to load, so it is imported at its first use.

_MAGIC = re.compile(r"^#(?:.*\bsolfec:\s*python\s*([23])\b|!.*\bpython([23])(?:\.\d+)?\b)")
_OLD_NAMES = {
    "execfile", "long", "xrange", "unicode", "raw_input", "reduce", "basestring", "unichr", "apply", "cmp", "reload", "file",
    "coerce", "intern",
}  # fmt: skip
_OLD_MEMBERS = {"has_key", "iteritems", "itervalues", "iterkeys", "maxint"}
_OLD_MODULES = {"ConfigParser", "Queue", "Tkinter", "StringIO", "cStringIO", "cPickle", "commands", "sets", "__builtin__", "urllib2",
                "tkSimpleDialog", "tkFileDialog", "tkMessageBox", "copy_reg", "exceptions"}  # fmt: skip
_OLD_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_OLD_NAMES | _OLD_MEMBERS | _OLD_MODULES))}|clock)\b")


SWITCH, COMMENT = "--python2", "its comment asks for it"


@dataclass
class Reading:
    """Result of reading a file.

    Attributes
    ----------
    version : int
        2 or 3.
    code : code object
    why : str
        Reason of the decision, for the notice.
    watched : bool
        Python 3 that would parse as Python 2: divisions and random integers are watched.
    """

    version: int
    code: CodeType
    why: str = ""
    watched: bool = False

    @property
    def told(self) -> bool:
        """Whether the user needs a notice that the file is read as Python 2."""
        return self.version == 2 and self.why not in (SWITCH, COMMENT)


def read(
    content: bytes, path: str, forced: int | None = None, prefers_old: bool = False, preferred: Preference | None = None
) -> Reading:
    """Read a file's content.

    Parameters
    ----------
    content : bytes
    path : str
        For messages and tracebacks.
    forced : int or None
        2 or 3: the switch.
    prefers_old : bool
        Read a file that parses as both as Python 2, for modules of an old input.
    preferred : Preference, optional
        The user's preference for files that parse as both.

    Raises
    ------
    SyntaxError
        The text is neither language; with the file and line.
    """
    if preferred is None and prefers_old:
        preferred = Preference(2, "a module of an old input")
    words = (path, str(forced), repr(preferred))
    if forced != 3 and (kept := cache.load(content, *words)) is not None:
        return Reading(*kept)
    reading = _read(content, path, forced, preferred)
    if reading.version == 2 or reading.watched:
        cache.save((reading.version, reading.code, reading.why, reading.watched), content, *words)
    return reading


def _read(content: bytes, path: str, forced: int | None, preferred: Preference | None) -> Reading:
    if forced == 3:
        return Reading(3, compile_deep(content, path), "--python3")
    text = decode(content, path)
    magic = 0 if forced else _magic(text)
    if magic == 3:
        return Reading(3, compile_deep(content, path), "comment")
    if forced == 2 or magic == 2:
        return Reading(2, compile_old(text, path), SWITCH if forced else COMMENT)
    masked = mask(text)
    try:
        compile_deep(masked.text, path)
    except SyntaxError as refusal:
        return _old_or_neither(text, path, refusal, masked)
    if why := _uses_old_names(text, path):
        return Reading(2, compile_old(text, path), why)
    return _of_both(content, text, path, preferred, masked)


def _magic(text: str) -> int:
    for line in text.split("\n", 10)[:10]:
        if match := _MAGIC.match(line):
            return int(match[1] or match[2])
    return 0


def _old_or_neither(text: str, path: str, refusal: SyntaxError, masked: Masked) -> Reading:
    """Read a text that is not Python 3: as Python 2, or raise the error of the parser that got further."""
    try:
        code = compile_old(text, path, masked=masked)
    except SyntaxError as error:
        further = (error.lineno or 0) > (refusal.lineno or 0) or "Missing parentheses" in (refusal.msg or "")
        if further and "never closed" not in (refusal.msg or ""):
            raise error from None
        refusal.filename = path
        raise refusal from None
    what = (refusal.msg or "").split(". Did you mean")[0].split(". Maybe you")[0].split(" (<")[0]
    return Reading(2, code, f"line {refusal.lineno}: {what}")


def _uses_old_names(text: str, path: str) -> str:
    """Return a name of Python 2 only that the file uses without binding it; '' if there is none."""
    if not _OLD_WORD.search(text):
        return ""
    bound, used = set(), []
    for node in ast.walk(ast.parse(text, path)):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
            elif node.id in _OLD_NAMES:
                used.append((line, node.id, node.id))
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.Attribute) and (
            node.attr in _OLD_MEMBERS or (node.attr == "clock" and isinstance(node.value, ast.Name) and node.value.id == "time")
        ):
            used.append((line, "", node.attr))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            for alias in node.names:
                bound.add(alias.asname or alias.name)
                if module is None and alias.name in _OLD_MODULES:
                    used.append((line, "", alias.name))
            if module in _OLD_MODULES and not node.level or (module == "time" and any(a.name == "clock" for a in node.names)):
                used.append((line, "", module))
    found = sorted((line, shown) for line, name, shown in used if name not in bound)
    return f"line {found[0][0]}: {found[0][1]}" if found else ""


def _of_both(content: bytes, text: str, path: str, preferred: Preference | None, masked: Masked) -> Reading:
    """Read a file that parses as Python 3 and may parse as Python 2, too."""
    prefers_old = preferred is not None and preferred.version == 2
    interesting = prefers_old or preferred is None and ("/" in text or "random" in text)
    if not interesting or layout(text).formatted:
        return Reading(3, compile_deep(content, path))
    from . import grammar
    from .translate import translate_watched

    if grammar.futures(text) & {"division", "annotations"}:
        return Reading(3, compile_deep(content, path))
    expanded = expand_tabs(text)
    if expanded is not text:
        text, masked = expanded, mask(expanded)
    try:
        tree = grammar.tree_of(masked.text, path, "print_function" in grammar.futures(text))
    except SyntaxError:
        return Reading(3, compile_deep(content, path))
    if grammar.is_only_python_3(tree):
        return Reading(3, compile_deep(content, path))
    if prefers_old:
        return Reading(2, compile_old(text, path), preferred.why)
    watched = translate_watched(tree, masked, path)
    return Reading(3, compile_deep(watched or content, path), watched=watched is not None)


def compile_old(text: str, path: str, mode: str = "exec", masked: Masked | None = None) -> CodeType:
    """Compile a Python 2 text; `masked` is the masked text, if available."""
    from .translate import translate

    expanded = expand_tabs(text)
    return compile_deep(translate(expanded, path, masked if expanded is text else None), path, mode)


def compile_deep(source, path: str, mode: str = "exec") -> CodeType:
    """Compile a text, with a larger stack for sums of thousands of terms."""
    try:
        return _compile(source, path, mode)
    except (RecursionError, MemoryError):
        pass
    except ValueError as error:  # zero bytes
        raise SyntaxError(str(error), (path, 1, 1, "")) from None
    outcome: list = []

    def run():
        try:
            outcome.append(_compile(source, path, mode))
        except (RecursionError, MemoryError):
            outcome.append(SyntaxError("an expression is too deep", (path, 1, 1, "")))
        except BaseException as error:
            outcome.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(512 << 20)
    try:
        sys.setrecursionlimit(max(limit, 200_000))
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def _compile(source, path: str, mode: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # escapes such as '\e' were legal
        return builtins.compile(source, path, mode, dont_inherit=True)
