"""Draws the pictures of docs/tutorials.md from actual runs: python docs/figures/make.py [--all] [--scenes] [directory for the runs].

Runs that are in the directory already are read instead of run again (default: a temporary directory). With --all the other scripts of this
directory draw all pictures of the documents but one, in half an hour: docs/verification.md shows 1150 runs of textbook scenes, which --scenes
runs again before it draws them, in an hour or two.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from contextlib import chdir
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image, ImageDraw

import solfec
from solfec import cli, results
from solfec.results.plot import COLOURS, GRID, INK, MUTED, SURFACE
from solfec.viewer.legend import font

HERE = Path(__file__).resolve().parent
INPUTS = HERE.parent.parent / "inp"


def in_directory(draw) -> None:
    """Call a function with the directory for the runs: that of the command line, or a temporary one."""
    if len(sys.argv) > 1:
        draw(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            draw(Path(temporary))


def run(directory: Path, source: str, output: str, *arguments) -> results.ResultsReader:
    """Results of an input, run in `directory` unless they are there."""
    output = directory / "out" / output
    if not output.exists():
        command = [sys.executable, "-m", "solfec.cli", "-i", "60", str(INPUTS / source), *map(str, arguments)]
        subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, OMP_NUM_THREADS="1"))
    return results.open(output)


def read(directory: Path, source: str, output: str) -> dict:
    """Return the names that an input defines when it reads its results, for histories of joints, which `run` does not give."""
    run(directory, source, output)
    names = {name: getattr(solfec, name) for name in solfec.__all__}
    names |= {"SOLFEC": partial(solfec.SOLFEC, mode="READ"), "VIEWER": lambda: True, "NON_SOLFEC_ARGV": lambda: None}
    with chdir(directory):
        exec((INPUTS / source).read_text(), names)
    return names


def centre(run: results.ResultsReader, label: str) -> tuple:
    """A labelled body's referential mass centre, as a HISTORY item without its entity."""
    identifier = next(i for i, known in run.labels.items() if known == label)
    bodies = run.table("model/bodies")
    return label, tuple(bodies["centre"][bodies["id"] == identifier][-1].tolist())


def shown(source, *commands: str, size: tuple[int, int], colours: dict | None = None, time: float | None = None) -> Image.Image:
    """Return a picture of results or a model by the viewer, without legend and axes; `colours` (r, g, b) of bodies by identifier, at `time`."""
    with solfec.view(source, window=False, size=size) as view:
        scene = view.application.view
        if time is not None:
            view.do(f"seek to {time}")
        for body, colour in (colours or {}).items():
            scene.looks[scene.rows([body]), :3] = colour
        scene.refresh()
        view.do(*commands)
        return view.picture(annotated=False)


def save(figure: Figure, path: Path, colours: int, **options) -> None:
    """Write a figure with a palette of so many colours, which makes the file smaller; options are those of `savefig`."""
    FigureCanvasAgg(figure)
    memory = BytesIO()
    figure.savefig(memory, **options)
    Image.open(memory).convert("RGB").quantize(colours).save(path, optimize=True)


def sheet(panels: list[tuple[str, Image.Image]], columns: int, path: Path, colours: int = 128) -> None:
    """Put pictures under their titles, and all of them into one file."""
    (width, height), line = panels[0][1].size, 22
    whole = Image.new("RGB", (columns * width, -(-len(panels) // columns) * (height + line)), "white")
    draw, text = ImageDraw.Draw(whole), font(12)
    for number, (title, picture) in enumerate(panels):
        left, top = number % columns * width, number // columns * (height + line)
        whole.paste(picture, (left, top + line))
        draw.text((left + width / 2, top + 5), title, INK, font=text, anchor="ma")
    whole.quantize(colours).save(path, optimize=True)


def rgb(colour: str) -> tuple[float, ...]:
    """Return a colour '#rrggbb' as three numbers from 0 to 1."""
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def page(rows: int, columns: int, height: float):
    """A figure with its panels."""
    figure = Figure(figsize=(8.0, height), dpi=110, layout="constrained", facecolor=SURFACE)
    FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.1)
    return figure, figure.subplots(rows, columns, squeeze=False)


def finish(panel, title: str, unit: str = "", legend: bool = False, **place) -> None:
    """Common look of a panel."""
    panel.set_facecolor(SURFACE)
    panel.set_title(title, loc="left", fontsize=10, color=INK, fontweight="bold")
    panel.set_ylabel(unit, fontsize=9, color=MUTED)
    panel.set_xlabel("time [s]", fontsize=9, color=MUTED)
    panel.grid(color=GRID, lw=0.8)
    panel.set_axisbelow(True)
    panel.tick_params(which="both", labelsize=8, colors=MUTED, length=0)
    for side in panel.spines.values():
        side.set_visible(False)
    panel.margins(x=0.01)
    if legend:
        panel.legend(frameon=False, fontsize=8.5, labelcolor=MUTED, **place)


def note(panel, text: str, at: tuple, to: tuple) -> None:
    """A remark with a thin line to what it is about."""
    line = {"arrowstyle": "-", "color": MUTED, "lw": 0.7}
    panel.annotate(text, at, to, fontsize=8.5, color=MUTED, arrowprops=line, va="center")


def three_objects(directory: Path) -> Figure:
    """Heights of the centres and energies of the first tutorial."""
    name = "three-basic-geometric-objects"
    data = run(directory, f"tutorial/{name}.py", f"tutorial/{name}")
    items = [(*centre(data, label), "CZ") for label in ("ball", "block", "base")]
    times, ball, block, base, kinetic, contact, friction = data.history(
        [*items, (None, "KINETIC"), (None, "CONTACT"), (None, "FRICTION")]
    )
    figure, ((left, right),) = page(1, 2, 3.3)
    for k, (label, z) in enumerate((("ball", ball), ("block", block), ("base", base))):
        left.plot(times, z, color=COLOURS[k], lw=2)
        left.text(times[-1] * 1.02, z[-1], label, color=COLOURS[k], fontsize=9, va="center", fontweight="bold")
    left.set_ylim(0, 5.6)
    finish(left, "Heights of the mass centres", "z [m]")
    for k, (label, energy) in enumerate((("kinetic", kinetic), ("contacts", contact), ("friction", friction))):
        right.plot(times, energy / 1e3, color=COLOURS[k], lw=1.8)
        right.text(times[-1] * 1.02, energy[-1] / 1e3, label, color=COLOURS[k], fontsize=9, va="center", fontweight="bold")
    finish(right, "Kinetic energy, work of contact reactions", "kJ")
    return figure


def ball_impact(directory: Path) -> Figure:
    """Kinetic energy and height for the three dashpots of the second tutorial."""
    figure, ((left, right),) = page(1, 2, 3.3)
    for k, dashpot in enumerate(("0", "10⁶", "10⁷")):
        data = run(directory, "tutorial/ball-impact.py", f"tutorial/ball-impact-{k + 1}")
        times, kinetic, z = data.history([(None, "KINETIC"), (2, (0, 0, 1), "CZ")])
        left.plot(times, kinetic / 1e3, color=COLOURS[k], lw=1.8, label=f"dashpot {dashpot}", zorder=5 - k)
        right.plot(times, z, color=COLOURS[k], lw=1.8, label=f"dashpot {dashpot}", zorder=5 - k)
    finish(left, "Kinetic energy", "kJ", legend=True, loc="upper right", bbox_to_anchor=(0.94, 0.98))
    finish(right, "Height of the ball's centre", "z [m]")
    right.axhline(1.0, color=MUTED, lw=0.8, ls=":")
    note(right, "rests on the plate", (1.6, 1.0), (1.24, 1.45))
    return figure


def press(directory: Path) -> Figure:
    """The press of the third tutorial at three times, and its angle, torque and pad with both motors."""
    runs = read(directory, "tutorial/press.py", "tutorial/press-2")["models"]
    figure = Figure(figsize=(8.0, 5.6), dpi=110, layout="constrained", facecolor=SURFACE)
    FigureCanvasAgg(figure)
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.5])
    panels = above.subplots(1, 3)
    colours = {body: rgb(COLOURS[body - 1]) for body in (1, 2, 3, 4)}
    for panel, (number, time, title) in zip(panels, ((2, 0.0, "start"), (1, 1.2, "motor of 30 Nm, stalled"), (2, 0.5, "motor of 60 Nm, dead centre"))):
        source = directory / "out" / "tutorial" / f"press-{number}"
        panel.imshow(shown(source, "perspective/ortho", "look -70,42", "fit", f"seek to {time}", "zoom in", size=(460, 250), colours=colours))
        panel.set_title(title, fontsize=9, color=INK)
        panel.set_axis_off()
    panels = below.subplots(1, 3)
    for colour, name, data in zip(COLOURS, ("30 Nm", "60 Nm"), runs):
        times, angle, torque, travel = solfec.HISTORY(data, [("shaft", "ANGLE"), ("shaft", "TORQUE"), ("bed", "TRAVEL")], 0, 1.2)
        for panel, values in zip(panels, (np.degrees(angle), torque, 1e3 * np.array(travel))):
            panel.plot(times, values, color=colour, lw=1.8, label=name)
    finish(panels[0], "Angle of the crank", "degrees", legend=True, loc="upper left")
    finish(panels[1], "Torque of the motor", "Nm")
    finish(panels[2], "Travel of the pad", "mm")
    return figure


def fracture(directory: Path) -> Figure:
    """The bar and the plate of the fourth tutorial before the bar bursts, after it, and at the end."""
    run(directory, "tutorial/fracture.py", "tutorial/fracture")
    figure = Figure(figsize=(8.0, 2.7), dpi=110, layout="constrained", facecolor=SURFACE)
    FigureCanvasAgg(figure)
    source = directory / "out" / "tutorial" / "fracture"
    for panel, (time, title) in zip(figure.subplots(1, 3), ((0.0, "start"), (0.2, "the bar has burst"), (0.3, "the plate is hit"))):
        panel.imshow(shown(source, "perspective/ortho", "look -60,35", f"seek to {time}", "fit", size=(460, 400)))
        panel.set_title(title, fontsize=9, color=INK)
        panel.set_axis_off()
    return figure


def peeling(directory: Path) -> Figure:
    """Loads of the two peeled beams of docs/fragmentation.md, which the input prints, over their displacements."""
    figure, panels = page(1, 2, 3.2)
    for panel, test, title in zip(np.ravel(panels), ("DCB", "ENF"), ("double cantilever beam, mode I", "end-notched beam, mode II")):
        command = [sys.executable, "-m", "solfec.cli", "-w", "-y", str(INPUTS / "tutorial" / "peeling.py"), test]
        printed = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout
        lines = re.findall(r"([\d.]+) mm: load ([\d.]+) N, theory ([\d.]+) N", printed)
        opening, load, theory = np.array(lines, float).T
        panel.plot(opening, theory, color=MUTED, lw=1, ls="--", label="closed forms")
        panel.plot(opening, load, color=COLOURS[0], lw=2, label="run")
        finish(panel, title, "load [N]", legend=True, loc="lower right")
        panel.set_xlabel("displacement [mm]", fontsize=8, color=MUTED)
    return figure


def examples(directory: Path) -> Figure:
    """Four of the other inputs."""
    figure, panels = page(2, 2, 5.8)
    data = run(directory, "pendulum.py", "pendulum", 2)
    times, x, z = data.history([(*centre(data, "ball"), entity) for entity in ("CX", "CZ")])
    panels[0, 0].plot(times, x, color=COLOURS[0], lw=2, label="x")
    panels[0, 0].plot(times, z, color=COLOURS[1], lw=2, label="z")
    finish(panels[0, 0], "pendulum.py 2", "m", legend=True, loc="upper right", ncols=2, bbox_to_anchor=(1.0, 1.16))

    data = run(directory, "double-pendulum.py", "double-pendulum")
    first, second = ((*centre(data, label), "CZ") for label in ("first", "second"))
    times, kinetic, one, two = data.history([(None, "KINETIC"), first, second])
    panels[0, 1].plot(times, kinetic + 9.81 * (one + two), color=COLOURS[0], lw=2)
    finish(panels[0, 1], "double-pendulum.py: impacts cost energy", "J")

    data = run(directory, "block-sliding.py", "block-sliding")
    block = centre(data, "block")
    times, x, v = data.history([(*block, "DX"), (*block, "VX")])
    panels[1, 0].plot(times, 1e3 * x, color=COLOURS[0], lw=2)
    finish(panels[1, 0], "block-sliding.py: sticks, slips near peaks", "displacement [mm]")

    for k, ratio in enumerate((0.1068, 0.1066)):
        data = run(directory, "arch.py", f"arch/{ratio:g}", ratio)
        times, kinetic = data.history([(None, "KINETIC")])
        panels[1, 1].semilogy(times[1:], np.maximum(kinetic[1:], 1e-12), color=COLOURS[k], lw=2, label=f"thickness {ratio:g} R")
    finish(panels[1, 1], "arch.py: stands or falls", "kinetic energy [J]", legend=True, loc="upper left", bbox_to_anchor=(0.0, 0.6))
    return figure


def stone(directory: Path) -> None:
    """Draw the stone of docs/fragmentation.md: stone.py is an input, which takes six minutes."""
    run(directory, str(HERE / "stone.py"), "stone")
    picture = ["--screenshot", str(HERE / "stone.png"), "--size", "640x480"]
    if cli.main(["view", str(directory / "out" / "stone"), *picture, "--result", "|v|", "--look", "30,15", "--hide", "1"]):
        raise SystemExit("the viewer made no picture")


def others(directory: Path) -> None:
    """Run the scripts that draw the other pictures, but for scenes.py."""
    stone(directory)
    words = {"front.py": [directory], "thumbnails.py": [directory], "walks.py": [directory], "gallery.py": [directory], "mechanisms.py": [directory]}
    for script in sorted(HERE.glob("*.py")):
        if script.name not in ("make.py", "stone.py", "scenes.py"):
            print(script.name, flush=True)
            subprocess.run([sys.executable, str(script), *map(str, words.get(script.name, []))], check=True)


def scenes(directory: Path) -> None:
    """Run all textbook scenes, and draw how near they come to theory."""
    table = directory / "scenes.json"
    subprocess.run([sys.executable, str(HERE.parent.parent / "tests" / "scenes" / "table.py"), "--json", str(table)], check=True)
    subprocess.run([sys.executable, str(HERE / "scenes.py"), str(table)], check=True)


def main(directory: Path, switches: set[str]) -> None:
    """Draw the pictures of the tutorials; switches: --all, --scenes."""
    drawn = (three_objects, "three-objects"), (ball_impact, "ball-impact"), (press, "press"), (fracture, "fracture"), (examples, "examples")
    drawn += ((peeling, "peeling"),)
    for draw, name in drawn:
        path = HERE / f"{name}.png"
        draw(directory).savefig(path, facecolor=SURFACE)
        print(f"{path.name}: {path.stat().st_size // 1024} kB")
    if "--all" in switches:
        others(directory)
    if "--scenes" in switches:
        scenes(directory)


if __name__ == "__main__":
    switches = {"--all", "--scenes"} & set(sys.argv)
    words = [word for word in sys.argv[1:] if word not in switches]
    if words:
        Path(words[0]).mkdir(parents=True, exist_ok=True)
        main(Path(words[0]), switches)
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary), switches)
