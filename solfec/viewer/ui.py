"""The interface around the picture, drawn by ImGui: menus, time line, legend, inspector, dialogs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import imgui

from . import colours
from .commands import COMMANDS
from .drag import Drag, cut_handle_at
from .legend import left
from .panels import Panels
from .tools import RECTANGLES

if TYPE_CHECKING:
    from .application import Application

BARE = (
    imgui.WindowFlags_.no_title_bar | imgui.WindowFlags_.no_resize | imgui.WindowFlags_.no_move | imgui.WindowFlags_.no_saved_settings
)
NAMED_KEYS = {
    "RETURN": imgui.Key.enter, "UP": imgui.Key.up_arrow, "DOWN": imgui.Key.down_arrow, "LEFT": imgui.Key.left_arrow,
    "RIGHT": imgui.Key.right_arrow, "ESC": imgui.Key.escape, "F1": imgui.Key.f1, "F2": imgui.Key.f2,
    "PAGE UP": imgui.Key.page_up, "PAGE DOWN": imgui.Key.page_down,
}  # fmt: skip
ARROWS = {"UP": imgui.Key.up_arrow, "DOWN": imgui.Key.down_arrow, "LEFT": imgui.Key.left_arrow, "RIGHT": imgui.Key.right_arrow}
WITH_CTRL = {"^Z": imgui.Key.z, "^Y": imgui.Key.y, "^C": imgui.Key.c} | {f"^{name}": key for name, key in ARROWS.items()}
WITH_SHIFT = {f"SHIFT {name}": key for name, key in ARROWS.items()}
REPEATED = ("LEFT", "RIGHT", "PAGE UP", "PAGE DOWN", *(f"^{name}" for name in ARROWS), *WITH_SHIFT)
MENUS = ("domain", "render", "tools", "analysis", "kinds of", "results", "view", "export", "script", "help", "quit")
TURN = 0.006  # radians per pixel
BLACK = imgui.IM_COL32(0, 0, 0, 255)


class Interface:
    """The interface, drawn once per picture.

    Attributes
    ----------
    places : dict
        Middles (x, y) in pixels of the entries in the last picture, by command; tests press them.
    question : MissingArgument, optional
        Question of the dialog.
    """

    def __init__(self, application: Application):
        self.app, self.question, self.answer, self.places = application, None, "", {}
        self._corner, self._sought = None, ""
        self._opening, self._pointer, self._held = "", None, (False, False)
        self.panels, self._turned, self._cut = Panels(application, self.do), False, None
        self.drag = Drag()

    def do(self, line: str) -> None:
        """Do a command; open a question for a missing argument."""
        missing = self.app.try_to(line)
        if missing is not None:
            self.question, self.answer, self._opening = missing, "", "question"

    def typed(self, character: str) -> None:
        """Handle a character from the keyboard that no text field takes."""
        key = "SPACE" if character == " " else character
        for command in COMMANDS.values():
            if command.key == key:
                self.do(command.name)

    def draw(self) -> None:
        """Draw everything, between `imgui.new_frame` and `imgui.render`."""
        self.places = {}
        width, height = imgui.get_io().display_size
        self._menus()
        self._pop_up()
        self._top_line(width)
        self._time_line(width, height)
        if self.app.legend_shown:
            self._legend(width, height)
        self._words()
        self.panels.draw(width, height, self._note)
        if self.app.help_shown:
            self._help()
        self._dialogs(width, height)
        self._keys()
        self._mouse()

    # -- menus ----------------------------------------------------------------------------------------------

    def _menus(self) -> None:
        if imgui.begin_main_menu_bar():
            self._entries()
            imgui.end_main_menu_bar()

    def _pop_up(self) -> None:
        """Draw the menu of the right button, as in Solfec-1.0."""
        io = imgui.get_io()
        if not io.want_capture_mouse and imgui.is_mouse_released(1) and io.mouse_drag_max_distance_sqr[1] < 16:
            imgui.open_popup("menu")
        if imgui.begin_popup("menu"):
            self._entries()
            imgui.end_popup()

    def _entries(self) -> None:
        menus: dict[str, list] = {}
        for command in COMMANDS.values():
            if command.menu:
                menus.setdefault(command.menu, []).append(command)
        for head in MENUS:
            if imgui.begin_menu(head):
                self._items(menus.get(head, []))
                for other, inner in menus.items():
                    if other.startswith(head + "/") and imgui.begin_menu(other.split("/")[1]):
                        self._items(inner)
                        imgui.end_menu()
                imgui.end_menu()
            self._note("menu " + head)

    def _items(self, commands: list) -> None:
        for command in commands:
            name = command.name.removeprefix("show ")
            shown = f"{name}##{command.name}"
            if imgui.menu_item(shown, command.key, command.name == self.app.tool)[0]:
                self.do(command.name)
            if command.help and imgui.is_item_hovered():
                imgui.set_tooltip(command.help.strip())
            self._note(command.name)

    def _note(self, name: str) -> None:
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        self.places[name] = 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1])

    # -- panels ---------------------------------------------------------------------------------------------

    def _top_line(self, width: float) -> None:
        app = self.app
        text = app.error or app.hint or app.message or (f"tool: {app.tool} (ESC leaves it)" if app.tool else "")
        if app.path_shown:
            text = f"{app.source.path}   {text}"
        if not text:
            return
        imgui.set_next_window_pos((8, 30))
        imgui.set_next_window_size_constraints((0, 0), (width - 16, 200))
        imgui.begin("top line", None, BARE | imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_inputs)
        if app.error:
            imgui.text_colored((0.75, 0.0, 0.0, 1.0), app.error)
        else:
            imgui.text(text)
        imgui.end()

    def _time_line(self, width: float, height: float) -> None:
        app = self.app
        imgui.set_next_window_pos((8, height - 42))
        imgui.set_next_window_size((max(width - 16, 50), 36))
        imgui.begin("time line", None, BARE | imgui.WindowFlags_.no_scrollbar)
        if imgui.button("stop" if app.playing else "play"):
            self.do("run/stop")
        self._note("button run/stop")
        imgui.same_line()
        if app.source.live:
            domain = app.source.domain
            imgui.text(f"t = {domain.time:.6g}   step {domain.step_number}   {domain.constraints.n} constraints")
            imgui.end()
            return
        imgui.set_next_item_width(-1)
        frame, last = app.source.frame, max(len(app.source.times) - 1, 0)
        moved, chosen = imgui.slider_int("##frame", frame, 0, max(last, 1), f"t = {app.source.time:.6g}   frame {frame} of 0 to {last}")
        self._note("slider")
        if moved and chosen <= last:
            self.do(f"frame {chosen}")
        imgui.end()

    def _legend(self, width: float, height: float) -> None:
        app = self.app
        draw, camera = imgui.get_background_draw_list(), app.view.camera
        centre = np.array([width - 45.0, height - 90.0])
        for k in np.argsort(camera.rotation.T[:, 2]).tolist():
            tip = centre + 28.0 * camera.rotation.T[k, :2] * (1, -1)
            ink = (imgui.IM_COL32(200, 30, 30, 255), imgui.IM_COL32(20, 140, 40, 255), imgui.IM_COL32(40, 60, 200, 255))[k]
            draw.add_line(tuple(centre), tuple(tip), ink, 2.0)
            draw.add_text(tuple(centre + 1.4 * (tip - centre) - 6), ink, "xyz"[k])
        legend = app.view.legend
        if legend is None:
            return
        x, y = left(legend, width, 110.0, 34.0, lambda word: imgui.calc_text_size(word).x), 40.0
        draw.add_text((x, y), BLACK, legend.title)
        if legend.range is None:
            for line, (number, word) in enumerate(legend.words):
                r, g, b = colours.palette()[number % colours.CATEGORIES].tolist()
                top = y + 22 + 20 * line
                draw.add_rect_filled((x, top), (x + 20, top + 14), imgui.IM_COL32(r, g, b, 255))
                draw.add_text((x + 26, top), BLACK, word)
            return
        table = colours.colour_map(app.view.colour_map)
        for k in range(64):
            r, g, b = table[255 - 4 * k].tolist()
            draw.add_rect_filled((x, y + 24 + 4 * k), (x + 20, y + 28 + 4 * k), imgui.IM_COL32(r, g, b, 255))
        for place, word in colours.numbers(*legend.range, logarithmic=legend.logarithmic):
            draw.add_text((x + 26, y + 24 + 256 * (1 - place) - 8), BLACK, word)

    def _words(self) -> None:
        """Draw words in space."""
        overlay = self.app.view.overlay
        if not overlay.texts:
            return
        draw, scale = imgui.get_background_draw_list(), imgui.get_io().display_framebuffer_scale
        at = self.app.view.camera.project(np.array(overlay.places), *self.app.size)
        for place, text in zip(at, overlay.texts):
            if np.isfinite(place).all():
                draw.add_text((place[0] / scale[0] + 4, place[1] / scale[1] - 8), BLACK, text)

    def _help(self) -> None:
        _, kept = imgui.begin("keys and mouse", True, imgui.WindowFlags_.always_auto_resize)
        imgui.text("left drag turns, with shift moves, with ctrl zooms, with alt spins; the wheel zooms; right click: menu; ctrl-P: any command")
        if imgui.begin_table("keys", 6):
            for command in COMMANDS.values():
                if command.key:
                    imgui.table_next_column()
                    imgui.text_colored((0.1, 0.3, 0.7, 1.0), command.key)
                    imgui.table_next_column()
                    imgui.text(command.name)
                    if command.help and imgui.is_item_hovered():
                        imgui.set_tooltip(command.help.strip())
            imgui.end_table()
        imgui.end()
        self.app.help_shown = bool(kept)

    # -- dialogs --------------------------------------------------------------------------------------------

    def _dialogs(self, width: float, height: float) -> None:
        if self._opening:
            imgui.open_popup(self._opening)
        imgui.set_next_window_pos((width / 2, height / 2), imgui.Cond_.appearing, (0.5, 0.5))
        if imgui.begin_popup("question"):
            imgui.text(self.question.question if self.question else "")
            if self._opening:
                imgui.set_keyboard_focus_here()
            entered, self.answer = imgui.input_text("##answer", self.answer, imgui.InputTextFlags_.enter_returns_true)
            if entered and self.question is not None:
                imgui.close_current_popup()
                question, self.question = self.question, None
                if self.answer.strip():
                    self.do(f"{question.name} {self.answer}")
            imgui.end_popup()
        imgui.set_next_window_pos((width / 2, height / 3), imgui.Cond_.appearing, (0.5, 0.5))
        if imgui.begin_popup("palette"):
            self._palette_lines()
            imgui.end_popup()
        if self._opening not in ("", "question", "palette"):
            raise ValueError(self._opening)
        if self.question is None or self._opening != "question" or imgui.is_popup_open("question"):
            self._opening = ""

    def _palette_lines(self) -> None:
        """Draw the commands whose names contain the typed text."""
        if self._opening:
            imgui.set_keyboard_focus_here()
        entered, self._sought = imgui.input_text("##sought", self._sought, imgui.InputTextFlags_.enter_returns_true)
        found = [name for name in COMMANDS if self._sought.lower() in name.lower()]
        for name in found[:15]:
            if imgui.selectable(name, False)[0] or (entered and name == found[0]):
                imgui.close_current_popup()
                self._sought = ""
                self.do(name)
                break

    # -- keys and mouse -------------------------------------------------------------------------------------

    def _keys(self) -> None:
        io = imgui.get_io()
        # A slow frame may see a key pressed and ctrl, held before, released again.
        ctrl, shift = io.key_ctrl or self._held[0], io.key_shift or self._held[1]
        self._held = io.key_ctrl, io.key_shift
        if io.want_text_input:
            return
        if ctrl and imgui.is_key_pressed(imgui.Key.p, False):
            self._opening = "palette"
            return
        keys = WITH_CTRL if ctrl else WITH_SHIFT if shift else NAMED_KEYS
        for command in COMMANDS.values():
            if command.key in keys and imgui.is_key_pressed(keys[command.key], command.key in REPEATED):
                self.do(command.name)

    def _mouse(self) -> None:
        io, app = imgui.get_io(), self.app
        if io.want_capture_mouse:
            return
        camera, height = app.view.camera, max(io.display_size[1], 1.0)
        scale = io.display_framebuffer_scale
        x, y = int(io.mouse_pos[0] * scale[0]), int(io.mouse_pos[1] * scale[1])
        if app.tool in RECTANGLES:
            self._rectangle(x, y)
            return
        if (x, y) != self._pointer or (app.view.renderer.hovered and not app.tool):
            self._pointer = x, y
            app.hover(x, y)
        if app.pointed is not None:
            place = app.view.camera.project(app.pointed[None], *app.size)[0]
            imgui.get_foreground_draw_list().add_circle((place[0] / scale[0], place[1] / scale[1]), 6.0, imgui.IM_COL32(0, 90, 205, 255), 0, 2.5)
        if self._move_cut(x, y) or self.drag.mouse(app, io, x, y):
            return
        dragged = imgui.is_mouse_dragging(0), imgui.is_mouse_dragging(2)
        if any(dragged):
            self._turned = True
            right, down = io.mouse_delta
            if io.key_shift or dragged[1]:
                camera.move(right / height, -down / height)
            elif io.key_ctrl:
                camera.zoom(1.01**down)
            elif io.key_alt:
                camera.turn(0.0, 0.0, -TURN * right)
            else:
                camera.turn(TURN * right, TURN * down)
            app.dirty = True
        elif self._turned:
            self._turned = False
            app.note_camera()
        if imgui.is_mouse_released(0) and io.mouse_drag_max_distance_sqr[0] < 16 and 0 <= x < app.size[0] and 0 <= y < app.size[1]:
            self.do(f"click {(x + 0.5) / app.size[0]:.6g} {(y + 0.5) / app.size[1]:.6g}")
        if io.mouse_wheel:
            camera.zoom(0.9**io.mouse_wheel)
            app.note_camera()
            app.dirty = True

    def _move_cut(self, x: int, y: int) -> bool:
        """Drag the handle of a cut along its normal; return whether the mouse does so."""
        app, io = self.app, imgui.get_io()
        if self._cut is None and imgui.is_mouse_clicked(0):
            self._cut = cut_handle_at(app, x, y)
        if self._cut is None:
            return False
        if not imgui.is_mouse_down(0):
            self._cut = None
            return True
        number, start, along, offset = self._cut
        if io.mouse_drag_max_distance_sqr[0] >= 16:
            moved = float((np.array([x, y]) - start) @ along / (along @ along))
            self.do(f"move cut {number} {offset + moved!r}")
        return True

    def _rectangle(self, x: int, y: int) -> None:
        """Draw the rectangle of a selection while the left button is down."""
        if imgui.is_mouse_clicked(0):
            self._corner = x, y
        if self._corner is None:
            return
        scale = imgui.get_io().display_framebuffer_scale
        ends = [(a / scale[0], b / scale[1]) for a, b in (self._corner, (x, y))]
        low, high = np.min(ends, axis=0), np.max(ends, axis=0)
        imgui.get_foreground_draw_list().add_rect_filled(tuple(low), tuple(high), imgui.IM_COL32(0, 180, 0, 80))
        if imgui.is_mouse_released(0):
            corner, self._corner = self._corner, None
            width, height = self.app.size
            ends = zip((*corner, x, y), (width, height, width, height))
            self.do("rectangle " + " ".join(f"{(place + 0.5) / size:.6g}" for place, size in ends))

    @property
    def dragging(self) -> bool:
        """Whether a mouse button is down."""
        return imgui.is_mouse_down(0) or imgui.is_mouse_down(2)
