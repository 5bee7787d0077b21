"""Damaged old inputs are translated or refused with file and line: never a crash, a hang or another exception."""

from __future__ import annotations

import random
import re

import pytest
from test_samples import samples

from solfec.language.legacy.reading import read
from solfec.language.legacy.source import expand_tabs, mask

PIECES = (
    "print", "print >>f,", ",", "(", ")", "[", "]", "'", '"""', "\\", "\n", "\n\t", "\n        ", "/", "/=", "<>", "`", "%", "0777", "5L",
    "exec", "raise E, 'x'", "except E, e:", "lambda (a, b):", "def f ((a, b)):", "if x:", "else:", "global x", ":", ";", "\f", "\r", "\0",
    "\u00b5", "# coding: none", "from __future__ import division\n", "import *", "return", "yield", "class A:", "=", "==", "*", "**", "@",
    "->", "legacy_masked_0__", "...", "not", "in", "is", "1e", "0x", "ur'\\u'", "b'x'", "async", "nonlocal x", "{", "}", "-", "try:", "with a as b:",
)  # fmt: skip
TEXTS = [sample.values[0] for name in ("language.txt", "models.txt") for sample in samples(name)]


def mutated(chance: random.Random) -> str:
    """A sample with a few pieces deleted, doubled, moved or put in."""
    text = chance.choice(TEXTS)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        at, length = chance.randrange(len(text) + 1), chance.choice((1, 1, 3, 10, 40))
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + length :]
        elif kind == 1:
            text = text[:at] + text[at : at + length] + text[at:]
        elif kind == 2:
            text = text[:at] + chance.choice(PIECES) + text[at:]
        elif kind == 3:
            text = text[:at] + chance.choice(PIECES) + text[at + length :]
        else:
            other = chance.choice(TEXTS)
            start = chance.randrange(len(other))
            text = text[:at] + other[start : start + length] + text[at:]
    return text


def check(seed: int) -> str:
    chance = random.Random(seed)
    content = mutated(chance).encode("utf-8" if chance.random() < 0.9 else "utf-16-le")
    try:
        reading = read(content, "old.py", forced=chance.choice((None, 2)))
    except SyntaxError as error:
        lines = len(re.split(rb"\r\n|\r|\n", content)) + 1
        assert error.filename == "old.py" and 1 <= error.lineno <= lines, (seed, error)
        return "refused"
    assert reading.code.co_filename == "old.py"
    return "translated"


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_a_sample_of_damaged_inputs_is_translated_or_refused_by_line(start):
    outcomes = [check(seed) for seed in range(start, start + 50)]
    assert {"refused", "translated"} == set(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 11_000, 1000))
def test_damaged_inputs_are_translated_or_refused_by_line(start):
    outcomes = [check(seed) for seed in range(start, start + 1000)]
    assert outcomes.count("translated") > 100 and outcomes.count("refused") > 100


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_masking_is_undone_and_keeps_lines(number):
    text = expand_tabs(TEXTS[number])
    masked = mask(text)
    assert masked.text.count("\n") == text.count("\n")
    assert masked.unmask(masked.text) == text
