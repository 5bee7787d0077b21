"""`solfec report`: one page about results that any browser shows, without further files (docs/running.md, Report)."""

from __future__ import annotations

import argparse
import base64
import html
import io
import os
from collections import Counter

import numpy as np

from .. import installed
from ..balance import MOST_CREATED, MOST_ENERGY
from ..errors import SolfecError
from ..kinds import Energy
from ..results import info, plot
from ..results.reader import ResultsReader
from ..viewer import ViewerUnavailable

HELP = """\
Writes a page about results: the model, pictures, energies, contacts, the solver, time spent, and what looks wrong. It is one HTML file, which holds its
pictures. Nothing in the directory of the results is executed. Pictures of the model need the viewer; without it the page says so.
"""
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; color: #0b0b0b; background: #fcfcfb; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem } h2 { font-size: 1.2rem; margin-top: 2rem; border-bottom: 1px solid #e1e0d9 }
table { border-collapse: collapse } th, td { text-align: left; padding: 0.15rem 1rem 0.15rem 0; vertical-align: top } th { color: #52514e; font-weight: normal }
td.number, th.number { text-align: right } img { max-width: 100%; height: auto } figure { margin: 0 } figcaption { color: #52514e; font-size: 0.9rem }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: 1rem }
.warning { border-left: 4px solid #eb6834; padding: 0.3rem 0.8rem; margin: 0.5rem 0; background: #fdf1ec } .good { border-color: #1baf7a; background: #eef9f4 }
pre { overflow-x: auto; background: #f3f2ee; padding: 0.8rem; font-size: 0.85rem }
"""
DEEP = 0.01  # penetration, as a part of the size of the smallest body, above which the page warns
UNSOLVED = 1e-2  # residual, relative to free velocities, above which reactions of a frame are called wrong
MOST_LABELS = 20
SIZE = (900, 600)


def command(words: list[str]) -> int:
    """Run `solfec report`; print the path of the page."""
    made = argparse.ArgumentParser(prog="solfec report", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("path", help="output directory or results file")
    made.add_argument("-o", metavar="FILE", help="page to write (default: report.html beside the results)")
    options = made.parse_args(words)
    with ResultsReader(options.path) as reader:
        path = options.o or os.path.join(os.path.dirname(reader.file), "report.html")
        try:
            with np.errstate(over="raise", invalid="raise"):
                text = page(reader)
        except FloatingPointError as error:
            raise SolfecError(f"{reader.file}: it holds numbers out of all bounds ({error}), the file seems damaged") from error
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from error
    print(path)
    return 0


def page(reader: ResultsReader) -> str:
    """Text of the page."""
    facts = info.describe(reader.file)
    if not facts["frames"]:
        raise SolfecError(f"{reader.file}: the results hold no frames")
    name = html.escape(os.path.splitext(os.path.basename(reader.file))[0])
    found = warnings(reader)
    parts = [
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{name}</title>"
        f"<style>{STYLE}</style></head><body><h1>{name}</h1>",
        _table(summary(facts)),
        "<h2>What looks wrong</h2>",
        *(f"<p class='warning'>{html.escape(text)}</p>" for text in found or []),
        "" if found else "<p class='warning good'>Nothing that this page looks for: energies, penetration, residuals, bodies that are lost.</p>",
        "<h2>Pictures</h2>", pictures(reader),
        "<h2>Bodies</h2>", _grid(bodies(reader)),
        "<h2>Histories</h2>", _image(_figure(plot.draw(reader.steps[_some(len(reader.steps))], name)), "energies, contacts, iterations, step and penetration"),
        "<h2>Contacts and constraints at the end</h2>", _grid(contacts(reader)),
        "<h2>Time spent</h2>", _grid(timings(facts)),
        "<h2>Input</h2>", f"<details><summary>{len(reader.input_text.splitlines())} lines</summary><pre>{html.escape(reader.input_text)}</pre></details>",
        "</body></html>\n",
    ]  # fmt: skip
    return "\n".join(parts)


def summary(facts: dict) -> dict[str, str]:
    """Facts of the whole run."""
    first, last = facts["time"]
    return {
        "written": f"{facts['written']} by solfec {facts['version']}, {facts['megabytes']:g} MB" + (" (unfinished)" if facts["unfinished"] else ""),
        "time": f"{first:g} to {last:g}, {facts['steps']} steps of {facts['step']:g}, {facts['frames']} frames",
        "analysis": facts["analysis"] + (f", {facts['solver']}" if facts["solver"] else ""),
        "bodies": ", ".join(f"{count} {kind}" for kind, count in facts["bodies"].items()),
        "contacts": f"at most {facts['most contacts']}, {facts['deepest penetration']:.3g} deep",
        "materials": ", ".join([*facts["bulk materials"], *facts["surface materials"]]),
        "arguments": " ".join(map(str, facts["arguments"])),
    }


def warnings(reader: ResultsReader) -> list[str]:
    """What looks wrong, in words."""
    steps, found = reader.steps, []
    if not np.isfinite(steps["energy"]).all():
        return ["Energies are not numbers: the run has broken down."]
    change = steps["energy"] - steps["energy"][0]
    largest = max(np.abs(change).max(), steps["energy"][:, Energy.KINETIC].max())
    created = (change[:, Energy.CONTACT] + change[:, Energy.FRICTION]).max()
    if reader.dynamic and largest > 0.0 and created > MOST_CREATED * largest:
        found.append(f"Contacts have added energy, {100 * created / largest:.2g} % of the largest: a smaller step or a more accurate solver may help. Springs and damage may do so rightly.")
    missing = np.abs(change[:, Energy.KINETIC] + change[:, Energy.INTERNAL] + change[:, Energy.DISSIPATED] - change[:, Energy.EXTERNAL]).max()
    same = not len(reader.events) and steps["bodies"].min() == steps["bodies"].max() and steps["run"].max() <= 1
    if reader.dynamic and same and largest > 0.0 and missing > MOST_ENERGY * largest:
        found.append(f"{100 * missing / largest:.2g} % of the largest energy is not accounted for: the step is too long, or velocities were set during the run.")
    wrong = np.flatnonzero(steps["residual"] > UNSOLVED)
    if len(wrong):
        k = wrong[np.argmax(steps["residual"][wrong])]
        found.append(f"In {len(wrong)} of {len(steps)} frames reactions miss their laws by more than {UNSOLVED:g} of the free velocities, most at time {steps['time'][k]:g} ({steps['residual'][k]:.2g}).")
    moving = reader.bodies()
    sizes = np.cbrt(moving["volume"][moving["kind"] != "OBSTACLE"])
    depth = max(0.0, -np.nanmin(steps["minimum_gap"]))
    if len(sizes) and depth > DEEP * sizes.min():
        k = int(np.nanargmin(steps["minimum_gap"]))
        found.append(f"Bodies overlap by {depth:.3g} at time {steps['time'][k]:g}: {100 * depth / sizes.min():.2g} % of the size of the smallest one.")
    return found + _lost(reader, moving)


def _lost(reader: ResultsReader, last: dict) -> list[str]:
    """Bodies that have left the place of the others, as those that fall off the ground."""
    first, free = reader.bodies(0), last["kind"] != "OBSTACLE"
    start = np.stack([first[axis] for axis in "xyz"], 1)
    size = max(float(np.ptp(start, axis=0).max()), 3.0 * float(np.cbrt(first["volume"]).max()))
    away = np.sqrt(((np.stack([last[axis] for axis in "xyz"], 1) - start.mean(0)) ** 2).sum(1))
    gone = np.flatnonzero(free & (away > 5.0 * size))
    if not len(gone):
        return []
    k = gone[np.argmax(away[gone])]
    return [f"{len(gone)} {'body is' if len(gone) == 1 else 'bodies are'} far away at the end, body {last['id'][k]} by {away[k]:.3g}: they may have missed the ground."]


def pictures(reader: ResultsReader) -> str:
    """Pictures of the first, a middle and the last frame, or why there are none."""
    try:
        from ..viewer.views import view

        count = len(reader.times)
        chosen = sorted({0, count // 2, count - 1})
        made = []
        with view(reader.file, window=False, size=SIZE) as scene:
            for frame in chosen:
                scene.do(f"frame {frame}")
                file = io.BytesIO()
                scene.picture(annotated=False).save(file, "png")
                made.append(_image(file.getvalue(), f"time {reader.times[frame]:g}"))
        return f"<div class='pictures'>{''.join(made)}</div>"
    except ViewerUnavailable as error:
        return f"<p>There are none: {html.escape(str(error))}</p>"


def bodies(reader: ResultsReader) -> list[list[str]]:
    """Rows of a table of kinds of bodies, and of labelled ones."""
    table = reader.bodies()
    rows = [["kind", "bodies", "mass", "smallest", "largest", "kinetic energy"]]
    for kind in Counter(table["kind"].tolist()):
        mine = table["kind"] == kind
        mass = table["mass"][mine]
        rows.append([kind, str(mine.sum()), *(f"{value:.5g}" for value in (mass.sum(), mass.min(), mass.max(), table["kinetic"][mine].sum()))])
    labelled = np.flatnonzero(table["label"] != "")
    for k in labelled[:MOST_LABELS].tolist():
        rows.append([table["label"][k], "1", *[f"{table['mass'][k]:.5g}"] * 3, f"{table['kinetic'][k]:.5g}"])
    if len(labelled) > MOST_LABELS:
        rows.append([f"and {len(labelled) - MOST_LABELS} more with labels", *[""] * 5])
    return rows


def contacts(reader: ResultsReader) -> list[list[str]]:
    """Rows of a table of constraints by kind and material."""
    table = reader.constraints()
    size = np.sqrt(table["rx"] ** 2 + table["ry"] ** 2 + table["rz"] ** 2)
    rows = [["kind", "material", "number", "sum of |R|", "largest |R|", "smallest gap", "largest residual"]]
    for kind, material in Counter(zip(table["kind"].tolist(), table["material"].tolist())):
        mine = (table["kind"] == kind) & (table["material"] == material)
        gap = f"{table['gap'][mine].min():.3g}" if kind == "CONTACT" else ""
        rows.append([kind, material, str(mine.sum()), f"{size[mine].sum():.5g}", f"{size[mine].max():.5g}", gap, f"{np.nanmax(table['residual'][mine]):.2g}"])
    return rows if len(rows) > 1 else [["none"]]


def timings(facts: dict) -> list[list[str]]:
    """Rows of a table of the phases of steps."""
    total = sum(facts["seconds"].values())
    rows = [["phase", "seconds", "share", "per step [ms]"]]
    for phase, seconds in (*facts["seconds"].items(), ("all", total)):
        share = f"{100 * seconds / total:.0f} %" if total > 0.0 else ""
        rows.append([phase, f"{seconds:.3g}", share, f"{1e3 * seconds / facts['steps']:.3g}" if facts["steps"] else ""])
    return rows


def _some(count: int) -> np.ndarray:
    """Numbers of an even selection of frames."""
    return np.unique(np.linspace(0, count - 1, min(count, plot.MANY)).astype(int))


def _figure(figure) -> bytes:
    """Return a figure as PNG."""
    installed.load("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    file = io.BytesIO()
    figure.savefig(file, facecolor=plot.SURFACE, dpi=110)
    return file.getvalue()


def _image(data: bytes, caption: str) -> str:
    return f"<figure><img alt='{html.escape(caption)}' src='data:image/png;base64,{base64.b64encode(data).decode()}'><figcaption>{html.escape(caption)}</figcaption></figure>"


def _table(rows: dict[str, str]) -> str:
    return "<table>" + "".join(f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in rows.items() if text) + "</table>"


def _grid(rows: list[list[str]]) -> str:
    """Table with headings; columns behind the words are numbers."""
    words = 2 if rows[0][1:2] == ["material"] else 1
    cell = lambda tag, k, text: f"<{tag}{' class=number' if k >= words else ''}>{html.escape(text)}</{tag}>"  # noqa: E731
    lines = ["<tr>" + "".join(cell("td" if number else "th", k, text) for k, text in enumerate(row)) + "</tr>" for number, row in enumerate(rows)]
    return "<div style='overflow-x: auto'><table>" + "".join(lines) + "</table></div>"
