"""Text of an input as both Pythons read it: decoded, with tabs expanded, and with what needs no translation masked.

Large inputs are mostly numbers.  The grammar's parser is slow, so runs of numbers and plain simple statements are
replaced by short names before it sees them, and put back afterwards; neither line numbers nor the order of lines change.
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

_DIGITS = re.compile(r"\d+")
_COMPOUND = re.compile(
    r"\b(?:lambda|def|class|for|if|elif|else|while|try|except|finally|with|import|global|nonlocal|from|exec)\b|:\s*$|[@\\;`]"
    r"|(?<![\w.])0\d|legacy_|\d[lL]\b|[^\x00-\x7f]"
)


def decode(content: bytes, path: str) -> str:
    """Text of an input: as its coding comment says, else UTF-8, else Latin-1; line ends become newlines."""
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
    """Where the logical lines of a text begin and end (offsets), and what kinds of strings it holds."""

    lines: list[tuple[int, int]] = field(default_factory=list)
    formatted: bool = False  # holds a string with prefix f, which Python 2 does not have


def layout(text: str) -> Layout:
    """Find the logical lines of a text: strings, brackets and joined lines keep newlines inside one."""
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
    """Indent logical lines by blanks only: a tab goes to the next column of 8, as in Python 2."""
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
    like: dict[int, int] = field(default_factory=dict)  # masked lines that differ from another line by digits only

    def finish(self, text: str) -> str | None:
        """The whole translation of a translated masked text; None when lines alike did not translate alike."""
        lines = text.split("\n") if self.like else []
        for number, line in self.like.items():
            pieces = _DIGITS.split(lines[line].strip())
            digits = _DIGITS.findall(self.originals[number])
            if len(pieces) != len(digits) + 1:
                return None
            self.originals[number] = "".join([x for pair in zip(pieces, [*digits, ""]) for x in pair])
        return self.unmask(text)

    def unmask(self, text: str) -> str:
        """Put the originals back into a text made from the masked one."""
        return _MASKED.sub(self._original, text) if self.originals else text

    def _original(self, match: re.Match) -> str:
        original = self.originals[int(match[1])]
        return original + "\n" * (match[2].count("\n") - original.count("\n"))


def mask(text: str, alike: bool = True) -> Masked:
    """Replace what means the same in both languages by names that fill as many lines; with `alike`, also lines that differ
    from an earlier one by digits only, which are translated like it."""
    originals: list[str] = []
    first: dict[str, int] = {}
    like: dict[int, int] = {}
    row = 0

    def numbers(match: re.Match) -> str:
        originals.append(match[2])
        return match[1] + MASK % (len(originals) - 1) + "\n" * match[2].count("\n")

    parts = []
    for start, end in layout(text).lines:
        line = text[start:end]
        body = line.strip()
        if not body or body.startswith("#") or len(line) < 20:
            parts.append(line)
        elif "#" not in line and not _SUSPECT.search(line) and _balanced(line):
            indent = re.match(r"[ \t]*", line)[0]
            code = line[len(indent) :].rstrip("\n")
            originals.append(code)
            joins = "(" + "\n" * code.count("\n") + ")" if "\n" in code else ""
            parts.append(indent + MASK % (len(originals) - 1) + joins + "\n")
        elif len(line) > 200:
            parts.append(_outside_strings(line, numbers))
        elif alike and "\n" not in line[:-1] and not _COMPOUND.search(line):
            known = first.setdefault(_DIGITS.sub("0", body), row)
            if known == row:
                parts.append(line)
            else:
                like[len(originals)] = known
                parts.append(re.match(r"[ \t]*", line)[0] + MASK % len(originals) + "\n")
                originals.append(body)
        else:
            parts.append(line)
        row += line.count("\n")
    return Masked("".join(parts), originals, like)


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
