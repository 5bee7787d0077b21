"""Corrections of misspelt names, for error messages."""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from difflib import get_close_matches

LIKENESS = 0.7  # of difflib, from which a name counts as misspelt
UNREAD = "; HISTORY gives None while results are written: put it under `if solfec.mode == 'READ':` and run the input once more"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like a word, whatever its case; None if none is near."""
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(name.lower(), name)
    found = get_close_matches(word.lower(), names, 1, LIKENESS)
    return names[found[0]] if found and names[found[0]] != word else None


def did_you_mean(word: str, known: Iterable[str], quoted: bool = True) -> str:
    """Return '; did you mean ...?' with the known name that is most like a word, '' if none is near."""
    name = nearest(word, known)
    return "" if name is None else f"; did you mean {name!r}?" if quoted else f"; did you mean {name}?"


def of_error(error: BaseException) -> str:
    """Return a correction of the name that a NameError or AttributeError did not find, or what to do with None from HISTORY, or ''."""
    if isinstance(error, TypeError) and "NoneType" in str(error) and error.__traceback__ is not None:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return UNREAD if "HISTORY" in (frame.line or "") else ""
    name = getattr(error, "name", None)
    if isinstance(error, AttributeError) and name and error.obj is not None:
        return did_you_mean(name, (known for known in dir(error.obj) if not known.startswith("_")), quoted=False)
    if not isinstance(error, NameError) or not name:
        return ""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    frame = trace.tb_frame
    return did_you_mean(name, {**frame.f_builtins, **frame.f_globals, **frame.f_locals}, quoted=False)
