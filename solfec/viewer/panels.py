"""Panels of the window: inspector, list of bodies, cuts, console, plots; they read the application and do commands."""

from __future__ import annotations

import numpy as np
from imgui_bundle import imgui, implot

from .histories import ITERATIONS
from .inspection import rows_of

MOST_ROWS = 2000  # most rows of the list of bodies


class Panels:
    """Draws the panels that are switched on.

    Parameters
    ----------
    application : Application
    do : callable
        Does a command, and asks the user for missing words.
    """

    def __init__(self, application, do):
        self.app, self.do = application, do
        self._line, self._sought, self._past, self._place = "", "", [], 0

    def draw(self, width: float, height: float, note) -> None:
        """Draw all panels of one frame; `note` receives the places of entries."""
        app = self.app
        for name, part in (
            ("inspector", self._inspector), ("bodies", self._bodies), ("cuts", self._cuts), ("console", self._console),
            ("energies", self._energies), ("iterations", self._iterations), ("histories", self._histories),
        ):  # fmt: skip
            if getattr(app, name + "_shown"):
                part(width, height, note)

    def _begin(self, name: str, place: tuple, size: tuple) -> None:
        imgui.set_next_window_pos(place, imgui.Cond_.first_use_ever)
        imgui.set_next_window_size(size, imgui.Cond_.first_use_ever)
        _, kept = imgui.begin(name, True)
        if not kept:
            self.do(f"{name} on/off")

    def _inspector(self, width: float, height: float, note) -> None:
        """Draw numbers of a clicked body and of its constraints, or of a clicked constraint."""
        self._begin("inspector", (width - 330, 330), (320, 320))
        rows = rows_of(self.app.view.domain, self.app.picked)
        if not rows:
            imgui.text_wrapped("click a body or a constraint")
        elif imgui.begin_table("rows", 2):
            for name, text in rows:
                imgui.table_next_column()
                imgui.text_colored((0.1, 0.3, 0.7, 1.0), name)
                imgui.table_next_column()
                imgui.text_wrapped(text)
            imgui.end_table()
        imgui.end()

    def _bodies(self, width: float, height: float, note) -> None:
        """Draw a list of all bodies by number and label, with a filter; a click chooses a body, its mark hides it."""
        self._begin("bodies", (8, 60), (260, 300))
        _, self._sought = imgui.input_text_with_hint("##filter", "part of a label, or a number", self._sought)
        domain, view = self.app.view.domain, self.app.view
        labels, sought = domain.body_labels, self._sought.lower()
        ids = domain.bodies.view("id").tolist()
        found = [k for k, body in enumerate(ids) if not sought or sought in labels.get(body, "").lower() or sought == str(body)][:MOST_ROWS]
        imgui.text(f"{len(found)} of {len(ids)} bodies")
        imgui.begin_child("list")
        clipper = imgui.ListClipper()
        clipper.begin(len(found))
        while clipper.step():
            for k in range(clipper.display_start, clipper.display_end):
                row, body = found[k], ids[found[k]]
                changed, seen = imgui.checkbox(f"##seen{body}", bool(view.looks[row, 3] != 0.0))
                if changed:
                    self.do(f"{'show' if seen else 'hide'} body {body}")
                imgui.same_line()
                if imgui.selectable(f"{body} {labels.get(body, '')}##body", view.renderer.chosen == body)[0]:
                    self.do(f"inspect {body}")
        clipper.end()
        imgui.end_child()
        imgui.end()

    def _cuts(self, width: float, height: float, note) -> None:
        """Draw a slider for the place of every plane."""
        self._begin("cuts", (width - 330, 60), (320, 160))
        view = self.app.view
        low, high = view.box()
        for number, plane in enumerate(list(view.planes), 1):
            reach = 0.5 * float(np.abs(plane.normal) @ (high - low))
            middle = float(plane.normal @ (0.5 * (low + high)))
            imgui.text(f"{number}: {'Lagrange' if plane.referential else 'Euler'} ({', '.join(f'{x:.3g}' for x in plane.normal)})")
            imgui.same_line()
            if imgui.small_button(f"remove##{number}"):
                self.do(f"remove cut {number}")
            imgui.set_next_item_width(-1)
            moved, offset = imgui.slider_float(f"##offset{number}", plane.offset, middle - reach, middle + reach, "%.4g")
            note(f"cut {number}")
            if moved:
                self.do(f"move cut {number} {offset!r}")
        if imgui.button("add a cut"):
            self.do("Euler cut")
        imgui.end()

    def _console(self, width: float, height: float, note) -> None:
        """Draw the console: lines of Python in the input's namespace, and their output."""
        self._begin("console", (8, height - 290), (min(620, width - 16), 240))
        imgui.begin_child("text", (0, -30))
        imgui.text_unformatted(self.app.console)
        if imgui.get_scroll_y() >= imgui.get_scroll_max_y():
            imgui.set_scroll_here_y(1.0)
        imgui.end_child()
        imgui.set_next_item_width(-1)
        entered, self._line = imgui.input_text_with_hint("##line", "Python, with the names of the input", self._line, imgui.InputTextFlags_.enter_returns_true)
        note("console line")
        if imgui.is_item_focused():
            up, down = imgui.is_key_pressed(imgui.Key.up_arrow), imgui.is_key_pressed(imgui.Key.down_arrow)
            if self._past and (up or down):
                self._place = min(max(self._place + (1 if up else -1), 0), len(self._past))
        if entered and self._line.strip():
            self._past.append(self._line)
            line, self._line = self._line, ""
            self.do(f"python {line}")
            imgui.set_keyboard_focus_here(-1)
        imgui.end()

    # -- plots ----------------------------------------------------------------------------------------------

    def _plot(self, name: str, place: tuple, label: str, columns: dict, note) -> None:
        """Draw a panel with curves over time, and a line at the present time."""
        self._begin(name, place, (420, 240))
        if implot.begin_plot(f"##{name}", (-1, -1)):
            implot.setup_axes("time", label, implot.AxisFlags_.auto_fit, implot.AxisFlags_.auto_fit)
            for title, (times, values) in columns.items():
                implot.plot_line(title, np.ascontiguousarray(times, float), np.ascontiguousarray(values, float))
            implot.plot_inf_lines("now", np.array([self.app.source.time]))
            implot.end_plot()
        imgui.end()

    def _energies(self, width: float, height: float, note) -> None:
        columns = self.app.source.energies()
        times = columns.pop("time")
        self._plot("energies", (8, height - 300), "energy", {name: (times, values) for name, values in columns.items()}, note)

    def _iterations(self, width: float, height: float, note) -> None:
        columns = self.app.source.solver_figures()
        times = columns.pop("time")
        self._plot("iterations", (440, height - 300), "count", {name: (times, columns[name]) for name in ITERATIONS}, note)

    def _histories(self, width: float, height: float, note) -> None:
        found = {history.title: history.values(self.app.source) for history in self.app.histories}
        self._plot("histories", (8, 80), "", found, note)
