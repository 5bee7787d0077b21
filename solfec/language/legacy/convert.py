"""`solfec --convert old.py`: a clean Python 3 file, to leave Python 2 for good.

Divisions whose operands show their kind become `/` or `//`; a division that depends on run time calls `divide`, and a note
lists its line.  fissix's own fixers do the rest.
"""

from __future__ import annotations

import re
import warnings
from functools import cache

from . import comprehensions, grammar, modules
from .grammar import first_leaf, is_leaf, nodes, symbols, value
from .reading import _magic, compile_deep, compile_old
from .source import Masked, decode, expand_tabs
from .translate import Rewriter, value_of_first

_FIXERS = (
    "apply basestring dict except exec execfile exitfunc filter funcattrs getcwdu has_key import imports imports2 input intern itertools"
    " itertools_imports long map metaclass methodattrs ne next nonzero numliterals operator paren print raise raw_input reduce"
    " reload renames repr standarderror sys_exc throw types unicode urllib xrange zip"
).split()  # fmt: skip
_MATHS = {"sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "log10", "pow", "hypot", "fabs", "floor", "ceil"}
_HELPERS = "solfec.language.legacy"


class _Converter(Rewriter):
    """Rewriter of divisions, escapes and floor; fissix's fixers do everything else."""

    def __init__(self, path: str, text: str, true_division: bool):
        super().__init__(path, Masked(text, []), true_division)
        self.asked: set[int] = set()  # lines with divisions that depend on run time
        self.bound = set(re.findall(r"(?m)\b(?:def|class)\s+(\w+)|^\s*(\w+)\s*=", text))
        self.bound = {name for pair in self.bound for name in pair}
        self.compares = False  # whether comparison functions are used
        self.helpers: set[str] = set()  # of `runtime`
        self.text = text

    def rewrite(self, tree) -> str:
        for node in nodes(tree):
            if is_leaf(node):
                if node.type == grammar.token.STRING:
                    self._string(node)
            elif node.type == symbols.term:
                self._term(node)
            elif node.type == symbols.expr_stmt:
                self._expr_stmt(node)
            elif node.type == symbols.power:
                self._floor(node)
                self._sorting(node)
            elif visit := _SYNTAX.get(grammar.NAMES[node.type]):
                visit(self, node)
        self._derive_exceptions()
        return self.joined(tree)

    def _term(self, node) -> None:
        children, openings = node.children, 0
        left = self._kind(children[0])
        for i in range(1, len(children), 2):
            operator, right = value(children[i]), self._kind(children[i + 1])
            if operator == "/" and not self.true_division and "float" not in (left, right):
                if left == right == "int":
                    self.replace(children[i], "//")
                    continue
                self.asked.add(children[i].lineno)
                self.helpers.add("divide")
                openings += 1
                self.replace(children[i], ",")
                self.after(children[i + 1], ")")
                left = None
            else:
                left = self._kind_of_product(left, operator, right)
        for _ in range(openings):
            self.before(node, "divide(")

    def _kind(self, node) -> str | None:
        """Return 'int' or 'float' if the text alone determines it."""
        kind = super()._kind(node)
        if kind is not None:
            return kind
        if node.type == symbols.power and len(node.children) == 2 and node.children[1].type == symbols.trailer:
            name, call = value(node.children[0]), value(node.children[1].children[0]) == "("
            if name in ("len", "int", "float") and call and name not in self.bound:
                return "float" if name == "float" else "int"
            if name in _MATHS and call and name not in self.bound:
                return "float"
            if name == "math" and value(node.children[1].children[1]) in ("pi", "e"):
                return "float"
        if node.type == symbols.power and len(node.children) == 3 and value(node.children[0]) == "math":
            return "float" if value(node.children[1].children[1]) in _MATHS else None
        if node.type == symbols.atom and len(node.children) == 3 and value(node.children[0]) == "(":
            return self._kind(node.children[1])
        if node.type in (symbols.arith_expr, symbols.term):
            kinds = [self._kind(child) for child in node.children[::2]]
            if "/" in [value(child) for child in node.children]:
                return "float" if kinds[0] == "float" else None
            return "float" if "float" in kinds and "plain" not in kinds else "int" if set(kinds) == {"int"} else None
        return None

    def _expr_stmt(self, node) -> None:
        _, operator, *right = node.children
        if len(right) == 1 and value(operator) == "/=" and not self.true_division and self._kind(right[0]) != "float":
            self.asked.add(operator.lineno)
            self.helpers.add("divisor")  # not `x = divide(x, y)`: arrays are divided in place, and x is evaluated once
            self.before(right[0], "divisor(")
            self.after(right[0], ")")

    def _except_clause(self, node) -> None:
        """Unpack exceptions in handlers on the line of `except`, which fissix's fixer does not do."""
        if len(node.children) < 4 or value_of_first(node.children[3]) not in ("(", "["):
            self._caught(node)
            return
        target = self.text_of(node.children[3])
        if not self.into_suite(self._next_suite(node), f"{target} = error.args; "):
            self.refuse(node, "an exception must be caught by a plain name when its handler begins with a compound statement")
        self.replace(node.children[2], " as")
        self._blank(node.children[3], "error")

    def _raised(self, node) -> None:
        self.raised.add(first_leaf(node.children[1]).value)

    def _sorting(self, node) -> None:
        """Turn comparison functions of sort and sorted into keys."""
        atom, *trailers = node.children
        for i, trailer in enumerate(trailers):
            if trailer.type != symbols.trailer or value(trailer.children[0]) != "(" or len(trailer.children) != 3:
                continue
            before = trailers[i - 1].children if i else [atom]
            method = i > 0 and len(before) == 2 and value(before[1]) == "sort"
            if not method and not (i == 0 and value(atom) == "sorted" and "sorted" not in self.bound):
                continue
            inner = trailer.children[1]
            arguments = [child for child in inner.children if value(child) != ","] if inner.type == symbols.arglist else [inner]
            plain = [x for x in arguments if x.type != symbols.argument]
            compared = plain[1 - method] if len(plain) > 1 - method else None
            for x in arguments:
                if x.type == symbols.argument and value(x.children[0]) == "cmp":
                    compared = x.children[2]
                    self.replace(x.children[0], "key")
            if compared is None or value(compared) == "None" or any(value(leaf) == "key" for x in arguments for leaf in x.children[:1]):
                continue
            self.before(compared, "cmp_to_key(" if compared.parent.type == symbols.argument else "key=cmp_to_key(")
            self.after(compared, ")")
            self.compares = True

    def _import_name(self, node) -> None:
        """Replace modules that have changed by ones that behave like the old ones."""
        named = node.children[1]
        items = [x for x in named.children if value(x) != ","] if named.type == symbols.dotted_as_names else [named]
        kept, moved = [], []
        for item in items:
            words = self.text_of(item).split()
            module = old_home(words[0], self.text)
            (moved.append(f"{module} as {words[-1]}") if module else kept.append(" ".join(words)))
        if moved:
            lines = [f"import {', '.join(kept)}"] if kept else []
            self._blank(node, "; ".join([*lines, *[f"from {_HELPERS}{home}" for home in moved]]))

    def _from(self, node) -> None:
        """Replace members of changed modules; the names may be in brackets, a list, or `old as new`."""
        module, last = self.text_of(node.children[1]), node.children[-1]
        named = node.children[-2] if value(last) == ")" else last
        if module in modules.OWN:
            self.replace(first_leaf(node.children[1]), f"{_HELPERS}.{modules.OWN[module]}")
        elif value(named) != "*":
            items = [x for x in named.children if value(x) != ","] if named.type == symbols.import_as_names else [named]
            words = [self.text_of(item).split() for item in items]
            gone = set(modules.members_gone(module))
            if gone & {item[0] for item in words} or (module in _CHANGED and re.search(_CHANGED[module], self.text)):
                members = ", ".join(f"{module}.{item[0]}" for item in words)
                self._blank(node, f"from {_HELPERS}.old import {module}; {', '.join(item[-1] for item in words)} = {members}")

    def _floor(self, node) -> None:
        """Make floor and ceil return floats, as in Python 2."""
        names = [value(node.children[0])]
        if names == ["math"] and node.children[1].type == symbols.trailer:
            names = [value(node.children[1].children[-1])]
        if names[0] in ("floor", "ceil") and names[0] not in self.bound and value(node.children[-1].children[0] if node.children[-1].children else node) == "(":
            self.before(node, "float(")
            self.after(node, ")")


_SYNTAX = {
    "funcdef": Rewriter._funcdef, "lambdef": Rewriter._lambdef, "testlist_safe": Rewriter._testlist_safe,
    "global_stmt": Rewriter._global_stmt, "except_clause": _Converter._except_clause, "import_name": _Converter._import_name,
    "import_from": _Converter._from, "classdef": Rewriter._classdef, "raise_stmt": _Converter._raised,
}  # fmt: skip
_CHANGED = {"subprocess": r"\bPopen\b|\bcheck_output\b", "csv": r"['\"][rwa]b['\"]", "gzip": r"\bgzip\s*\.\s*open\b", "sets": ""}


def old_home(module: str, text: str) -> str | None:
    """Return the import path within this package of a module as in Python 2; None if today's module is equivalent."""
    if module in modules.OWN:
        return f" import {modules.OWN[module]}"
    if module in _CHANGED:
        return f".old import {module}" if re.search(_CHANGED[module], text) else None
    gone = modules.members_gone(module)
    if gone and re.search(rf"(?<![.\w]){module}\s*\.\s*(?:{'|'.join(gone)})\b", text):
        return f".old import {module}"
    return None


def convert_file(path: str) -> tuple[str, list[str]]:
    """Return the Python 3 text of an old input, and notes for its owner.

    Raises
    ------
    SyntaxError
        The text is neither Python 2 nor Python 3, or cannot be converted.
    """
    with open(path, "rb") as file:
        text = decode(file.read(), path)
    if _magic(text) == 3:
        return text, [f"{path}: its first lines say that it is Python 3 already"]
    text = expand_tabs(text)
    compile_old(text, path)  # errors refer to the user's own lines
    future = grammar.futures(text)
    tree = grammar.tree_of(text, path, "print_function" in future)
    converter = _Converter(path, text, "division" in future)
    divided = converter.rewrite(tree)
    result = _stock(divided, path, "print_function" in future)
    helpers = [f"from {_HELPERS}.runtime import {', '.join(sorted(converter.helpers))}"] if converter.helpers else []
    helpers += ["from functools import cmp_to_key"] if converter.compares else []
    for name, function in (("round", "round_away as round"), ("cmp", "cmp"), ("file", "open_file as file")):
        if re.search(rf"(?<![.\w]){name} *\(", result) and name not in converter.bound:
            helpers.append(f"from {_HELPERS}.names import {function}")
    result = _with_imports(result, helpers)
    compile_deep(result, path)
    return result, _notes(path, text, sorted(converter.asked), comprehensions.read_afterwards(tree, text))


def _stock(text: str, path: str, print_function: bool) -> str:
    tool = _tool(print_function)
    tool.path = path
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(tool.refactor_string(text, path))


@cache  # it takes longer to make than an input to convert
def _tool(print_function: bool):
    from fissix.refactor import RefactoringTool

    class Tool(RefactoringTool):
        path = ""

        def log_error(self, message, *arguments, **named):
            raise SyntaxError(f"cannot be converted: {message % arguments if arguments else message}", (self.path, 1, 1, ""))

        def log_message(self, message, *arguments):
            pass

        log_debug = log_message

    return Tool([f"fissix.fixes.fix_{name}" for name in _FIXERS], {"print_function": print_function})


def _with_imports(text: str, helpers: list[str]) -> str:
    """Put imports below the opening comments, text and __future__ imports."""
    if not helpers:
        return text
    import ast

    line = 0
    body = ast.parse(text).body
    for i, statement in enumerate(body):
        opening = i == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        if not opening and not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__"):
            break
        line = statement.end_lineno
    lines = text.splitlines(keepends=True)
    while line < len(lines) and lines[line].startswith("#"):
        line += 1
    return "".join([*lines[:line], *[helper + "\n" for helper in helpers], *lines[line:]])


def _notes(path: str, text: str, divided: list[int], survivors: list[tuple[int, str]]) -> list[str]:
    notes = [f"{path}:{line}: note: `divide` stands for '/': write '//' for integers, '/' for floats" for line in divided]
    for line, name in survivors:
        notes.append(f"{path}:{line}: note: '{name}' has no longer the last value that a list comprehension above gave it: assign it")
    for pattern, what in (
        (r"\bexecfile\b", "the executed file has to be converted, too"),
        (r"(?m)^[^#\n]*\bexec\b(?! *\()|\bexec *\(", "what exec runs has to be Python 3, too"),
        (r"\bstr *\(|%s", "str and '%s' of a computed float show all its digits in Python 3"),
        (r"\.message\b", "exceptions have no member message in Python 3: write str (e)"),
        (r"\b(?:import|from) +sets\b", "there is no module sets in Python 3: use the type set"),
        (r"\.(?:en|de)code *\(", "strings are made of characters in Python 3, and encode gives bytes"),
    ):
        if match := re.search(pattern, text):
            notes.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: note: {what}")
    return notes
