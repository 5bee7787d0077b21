"""Variables of list comprehensions, which stay bound in Python 2 when the list is made.

`[x + 1 for x in row]` becomes `[x + 1 for __legacy_x in row if (x := __legacy_x,)]` where the file has a further use of x.
"""

from __future__ import annotations

import re
from collections import Counter

from fissix.pgen2 import token

from . import grammar
from .grammar import is_leaf, symbols

_SCOPES = (symbols.funcdef, symbols.lambdef, symbols.old_lambdef)
_GENERATORS = (symbols.testlist_gexp, symbols.dictsetmaker, symbols.argument)


def survivors(tree, text: str) -> list[tuple]:
    """Return clauses `for x in row` of list comprehensions, with the leaves of variables that the rest of the text uses, too.

    Clauses in a class, a generator or the row of another comprehension are left out: Python 3 cannot bind an outer name there.
    """
    clauses = [clause for node in grammar.nodes(tree) if node.type == symbols.listmaker for clause in _clauses(node)]
    if not clauses:
        return []
    bound = [(clause, _targets(clause)) for clause in clauses]
    named = Counter(re.findall(r"\b[A-Za-z_]\w*\b", text))
    within: Counter = Counter()
    seen = set()
    for clause, targets in bound:
        names = {leaf.value for leaf in targets}
        for leaf in grammar.nodes(clause.parent if clause.parent.type == symbols.listmaker else _maker(clause)):
            if is_leaf(leaf) and leaf.value in names and id(leaf) not in seen:
                seen.add(id(leaf))
                within[leaf.value] += 1
    kept = [(clause, [leaf for leaf in targets if named[leaf.value] > within[leaf.value]]) for clause, targets in bound]
    return [(clause, leaves) for clause, leaves in kept if leaves and _binds_outside(_maker(clause))]


def _clauses(maker) -> list:
    """Return the `for` clauses of one list comprehension; a plain list has none."""
    found = []
    clause = maker.children[-1]
    while not is_leaf(clause) and clause.type in (symbols.comp_for, symbols.comp_if):
        if clause.type == symbols.comp_for:
            found.append(clause)
        clause = clause.children[-1]
    return found


def _maker(clause):
    while clause.type != symbols.listmaker:
        clause = clause.parent
    return clause


def _targets(clause) -> list:
    """Leaves of the names that a clause binds; none when it binds members or items."""
    leaves = [leaf for leaf in grammar.nodes(clause.children[1]) if is_leaf(leaf)]
    if any(leaf.value not in "(,)[]" and leaf.type != token.NAME for leaf in leaves):
        return []
    if any(node.type == symbols.power for node in grammar.nodes(clause.children[1])):
        return []
    return [leaf for leaf in leaves if leaf.type == token.NAME]


def _binds_outside(node) -> bool:
    while (parent := node.parent) is not None:
        if parent.type in _SCOPES and node is parent.children[-1]:
            return True
        if parent.type == symbols.classdef and node is parent.children[-1]:
            return False
        if parent.type == symbols.comp_for and node is parent.children[3]:
            return False
        if parent.type in _GENERATORS and any(child.type == symbols.comp_for for child in parent.children):
            return False
        node = parent
    return True


def read_afterwards(tree, text: str) -> list[tuple[int, str]]:
    """Return lines and names of variables that later text reads before it binds them again."""
    kept = [(_maker(clause), leaf) for clause, leaves in survivors(tree, text) for leaf in leaves]
    if not kept:
        return []
    leaves = [leaf for leaf in grammar.nodes(tree) if is_leaf(leaf)]
    rows = {id(leaf): row for row, leaf in enumerate(leaves)}
    found = []
    for maker, variable in kept:
        later = leaves[rows[id(grammar.last_leaf(maker))] + 1 :]
        use = next((leaf for leaf in later if leaf.value == variable.value and grammar.is_variable(leaf)), None)
        if use is not None and not grammar.is_target(use) and not _bound_by_a_comprehension(use):
            found.append((use.lineno, use.value))
    return sorted(set(found))


def _bound_by_a_comprehension(leaf) -> bool:
    node = leaf.parent
    while node is not None:
        last = node.children[-1]
        if not is_leaf(last) and last.type == symbols.comp_for:
            clause = last
            while not is_leaf(clause) and clause.type in (symbols.comp_for, symbols.comp_if):
                if clause.type == symbols.comp_for and leaf.value in {target.value for target in _targets(clause)}:
                    return True
                clause = clause.children[-1]
        node = node.parent
    return False
