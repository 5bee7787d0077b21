"""The window's loop: events, one frame of the interface, the picture below it."""

from __future__ import annotations

import ctypes
import os

from imgui_bundle import imgui, implot

from ..errors import SolfecError
from .application import Application
from .gl import GL
from .ui import Interface
from .window import Window

FONT = 15.0  # pixels
BUDGET_OF_RANGES = 0.02  # seconds per picture for reading other frames of the results
LOST = {0x505: "is out of memory", 0x507: "has lost the window's context"}  # by OpenGL's error numbers
IDLE = 0.1  # seconds that a window with nothing to do waits for events
HINTS = """\
left drag: turn; shift + left drag: move; ctrl + left drag, wheel: zoom; alt + left drag: spin
right click: menu; click: what is there; F1: all keys; ctrl-P: any command by name
"""


def style(contrast: bool) -> None:
    """Set the colours of ImGui: dark on light, or with `contrast` black on white, with borders."""
    imgui.style_colors_light()
    made = imgui.get_style()
    made.frame_border_size = made.window_border_size = made.popup_border_size = 2.0 if contrast else 1.0
    if not contrast:
        made.frame_border_size = 0.0
        return
    kinds = imgui.Col_
    for kind in (kinds.text, kinds.text_disabled, kinds.border, kinds.check_mark, kinds.slider_grab, kinds.slider_grab_active):
        made.set_color_(kind, imgui.ImVec4(0.0, 0.0, 0.0, 1.0))
    for kind in (kinds.window_bg, kinds.popup_bg, kinds.frame_bg, kinds.button, kinds.menu_bar_bg, kinds.title_bg, kinds.title_bg_active):
        made.set_color_(kind, imgui.ImVec4(1.0, 1.0, 1.0, 1.0))
    for kind in (kinds.header, kinds.header_hovered, kinds.header_active, kinds.button_hovered, kinds.button_active, kinds.frame_bg_hovered):
        made.set_color_(kind, imgui.ImVec4(1.0, 0.85, 0.3, 1.0))  # black on it has a contrast of 14 to 1


class Screen:
    """A window with the application in it.

    Parameters
    ----------
    sources : list of Stored
    width, height : int
    shown : bool
        Whether the window is on the display; otherwise events come from tests.
    """

    def __init__(self, sources: list, width: int, height: int, shown: bool = True):
        self.window = Window(width, height, shown, "solfec")
        self._typed: list[str] = []
        glfw = self.window.glfw
        self._take = glfw.set_char_callback(self.window.handle, lambda _, code: self._typed.append(chr(code)))  # ImGui calls it, too
        imgui.create_context()
        implot.create_context()
        self._set_up_imgui()
        self.app = Application(sources, self.window.size)
        for view in self.app.views:
            view.shown_in_space.add("planes")
            view.budget = BUDGET_OF_RANGES
        self.interface = Interface(self.app)
        name = GL.glGetString(GL.GL_RENDERER)
        self._slow = any(word in (name or b"").decode().lower() for word in ("llvmpipe", "softpipe"))
        self._title, self._contrast = "", False

    def _set_up_imgui(self) -> None:
        import matplotlib

        io = imgui.get_io()
        io.set_ini_filename("")
        style(False)
        io.fonts.add_font_from_file_ttf(os.path.join(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), FONT)
        imgui.backends.glfw_init_for_opengl(ctypes.cast(self.window.handle, ctypes.c_void_p).value, True)
        imgui.backends.opengl3_init("#version 330")

    def frame(self) -> None:
        """Run the loop once."""
        glfw, app = self.window.glfw, self.app
        glfw.poll_events()
        width, height = self.window.size
        app.resize(width, height)
        app.tick()
        if app.clipboard:
            imgui.set_clipboard_text(app.clipboard)
            app.clipboard = ""
        imgui.backends.opengl3_new_frame()
        imgui.backends.glfw_new_frame()
        if app.contrast != self._contrast:
            self._contrast = app.contrast
            style(app.contrast)
        imgui.get_style().font_scale_main = app.font_size / FONT
        imgui.new_frame()
        typed, self._typed = self._typed, []
        if not imgui.get_io().want_text_input:
            for character in typed:
                self.interface.typed(character)
        self.interface.draw()
        imgui.render()
        if width > 0 and height > 0:
            targets = app.draw(quick=self._slow and self.interface.dragging)
            GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, targets.framebuffers[2])
            GL.glReadBuffer(GL.GL_COLOR_ATTACHMENT0)
            GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, 0)
            GL.glBlitFramebuffer(0, 0, width, height, 0, 0, width, height, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST)
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, 0)
        GL.glViewport(0, 0, width, height)
        imgui.backends.opengl3_render_draw_data(imgui.get_draw_data())
        glfw.swap_buffers(self.window.handle)
        if (code := GL.glGetError()) in LOST:
            raise SolfecError(f"the graphics card {LOST[code]}: open the window again; results are not affected, and a run ends with its last state written")
        title = f"solfec: {app.source.path}" + (f" [{app.tool}]" if app.tool else "")
        if title != self._title:
            glfw.set_window_title(self.window.handle, title)
            self._title = title

    def loop(self) -> None:
        """Run the loop until the user quits."""
        glfw = self.window.glfw
        glfw.swap_interval(1)
        print(HINTS, end="", flush=True)
        while not (self.app.closing or glfw.window_should_close(self.window.handle)):
            self.frame()
            animated = self.app.view.shape is not None and self.app.view.shape.animated
            if not (self.app.playing or self.app.dirty or animated):
                glfw.wait_events_timeout(IDLE)

    def close(self) -> None:
        """Free all resources."""
        self.window.glfw.make_context_current(self.window.handle)  # another window's may be
        imgui.backends.opengl3_shutdown()
        imgui.backends.glfw_shutdown()
        implot.destroy_context()
        imgui.destroy_context()
        self.app.close()
        self.window.close()
