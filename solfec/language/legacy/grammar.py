"""Parsing with the grammar of both Pythons, and small queries of its trees."""

from __future__ import annotations

import re

from fissix import pygram, pytree
from fissix.pgen2 import driver, parse, token, tokenize

from .source import TOKEN

symbols = pygram.python_symbols
NAMES = {number: name for name, number in vars(symbols).items()}
_FUTURE = re.compile(r"^[ ]*from[ ]+__future__[ ]+import[ ]+(.*(?:\([^)]*\))?.*)$", re.M)


def futures(text: str) -> set[str]:
    """Names that a text imports from __future__."""
    return {name for found in _FUTURE.findall(text) for name in re.findall(r"\w+", found)}


def tree_of(text: str, path: str, print_function: bool) -> pytree.Node:
    """Parse a text as Python 2; raise SyntaxError with the line of an error."""
    grammar = pygram.python_grammar_no_print_statement if print_function else pygram.python_grammar
    try:
        return driver.Driver(grammar, convert=pytree.convert).parse_string(text)
    except parse.ParseError as error:
        line, column = error.context[1] if error.context and len(error.context) > 1 else (1, 0)
        what = error.value.strip() if isinstance(error.value, str) else ""
        raise SyntaxError(f"invalid syntax at {what!r}" if what else "invalid syntax", (path, line, column + 1, "")) from None
    except tokenize.TokenError as error:
        if "statement" in error.args[0] and (opening := _unclosed(text)):
            raise SyntaxError(f"{opening[0]!r} was never closed", (path, opening[1], 1, "")) from None
        raise SyntaxError("unterminated string", (path, error.args[1][0], 1, "")) from None
    except IndentationError as error:
        raise IndentationError(error.args[0], (path, error.lineno or 1, 1, "")) from None
    except (AssertionError, IndexError, KeyError, RecursionError) as error:
        raise SyntaxError(f"not understood ({type(error).__name__})", (path, 1, 1, "")) from None


def _unclosed(text: str) -> tuple[str, int] | None:
    """Return the last bracket that is not closed, and its line."""
    opened = []
    for match in TOKEN.finditer(text):
        if match[0] in ("(", "[", "{"):
            opened.append((match[0], match.start()))
        elif match[0] in (")", "]", "}") and opened:
            opened.pop()
    return (opened[-1][0], text.count("\n", 0, opened[-1][1]) + 1) if opened else None


def nodes(tree):
    """Yield all nodes and leaves, parents before children, without recursion."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def is_leaf(node) -> bool:
    return isinstance(node, pytree.Leaf)


def value(node) -> str | None:
    """Text of a leaf, None for a node."""
    return node.value if is_leaf(node) else None


def first_leaf(node):
    while not is_leaf(node):
        node = node.children[0]
    return node


def last_leaf(node):
    while not is_leaf(node):
        node = next(child for child in reversed(node.children) if is_leaf(child) or child.children)
    return node


def is_variable(leaf) -> bool:
    """Whether a leaf is a variable's name, not a member's or a keyword's."""
    before, after = leaf.prev_sibling, leaf.next_sibling
    member = leaf.parent.type == symbols.trailer and value(before) == "."
    return leaf.type == token.NAME and not member and not (leaf.parent.type == symbols.argument and value(after) == "=")


def is_target(node) -> bool:
    """Whether a node is assigned to, deleted or bound here."""
    while node.parent is not None:
        parent, kind = node.parent, node.parent.type
        after = parent.children[_index(parent, node) + 1 :]
        if kind == symbols.expr_stmt:
            return any(value(child) == "=" or child.type == token.OP or (value(child) or "").endswith("=") for child in after)
        if kind == symbols.del_stmt:
            return True
        if kind in (symbols.for_stmt, symbols.comp_for):
            return any(value(child) == "in" for child in after)
        if kind == symbols.with_item:
            return not after
        if kind not in (symbols.testlist_star_expr, symbols.exprlist, symbols.atom, symbols.testlist_gexp, symbols.listmaker):
            return False
        node = parent
    return False


def _index(parent, node) -> int:
    return next(i for i, child in enumerate(parent.children) if child is node)


_ONLY_PYTHON_3 = {"annassign", "namedexpr_test", "star_expr", "async_stmt", "async_funcdef"}


def is_only_python_3(tree) -> bool:
    """Whether a tree that parses as Python 2 uses features of Python 3, or constructs unusual in Python 2."""
    for node in nodes(tree):
        if is_leaf(node):
            if node.value == "nonlocal" or node.type == token.RARROW:
                return True
            continue
        name = NAMES[node.type]
        if name in _ONLY_PYTHON_3 or (name == "tname" and len(node.children) > 1):
            return True
        if name == "raise_stmt" and any(value(child) == "from" for child in node.children):
            return True
        if name == "print_stmt" and len(node.children) == 2 and node.children[1].type == symbols.atom:
            inner = node.children[1].children[1]
            if inner.type == symbols.testlist_gexp and len(node.children[1].children) == 3 and value(inner.children[1]) == ",":
                return True  # print (a, b): Python 2 would show a tuple
        if name == "term" and any(value(child) == "@" for child in node.children):
            return True
    return False
