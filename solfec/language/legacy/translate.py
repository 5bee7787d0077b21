"""Translation of Python 2 to Python 3 by grammar, which keeps every statement on its line.

Only text before, in and after leaves of the tree changes, so line numbers of errors and tracebacks are the
user's own.  Decisions that depend on run time (is `a / b` a division of integers?) become calls of functions of
`runtime`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fissix.pgen2 import token

from . import comprehensions, grammar
from .grammar import first_leaf, is_leaf, last_leaf, symbols, value
from .source import Masked, mask

METHODS = {
    "has_key", "keys", "values", "items", "iterkeys", "itervalues", "iteritems", "viewkeys", "viewvalues", "viewitems",
    "next", "sort", "write", "format", "encode", "decode", "translate", "xreadlines",
}  # fmt: skip
MEMBERS = {"message", "func_name", "func_code", "func_defaults", "func_globals", "func_doc", "func_dict", "im_func", "im_self"}
COMPARISONS = {"<": "__legacy_less__", ">": "__legacy_greater__", "<=": "__legacy_at_most__", ">=": "__legacy_at_least__"}
CAUGHT = "__legacy_caught__"
_FLOAT = re.compile(r"(\d+\.\d*|\.\d+)([eE][-+]?\d+)?$|\d+[eE][-+]?\d+$")


def translate(text: str, path: str, masked: Masked | None = None) -> str:
    """Translate a normalised Python 2 text; every statement keeps its line; `masked` is the masked text, if available."""
    masked = masked or mask(text)
    future = grammar.futures(text)
    tree = grammar.tree_of(masked.text, path, "print_function" in future)
    rewriter = Rewriter(path, masked, true_division="division" in future)
    rewriter.keep_variables(comprehensions.survivors(tree, text))
    result = masked.finish(rewriter.rewrite(tree))
    return translate(text, path, mask(text, alike=False)) if result is None else result


@dataclass
class _Edit:
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    value: str | None = None


class Rewriter:
    """Traverses a tree, outer nodes first, and collects changes at its leaves."""

    def __init__(self, path: str, masked, true_division: bool):
        self.path = path
        self.masked = masked
        self.true_division = true_division
        self.edits: dict[int, _Edit] = {}
        self.parameters = 0
        self.baseless: dict[str, object] = {}  # classes without bases
        self.raised: set[str] = set()  # names that are raised or caught

    def rewrite(self, tree) -> str:
        """The text of the tree with all changes."""
        for node in grammar.nodes(tree):
            if is_leaf(node):
                self._leaf(node)
            elif visit := getattr(self, "_" + grammar.NAMES[node.type], None):
                visit(node)
        self._derive_exceptions()
        return self.joined(tree)

    def joined(self, tree) -> str:
        """The leaves' texts, changed."""
        parts = []
        for leaf in filter(is_leaf, grammar.nodes(tree)):
            edit = self.edits.get(id(leaf))
            if edit is None:
                parts += [leaf.prefix, leaf.value]
            else:
                text = leaf.value if edit.value is None else edit.value
                parts += [leaf.prefix, *edit.before, text, *edit.after]
        return "".join(parts)

    # --- changes -------------------------------------------------------------------------------------------

    def edit(self, leaf) -> _Edit:
        return self.edits.setdefault(id(leaf), _Edit())

    def before(self, node, text: str) -> None:
        self.edit(first_leaf(node)).before.append(text)

    def after(self, node, text: str) -> None:
        self.edit(last_leaf(node)).after.insert(0, text)

    def replace(self, leaf, text: str) -> None:
        self.edit(leaf).value = text

    def refuse(self, node, what: str):
        raise SyntaxError(what, (self.path, first_leaf(node).lineno, 1, ""))

    def into_suite(self, suite, text: str) -> bool:
        """Insert a simple statement before the first one of a suite; return False if that is a compound statement."""
        if suite.type != symbols.suite:
            self.before(suite, text)
            return True
        first = next(child for child in suite.children if not is_leaf(child) or child.type not in (token.NEWLINE, token.INDENT))
        if first.type != symbols.simple_stmt:
            return False
        self.before(first, text)
        return True

    def keep_variables(self, survivors) -> None:
        """Keep variables of list comprehensions bound after them."""
        for clause, leaves in survivors:
            for leaf in leaves:
                self.replace(leaf, "__legacy_" + leaf.value)
            names = dict.fromkeys(leaf.value for leaf in leaves)
            bindings = ", ".join(f"{name} := __legacy_{name}" for name in names)
            self.after(clause.children[3], f" if ({bindings},)")

    # --- leaves --------------------------------------------------------------------------------------------

    def _leaf(self, leaf) -> None:
        text = leaf.value
        if leaf.type == token.NUMBER:
            if text[-1] in "lL":
                text = text[:-1]
            if len(text) > 1 and re.fullmatch("0[0-7]+", text):
                text = "0o" + text[1:]
            if text != leaf.value:
                self.replace(leaf, text)
        elif leaf.type == token.STRING:
            self._string(leaf)
        elif text == "<>":
            self.replace(leaf, "!=")
        elif text == "print" and leaf.type == token.NAME and leaf.parent.type in (symbols.simple_stmt, symbols.suite):
            self.replace(leaf, "__legacy_print__(True, None)")

    def _string(self, leaf) -> None:
        match = re.match(r"[a-zA-Z]*", leaf.value)
        prefix, rest = match[0].lower(), leaf.value[match.end() :]
        if prefix == "ur":
            self.replace(leaf, "r" + rest)
        elif prefix == "" and "\\" in rest and re.search(r"\\[uUN]", rest):
            # Python 2 knows these escapes in unicode strings only
            rest = re.sub(r"(?s)\\(.)", lambda m: "\\" + m[0] if m[1] in "uUN" else m[0], rest)
            self.replace(leaf, rest)

    # --- statements ----------------------------------------------------------------------------------------

    def _print_stmt(self, node) -> None:
        keyword, *rest = node.children
        newline = value(rest[-1]) != ","
        if value(rest[0]) == ">>":
            self.replace(keyword, f"__legacy_print__({newline}, ")
            self.replace(rest[0], "")
        elif len(rest) > 1 and any(child.type == symbols.trailer for child in grammar.nodes(node)):
            self.replace(keyword, "(")  # prints each item before the next one is evaluated
            self.after(node, ", __legacy_print__(True, None))" if newline else ")")
            for item in rest:
                if value(item) != ",":
                    self.before(item, "__legacy_item__(")
                    self.after(item, ")")
            return
        else:
            self.replace(keyword, f"__legacy_print__({newline}, None,")
        self.after(node, ")")

    def _exec_stmt(self, node) -> None:
        self.replace(node.children[0], "__legacy_exec__(")
        for child in node.children:
            if value(child) == "in":
                self.replace(child, ",")
        self.after(node, ")")

    def _raise_stmt(self, node) -> None:
        self.raised.add(first_leaf(node.children[1]).value)
        if len(node.children) > 2 and value(node.children[2]) == ",":
            self.before(node.children[1], "__legacy_raise__(")
            self.after(node, ")")

    def _classdef(self, node) -> None:
        if len(node.children) == 4 or (len(node.children) == 6 and node.children[3].type == token.RPAR):
            self.baseless[node.children[1].value] = node

    def _derive_exceptions(self) -> None:
        """Derive old-style classes that are raised or caught from Exception."""
        for name in self.raised & self.baseless.keys():
            node = self.baseless[name]
            if len(node.children) == 4:
                self.after(node.children[1], "(Exception)")
            else:
                self.after(node.children[2], "Exception")

    def _except_clause(self, node) -> None:
        """Keep the name bound after the handler, as in Python 2."""
        self._caught(node)
        if len(node.children) < 4:
            return
        comma, target = node.children[2], node.children[3]
        suite = self._next_suite(node)
        name = self.text_of(target)
        unpacked = ".args" if name[0] in "([" else ""  # exceptions were sequences of their arguments
        if self.into_suite(suite, f"{name} = {CAUGHT}{unpacked}; "):
            self.replace(comma, " as")
            self._blank(target, CAUGHT)
        elif is_leaf(target):
            self.replace(comma, " as")
        else:
            self.refuse(node, "an exception must be caught by a plain name when its handler begins with a compound statement")

    def _caught(self, node) -> None:
        self.raised.update(leaf.value for leaf in grammar.nodes(node.children[1]) if is_leaf(leaf) and leaf.type == token.NAME)

    def _next_suite(self, node):
        siblings = node.parent.children
        at = next(i for i, child in enumerate(siblings) if child is node)
        return next(child for child in siblings[at + 1 :] if value(child) != ":")

    def text_of(self, node) -> str:
        return self.masked.unmask(str(node)).strip()

    def _blank(self, node, text: str) -> None:
        """Replace a whole node by a text."""
        leaves = [leaf for leaf in grammar.nodes(node) if is_leaf(leaf)]
        for leaf in leaves:
            self.replace(leaf, "")
        self.replace(leaves[0], text)

    def _global_stmt(self, node) -> None:
        """Move a global statement up: in Python 2 it may follow the first use of its names."""
        scope = node.parent
        while scope is not None and scope.type != symbols.funcdef:
            scope = scope.parent
        if scope is None:
            self._blank(node, "pass")
            return
        names = [child.value for child in node.children[1:] if child.value != ","]
        text = self.masked.unmask(str(scope.children[-1]))
        at = re.search(r"\bglobal\s+" + r"\s*,\s*".join(map(re.escape, names)) + r"\b", text)
        used = [name for name in names if at and re.search(rf"(?<![.\w]){re.escape(name)}\b", text[: at.start()])]
        if not used:
            return
        if not self.into_suite(scope.children[-1], f"global {', '.join(names)}; "):
            self.refuse(node, f"'global {', '.join(names)}' must stand above the first use of the name")
        self._blank(node, "pass")

    def _import_from(self, node) -> None:
        if value(node.children[-1]) != "*":
            return
        scope = node.parent
        while scope is not None and scope.type not in (symbols.funcdef, symbols.classdef):
            scope = scope.parent
        if scope is not None:  # Python 3 has it at the top of a module only
            self._blank(node, f"__legacy_import_all__({self.text_of(node.children[1])!r})")

    # --- definitions ---------------------------------------------------------------------------------------

    def _funcdef(self, node) -> None:
        arguments = node.children[2]
        nested = self._nested_parameters(arguments)
        for parameter, name in nested:
            if not self.into_suite(node.children[-1], f"{self.text_of(parameter)} = {name}; "):
                self.refuse(node, "a function with nested parameters must not begin with a compound statement")
            self._blank(parameter, name)

    def _lambdef(self, node) -> None:
        nested = self._nested_parameters(node.children[1]) if len(node.children) == 4 else []
        for parameter, name in nested:
            self.before(node.children[-1], f"(lambda {self.text_of(parameter).strip('()')}: ")
            self.after(node.children[-1], f")(*{name})")
            self._blank(parameter, name)

    _old_lambdef = _lambdef

    def _nested_parameters(self, arguments):
        if is_leaf(arguments):
            return []
        found = []
        candidates = [arguments, *arguments.children, *(c for a in arguments.children if not is_leaf(a) for c in a.children)]
        for child in candidates:
            if child.type in (symbols.tfpdef, symbols.vfpdef) and len(child.children) > 1 and child not in [p for p, _ in found]:
                self.parameters += 1
                found.append((child, f"__legacy_{self.parameters}__"))
        return found

    # --- expressions ---------------------------------------------------------------------------------------

    def _term(self, node) -> None:
        """Translate `a / b * c % d` to percent (divide (a, b) * c, d)."""
        children, openings = node.children, []
        left = self._kind(children[0])
        for i in range(1, len(children), 2):
            operator, right = value(children[i]), self._kind(children[i + 1])
            if operator == "/" and not self.true_division and "float" not in (left, right):
                helper, left = "__legacy_divide__(", None
            elif operator == "%" and left not in ("float", "int", "plain"):
                helper, left = "__legacy_percent__(", None
            else:
                helper, left = None, self._kind_of_product(left, operator, right)
            if helper:
                openings.append(helper)
                self.replace(children[i], ",")
                self.after(children[i + 1], ")")
        for helper in reversed(openings):  # the last operator is the outermost call
            self.before(node, helper)

    def _comparison(self, node) -> None:
        """Translate `a < b`, which compares objects of different types, too; chains stay unchanged."""
        if len(node.children) == 3 and (helper := COMPARISONS.get(value(node.children[1]))):
            self.before(node, helper + "(")
            self.replace(node.children[1], ",")
            self.after(node, ")")

    @staticmethod
    def _kind_of_product(left, operator, right) -> str | None:
        if "float" in (left, right) and (operator == "/" or {left, right} <= {"float", "int"}):
            return "float"
        return "int" if left == right == "int" and operator in ("*", "//") else None

    def _kind(self, node) -> str | None:
        """Return 'int' or 'float' for a literal, 'plain' for a string that formats no float by its str."""
        if node.type == symbols.factor:
            return self._kind(node.children[1])
        if node.type == token.NUMBER:
            return "float" if _FLOAT.fullmatch(node.value) else None if node.value[-1] in "jJ" else "int"
        if node.type == token.STRING and not re.search(r"%[^%a-zA-Z]*s|%\(", node.value):
            return "plain"
        return None

    def _expr_stmt(self, node) -> None:
        children = node.children
        if len(children) != 3 or not is_leaf(children[1]):
            return
        operator = children[1].value
        if operator == "/=" and not self.true_division and self._kind(children[2]) != "float":
            self.before(children[2], "__legacy_divisor__((")
            self.after(children[2], "))")
        elif operator == "%=" and children[0].type == token.NAME and self._kind(children[2]) is None:
            self.replace(children[1], f"= __legacy_percent__({children[0].value}, (")
            self.after(children[2], "))")

    def _power(self, node) -> None:
        atom, trailers = node.children[0], node.children[1:]
        openings = []
        for i, trailer in enumerate(trailers):
            if trailer.type != symbols.trailer:
                break
            called = i + 1 < len(trailers) and value_of_first(trailers[i + 1]) == "("
            if trailer.children[0].value == ".":
                name = trailer.children[1].value
                if name in METHODS and called:
                    openings.append(self._wrap(trailer, "__legacy_method__("))
                elif name in MEMBERS and not (trailer is node.children[-1] and grammar.is_target(node)):
                    openings.append(self._wrap(trailer, "__legacy_member__("))
            elif i == 0 and value(atom) in ("str", "unicode") and trailer.children[0].value == "(":
                self.replace(atom, "__legacy_text__")
                self.edit(trailer.children[0]).after.append(atom.value + ", ")
        for opening in reversed(openings):
            self.before(node, opening)

    def _wrap(self, trailer, opening: str) -> str:
        """Translate `x.name` to helper (x, 'name'); return the text that must come before x."""
        self.replace(trailer.children[0], ", ")
        self.replace(trailer.children[1], f"{trailer.children[1].value!r})")
        return opening

    def _atom(self, node) -> None:
        if value(node.children[0]) == "`":
            self.replace(node.children[0], "__legacy_repr__((")
            self.replace(node.children[-1], "))")

    def _testlist_safe(self, node) -> None:
        """Translate [x for x in 1, 2]."""
        self.before(node, "(")
        self.after(node, ")")


def value_of_first(node) -> str | None:
    return value(node.children[0]) if node.children else value(node)


class WatchRewriter(Rewriter):
    """Rewriter that changes divisions only."""

    def rewrite(self, tree) -> str:
        for node in grammar.nodes(tree):
            if not is_leaf(node) and node.type == symbols.term:
                self._term(node)
        return self.joined(tree)

    def _term(self, node) -> None:
        children = node.children
        for i in range(1, len(children), 2):
            if value(children[i]) == "/" and "float" not in (self._kind(children[i - 1]), self._kind(children[i + 1])):
                self.before(node, "__legacy_watch__(")
                self.replace(children[i], ",")
                self.after(children[i + 1], ")")


def translate_watched(tree, masked, path: str) -> str | None:
    """Return the text of a Python 3 tree with watched divisions; None if similar lines were translated differently."""
    return masked.finish(WatchRewriter(path, masked, true_division=False).rewrite(tree))
