"""`solfec --convert old.py`: a clean Python 3 file, to leave Python 2 for good.

Divisions whose operands tell their kind become `/` or `//`; where only the running program knows, a call of `divide`
stays, and a note says on which lines.  What else changes is the work of fissix's own fixers.
"""

from __future__ import annotations

import re
import warnings

from . import grammar
from .grammar import is_leaf, nodes, symbols, value
from .reading import _magic, compile_deep, compile_old
from .source import Masked, decode, expand_tabs
from .translate import Rewriter

_FIXERS = (
    "apply basestring dict except exec execfile exitfunc filter funcattrs getcwdu has_key import imports imports2 input intern itertools"
    " itertools_imports long map metaclass methodattrs ne next nonzero numliterals operator paren print raise raw_input reduce"
    " reload renames repr standarderror sys_exc throw types unicode urllib xrange zip"
).split()  # fmt: skip
_MATHS = {"sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "log10", "pow", "hypot", "fabs", "floor", "ceil"}
_HELPERS = "solfec.language.legacy"


class _Converter(Rewriter):
    """Divisions, escapes and floor; everything else is left to the stock fixers."""

    def __init__(self, path: str, text: str, true_division: bool):
        super().__init__(path, Masked(text, []), true_division)
        self.asked: set[int] = set()  # lines that divide what is known at run time only
        self.bound = set(re.findall(r"(?m)\b(?:def|class)\s+(\w+)|^\s*(\w+)\s*=", text))
        self.bound = {name for pair in self.bound for name in pair}

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
            elif visit := _SYNTAX.get(grammar.NAMES[node.type]):
                visit(self, node)
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
                openings += 1
                self.replace(children[i], ",")
                self.after(children[i + 1], ")")
                left = None
            else:
                left = self._kind_of_product(left, operator, right)
        for _ in range(openings):
            self.before(node, "divide(")

    def _kind(self, node) -> str | None:
        """'int' or 'float' where the text alone tells."""
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
        target, operator, *right = node.children
        if len(right) == 1 and value(operator) == "/=" and not self.true_division and self._kind(right[0]) != "float":
            self.asked.add(operator.lineno)
            self.replace(operator, f"= divide({str(target).strip()},")
            self.after(right[0], ")")

    def _floor(self, node) -> None:
        """floor and ceil give floats in Python 2."""
        names = [value(node.children[0])]
        if names == ["math"] and node.children[1].type == symbols.trailer:
            names = [value(node.children[1].children[-1])]
        if names[0] in ("floor", "ceil") and names[0] not in self.bound and value(node.children[-1].children[0] if node.children[-1].children else node) == "(":
            self.before(node, "float(")
            self.after(node, ")")


_SYNTAX = {
    "funcdef": Rewriter._funcdef, "lambdef": Rewriter._lambdef, "testlist_safe": Rewriter._testlist_safe,
    "global_stmt": Rewriter._global_stmt,
}  # fmt: skip


def convert_file(path: str) -> tuple[str, list[str]]:
    """Python 3 text of an old input, and notes on what its owner should look at.

    Raises
    ------
    SyntaxError
        What is neither Python 2 nor Python 3, or cannot be converted.
    """
    with open(path, "rb") as file:
        text = decode(file.read(), path)
    if _magic(text) == 3:
        return text, [f"{path}: its first lines say that it is Python 3 already"]
    text = expand_tabs(text)
    compile_old(text, path)  # errors are told by the user's own lines
    future = grammar.futures(text)
    tree = grammar.tree_of(text, path, "print_function" in future)
    converter = _Converter(path, text, "division" in future)
    divided = converter.rewrite(tree)
    result = _stock(divided, path, "print_function" in future)
    for name in ("random", "pickle"):
        result = re.sub(rf"(?m)^([ ]*)import {name}[ ]*$", rf"\1from {_HELPERS} import {name}2 as {name}", result)
        result = re.sub(rf"(?m)^([ ]*)from {name} import\b", rf"\1from {_HELPERS}.{name}2 import", result)
    helpers = [f"from {_HELPERS}.runtime import divide"] if converter.asked else []
    for name, function in (("round", "round_away as round"), ("cmp", "cmp"), ("file", "open_file as file")):
        if re.search(rf"(?<![.\w]){name} *\(", result) and name not in converter.bound:
            helpers.append(f"from {_HELPERS}.names import {function}")
    result = _with_imports(result, helpers)
    compile_deep(result, path)
    return result, _notes(path, text, sorted(converter.asked))


def _stock(text: str, path: str, print_function: bool) -> str:
    from fissix.refactor import RefactoringTool

    class Tool(RefactoringTool):
        def log_error(self, message, *arguments, **named):
            raise SyntaxError(f"cannot be converted: {message % arguments if arguments else message}", (path, 1, 1, ""))

        def log_message(self, message, *arguments):
            pass

        log_debug = log_message

    tool = Tool([f"fissix.fixes.fix_{name}" for name in _FIXERS], {"print_function": print_function})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(tool.refactor_string(text, path))


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


def _notes(path: str, text: str, divided: list[int]) -> list[str]:
    notes = [f"{path}:{line}: note: `divide` stands for '/': write '//' for integers, '/' for floats" for line in divided]
    for pattern, what in (
        (r"\bexecfile\b", "the executed file has to be converted, too"),
        (r"\bstr *\(|%s", "str and '%s' of a computed float show all its digits in Python 3"),
        (r"\.message\b", "exceptions have no member message in Python 3: write str (e)"),
        (r"\b(?:import|from) +sets\b", "there is no module sets in Python 3: use the type set"),
        (r"\.sort *\( *(?:cmp|lambda \w+ *,)|\bsorted *\([^)]*\bcmp\b", "sort takes no comparison function in Python 3"),
    ):
        if match := re.search(pattern, text):
            notes.append(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: note: {what}")
    return notes
