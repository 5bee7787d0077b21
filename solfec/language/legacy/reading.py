"""Is an input Python 2 or Python 3?  And the code that it becomes.

A switch decides, else a comment `# solfec: python2` or the first line's `#!`; else a file is Python 2 when it does not
parse as Python 3 or uses names that only Python 2 has.  A file that parses as both is what the user prefers
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

# The grammar's parser is slow to load: it waits for the first file that needs it.

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
    """How a file is read.

    Attributes
    ----------
    version : int
        2 or 3.
    code : code object
    why : str
        What decided, for the notice.
    watched : bool
        Python 3 that would parse as Python 2: divisions and random integers are watched.
    """

    version: int
    code: CodeType
    why: str = ""
    watched: bool = False

    @property
    def told(self) -> bool:
        """Whether the user may not know why the file is Python 2."""
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
        Whether a file that parses as both is Python 2: a module of an old input.
    preferred : Preference, optional
        What else decides for files that parse as both.

    Raises
    ------
    SyntaxError
        With the file and line, for what neither language is.
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
    """What Python 3 refused: Python 2, or an error of the reading that got further."""
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
    """Which name that only Python 2 has is used and not bound in the file; '' when there is none."""
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
    """A file that Python 3 parses: does Python 2, too?"""
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
    """Code of a Python 2 text; `masked` is it, masked, if at hand."""
    from .translate import translate

    expanded = expand_tabs(text)
    return compile_deep(translate(expanded, path, masked if expanded is text else None), path, mode)


def compile_deep(source, path: str, mode: str = "exec") -> CodeType:
    """Compile; long sums of thousands of terms need a larger stack than the usual one."""
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
