"""Limits on draw calls, time in Python, seeking, opening and uploading; thousands of commands do not increase memory."""

from __future__ import annotations

import gc
import os
import sys
import time

import numpy as np
import pytest

import solfec
from solfec import cli
from solfec.errors import NotBuiltYet, SolfecError
from solfec.viewer.sources import Live, Stored

FRAMES = """
s = SOLFEC('DYNAMIC', 1E-3, 'out/frames')
b = BULK_MATERIAL(s, density=1000.0)
BODY(s, 'RIGID', SPHERE((0, 0, 0), 0.5, 1, 1), b)
RUN(s, PENALTY_SOLVER(), 10.0)
"""
MANY = """
s = SOLFEC('DYNAMIC', 1E-3, 'out/balls')
b = BULK_MATERIAL(s, density=1000.0)
for k in range(COUNT):
    body = BODY(s, 'RIGID', SPHERE((k % 10 * 2., k // 10 % 10 * 2., k // 100 * 2.), 0.5, 1, 1), b)
    INITIAL_VELOCITY(body, (k % 7, 0, 0), (0, 0, 1))
RUN(s, PENALTY_SOLVER(), 0.02)
"""


def results(directory, text: str, monkeypatch) -> str:
    monkeypatch.chdir(directory)
    (directory / "input.py").write_text(text)
    assert cli.main(["--quiet", "input.py"]) == 0
    (name,) = os.listdir(directory / "out")
    return str(directory / "out" / name)


def processor(function, times: int = 5) -> float:
    """Least seconds of processor of this thread that a function takes."""
    taken = []
    for _ in range(times):
        started = time.thread_time()
        function()
        taken.append(time.thread_time() - started)
    return min(taken)


def slowness() -> float:
    """How many times slower than the reference machine, on which 100 000 turns of a loop take 5 ms, this one is at present; at least 1."""

    def loop():
        total = 0
        for k in range(100_000):
            total += k

    return max(1.0, processor(loop, 3) / 0.005)


def spheres(count: int):
    """A model of many spheres in memory."""
    model = solfec.SOLFEC("DYNAMIC", 1e-3)
    bulk, side = solfec.BULK_MATERIAL(model), round(count ** (1 / 3)) + 1
    for k in range(count):
        solfec.BODY(model, "RIGID", solfec.SPHERE((2 * (k % side), 2 * (k // side % side), 2 * (k // side**2)), 0.9, 1, 1), bulk)
    return model


@pytest.mark.parametrize("count", [10, pytest.param(10_000, marks=pytest.mark.slow)])
def test_draw_calls_and_python_of_a_picture_do_not_grow_with_bodies(window, count, monkeypatch):
    """At most eight draw calls and 3 ms; calls of OpenGL return at once, as those of a graphics card do, so that Python alone is timed."""
    from solfec.viewer.application import Application

    app = Application([Live(spheres(count)._simulation, [])], (64, 48))
    app.do("result bodies")
    app.do("boxes of bodies")
    app.draw()
    assert app.view.renderer.draw_calls <= 8
    GL = app.view.renderer.draw.__globals__["GL"]
    for name in ("glDrawArrays", "glDrawElements", "glDrawArraysInstanced"):
        monkeypatch.setattr(GL, name, lambda *arguments: None)

    def picture():
        app.dirty = True
        app.draw()

    checked = bool(os.environ.get("SOLFEC_GL_CHECK"))  # every call is followed by another one that looks for errors
    assert processor(picture) < (0.012 if checked else 0.003) * slowness()
    app.close()


def test_a_million_triangles_are_uploaded_at_once(window):
    """Positions of 500 000 vertices, of which a million triangles are made: less than 0.1 s a state."""
    from solfec.viewer.gl.renderer import Renderer

    renderer, places, shapes = Renderer(), np.zeros((3, 500_000)), np.zeros((0, 12), np.float32)
    renderer.set_shapes(np.zeros((500_000, 3), np.float32), shapes)
    assert processor(lambda: renderer.set_shapes((places.T - np.ones(3)).astype(np.float32), shapes), 3) < 0.1 * slowness()
    renderer.delete()


def calls(function) -> int:
    """Calls of functions of Python that a function makes."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


def test_seeking_a_frame_takes_as_many_calls_for_any_number_of_bodies(tmp_path, monkeypatch):
    found = []
    for count in (10, 500):
        directory = tmp_path / str(count)
        directory.mkdir()
        source = Stored(results(directory, MANY.replace("COUNT", str(count)), monkeypatch))
        source.seek(3)
        found.append(calls(lambda source=source: source.seek(7)))
        source.close()
    assert found[1] <= 1.05 * found[0]


@pytest.mark.slow
def test_frames_of_a_thousand_bodies_are_sought_fast(tmp_path, monkeypatch):
    source = Stored(results(tmp_path, MANY.replace("COUNT", "1000"), monkeypatch))
    frames = iter([3, 17, 5, 11, 2, 19, 7, 13])
    assert processor(lambda: source.seek(next(frames)), 8) < 0.010 * slowness()
    source.close()


@pytest.mark.slow
def test_ten_thousand_frames_open_fast(window, tmp_path, monkeypatch):
    path = results(tmp_path, FRAMES, monkeypatch)

    def opened():
        source = Stored(path)
        assert len(source.times) == 10_001
        source.close()

    assert processor(opened, 3) < 0.2 * slowness()


def memory() -> int:
    """Bytes of this process in memory."""
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def one_command(app, random, names) -> None:
    """Something that a user may do: an entry with sensible, wrong or no words, a click, a rectangle."""
    from viewer_words import WORDS

    name = names[random.integers(len(names))]
    line = f"{name} {WORDS[name]}".strip() if name in WORDS and random.random() < 0.8 else name
    if random.random() < 0.05:
        line += " " + random.choice(["nonsense", "1", "-1", "0.5 0.5", "'", "nan", "x:y", "é"])
    try:
        app.try_to(line)
    except NotBuiltYet:
        raise AssertionError(line) from None
    if random.random() < 0.1:
        app.click(*random.integers(-5, 100, 2).tolist())
    if random.random() < 0.1:
        try:
            app.rectangle(*random.integers(-10, 120, 4).tolist())
        except SolfecError:
            pass
    app.tick()


def campaign(paths: list[str], count: int, tmp_path, monkeypatch, seed: int) -> None:
    """Commands on results, over and over in new applications; memory in the second half stays within 5 %."""
    from solfec.viewer.application import Application
    from solfec.viewer.commands import COMMANDS

    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text("RENDER(solfec)\nVIEW('fit')\n")
    left_out = ("quit", "AVI START/STOP", "HTML", "PDF", "EPS", "modal analysis")  # slow ones, which other tests call
    names, random, half = [name for name in COMMANDS if name not in left_out], np.random.default_rng(seed), None
    rounds = 10
    for turn in range(rounds):
        for path in paths:
            app = Application([Stored(path)], (96, 72))
            for _ in range(count // (rounds * len(paths))):
                one_command(app, random, names)
            app.draw()
            assert app.view.renderer.draw_calls <= 8
            app.close()
        if turn == rounds // 2 - 1:
            half = memory()
    assert memory() < 1.05 * half


def test_hundreds_of_random_commands_do_no_harm(window, scene, tmp_path, monkeypatch):
    campaign([scene], 200, tmp_path, monkeypatch, 3)


@pytest.mark.slow
def test_ten_thousand_random_commands_on_ten_results(window, scene, tmp_path, monkeypatch):
    paths = [scene]
    shapes = ("SPHERE((k, 0, 0), .4, 1, 1)", "ELLIP((k, 0, 0), (.4, .3, .2), 1, 1)", "HEX([k+x for x in (0,0,0,.5,0,0,.5,.5,0,0,.5,0,0,0,.5,.5,0,.5,.5,.5,.5,0,.5,.5)], 2, 2, 2, 1, [1]*6)")
    for number in range(9):
        kind = ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT")[number % 3]
        shape = shapes[2] if kind == "FINITE_ELEMENT" else shapes[number // 3]
        directory = tmp_path / str(number)
        directory.mkdir()
        text = f"s = SOLFEC('DYNAMIC', 1E-3, 'out/r')\nb = BULK_MATERIAL(s, density=1000.)\nGRAVITY(s, (0, 0, -10))\nfor k in range({number}):\n    BODY(s, '{kind}', {shape}, b, label='l%d' % k)\nOUTPUT(s, 2E-3)\nRUN(s, PENALTY_SOLVER(), 0.01)\n"
        paths.append(results(directory, text, monkeypatch))
    campaign(paths, 10_000, tmp_path, monkeypatch, 11)
