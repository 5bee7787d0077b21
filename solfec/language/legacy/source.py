"""Text of an input for both Pythons: decoded, with expanded tabs, and with parts masked that need no translation.

Large inputs consist mostly of numbers.  The grammar's parser is slow, so short names replace runs of numbers and plain simple
statements before parsing, and are replaced back afterwards; line numbers and the order of lines do not change.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_STRING = r"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^\\\n']|\\.)*'|\"(?:[^\\\n\"]|\\.)*\""
TOKEN = re.compile(rf"(?P<string>{_STRING})|(?P<comment>#[^\n]*)|(?P<join>\\\n)|[\[({{]|[\])}}]|\n", re.S)
_NUMBER = r"[-+]?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBERS = re.compile(rf"(?<=[\[(,])(\s*)({_NUMBER}(?:\s*,\s*{_NUMBER}){{2,}})(?=\s*[,\])])")
MASK = "legacy_masked_%d__"
_MASKED = re.compile(r"legacy_masked_(\d+)__(\(\n+\)|\n*)")

# A simple statement without any of these means the same in both languages.
_SUSPECT = re.compile(
    r"""[/%`@\x0c]|<>|\\[uUN]|(?<![\w.])0\d|\d[lLjJ]\b|:\s*$|:=|\b[uUbBfF]{1,2}[rR]?["']|\b[rR][fFbB]["']
    |\b(?:print|exec|raise|except|lambda|global|nonlocal|import|async|await|yield|str|unicode|legacy_\w*
    |class|def|for|if|elif|else|while|try|finally|with)\b
    |\.\s*(?:has_key|keys|values|items|iter\w+|view\w+|next|sort|write|format|message|func_\w+|im_\w+|maxint)\b""",
    re.X,
)

_SIGN = r"(?:(?:(?<=[\[(,=])|(?<=[\[(,=] )|(?<=print ))-)?"  # a sign that belongs to the following number
_LITERAL = re.compile(rf"{_SIGN}(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?(?!\w)|{_SIGN}\d+")
_LONGEST_ALIKE = 2000  # longer lines are parsed with masked runs of numbers
_COMPOUND = re.compile(
    r"\b(?:lambda|def|class|for|if|elif|else|while|try|except|finally|with|import|global|nonlocal|from|exec)\b|:\s*$|[@\\`]"
    r"|(?<![\w.])0\d|legacy_|\d[lL]\b|[^\x00-\x7f]"
)


def decode(content: bytes, path: str) -> str:
    """Decode an input by its coding comment, else as UTF-8, else as Latin-1; line ends become newlines."""
    if b"\0" in content:
        raise SyntaxError("the file holds zero bytes: it is no text", (path, content.count(b"\n", 0, content.index(b"\0")) + 1, 1, ""))
    if content.startswith(codecs.BOM_UTF8):
        content = content[3:]
    names = ["utf-8", "latin-1"]
    for number, line in enumerate(content.split(b"\n", 2)[:2]):
        if match := _COOKIE.match(line):
            names.insert(0, match[1].decode())
            try:
                codecs.lookup(names[0])
            except LookupError:
                raise SyntaxError(f"unknown encoding: {names[0]}", (path, number + 1, 1, "")) from None
            break
    for name in names:
        try:
            text = content.decode(name)
        except UnicodeError:
            continue
        break
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.endswith("\n") else text + "\n"


@dataclass
class Layout:
    """Offsets of the logical lines of a text, and the kinds of strings in it."""

    lines: list[tuple[int, int]] = field(default_factory=list)
    formatted: bool = False  # holds a string with prefix f, which Python 2 does not have


def layout(text: str) -> Layout:
    """Find the logical lines of a text; strings, brackets and joined lines continue over newlines."""
    result = Layout()
    depth, start = 0, 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            if depth == 0:
                result.lines.append((start, match.end()))
                start = match.end()
        elif token in "[({":
            depth += 1
        elif token in "])}":
            depth = max(depth - 1, 0)
        elif match.lastgroup == "string" and re.search(r"(?<!\w)[rR]?[fF][rR]?$", text[max(match.start() - 3, 0) : match.start()]):
            result.formatted = True
    if start < len(text):
        result.lines.append((start, len(text)))
    return result


def expand_tabs(text: str) -> str:
    """Replace tabs in indentation by blanks: a tab advances to the next multiple of 8 columns, as in Python 2."""
    if "\t" not in text and "\f" not in text:
        return text
    parts = []
    for start, end in layout(text).lines:
        line = text[start:end]
        indent = re.match(r"[ \t\f]*", line)[0]
        parts.append(indent.rpartition("\f")[2].expandtabs(8) + line[len(indent) :])
    return "".join(parts)


@dataclass
class Masked:
    """A text with runs of numbers and plain statements replaced by names."""

    text: str
    originals: list[str]
    # masked lines that differ from earlier lines only by numbers: the rows of those lines, and the numbers
    like: dict[int, tuple[tuple[int, int], list[str]]] = field(default_factory=dict)

    def finish(self, text: str) -> str | None:
        """Return the complete translation from a translated masked text; None if similar lines were translated differently."""
        lines = text.split("\n") if self.like else []
        originals = list(self.originals)
        split: dict[tuple[int, int], list[str]] = {}
        for number, (rows, known) in self.like.items():
            if (pieces := split.get(rows)) is None:
                translated = "\n".join(lines[slice(*rows)]).strip()
                if _LITERAL.findall(translated) != known:
                    return None
                pieces = split[rows] = _LITERAL.split(translated)
            literals = _LITERAL.findall(originals[number])
            originals[number] = "".join([x for pair in zip(pieces, [*literals, ""]) for x in pair])
        return _unmasked(text, originals)

    def unmask(self, text: str) -> str:
        """Restore the originals in a text made from the masked one."""
        return _unmasked(text, self.originals)


def _unmasked(text: str, originals: list[str]) -> str:
    def original_of(match: re.Match) -> str:
        original = originals[int(match[1])]
        return original + "\n" * (match[2].count("\n") - original.count("\n"))

    return _MASKED.sub(original_of, text) if originals else text


def mask(text: str, alike: bool = True) -> Masked:
    """Replace text that means the same in both languages by names of equal numbers of lines.

    With `alike`, lines that differ from earlier ones only by numbers are masked, too, and translated like them.
    """
    originals: list[str] = []
    verdicts: dict[str, tuple[bool, bool]] = {}  # by lines without their numbers: whether they are plain, and simple statements
    first: dict[str, tuple[tuple[int, int], list[str]]] = {}
    like: dict[int, tuple[tuple[int, int], list[str]]] = {}
    row = 0

    def numbers(match: re.Match) -> str:
        originals.append(match[2])
        return match[1] + MASK % (len(originals) - 1) + "\n" * match[2].count("\n")

    def name_of(line: str, code: str) -> str:
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        originals.append(code)
        joins = "(" + "\n" * code.count("\n") + ")" if "\n" in code else ""
        return indent + MASK % (len(originals) - 1) + joins + "\n"

    parts = []
    for start, end in layout(text).lines:
        line = text[start:end]
        body = line.strip()
        rows = row, row + line.count("\n")
        row = rows[1]
        if not body or body.startswith("#") or len(line) < 12:
            parts.append(line)
            continue
        key = _LITERAL.sub(_kind_of_literal, body) if len(line) < _LONGEST_ALIKE else body
        if (verdict := verdicts.get(key)) is None:
            plain = "#" not in key and not _SUSPECT.search(key) and _balanced(key)
            verdict = verdicts[key] = plain, not plain and not _COMPOUND.search(key)
        plain, simple = verdict
        if plain and len(line) >= 20:
            parts.append(name_of(line, body))
        elif alike and simple and len(line) < _LONGEST_ALIKE:
            known = first.get(key)
            if known is None:
                first[key] = rows, _LITERAL.findall(body)
                parts.append(line)
            else:
                like[len(originals)] = known
                parts.append(name_of(line, body))
        elif len(line) > 200:
            parts.append(_outside_strings(line, numbers))
        else:
            parts.append(line)
    return Masked("".join(parts), originals, like)


def _kind_of_literal(match: re.Match) -> str:
    digits = match[0].lstrip("-")
    return "0.0" if not digits.isdecimal() else "0" if digits[0] != "0" or len(digits) == 1 else "00"  # octal


def _balanced(line: str) -> bool:
    return all(line.count(a) == line.count(b) for a, b in ("()", "[]", "{}"))


def _outside_strings(line: str, replace) -> str:
    """Mask runs of numbers that are not in strings or comments."""
    parts, at = [], 0
    for match in TOKEN.finditer(line):
        if match.lastgroup in ("string", "comment"):
            parts += [_NUMBERS.sub(replace, line[at : match.start()]), match[0]]
            at = match.end()
    return "".join([*parts, _NUMBERS.sub(replace, line[at:])])
