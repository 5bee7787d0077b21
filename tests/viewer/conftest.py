"""Models to look at, and a context to draw in."""

import os

os.environ["SOLFEC_GL_CHECK"] = "1"  # every call of OpenGL is checked

import pytest
from viewer_inputs import FLOOR

SCENE = f"""
s = SOLFEC('DYNAMIC', 1E-3, 'out/scene')
{FLOOR}
BODY(s, 'RIGID', box((-.5, -.5, .0), (.5, .5, 1), 2, 2), b, label='block')
BODY(s, 'PSEUDO_RIGID', box((-.4, -.4, 1), (.4, .4, 1.6), 3, 3), b, label='soft')
m = HEX([1, -1, 0, 3, -1, 0, 3, 1, 0, 1, 1, 0, 1, -1, 1, 3, -1, 1, 3, 1, 1, 1, 1, 1], 4, 4, 2, 4, [4] * 6)
BODY(s, 'FINITE_ELEMENT', m, b, label='fem')
BODY(s, 'RIGID', SPHERE((2, 0, 1.5), .5, 5, 5), b, label='ball')
BODY(s, 'RIGID', ELLIP((-2, 0, .6), (.9, .5, .6), 6, 6), b, label='egg')
OUTPUT(s, 5E-3)
RUN(s, GAUSS_SEIDEL_SOLVER(1E-4, 1000), 0.02)
"""


@pytest.fixture(scope="session")
def scene(run_once):
    """Output directory of a run with bodies of all kinds of shapes."""
    return str(run_once(SCENE) / "out" / "scene")


@pytest.fixture
def window(context):
    """Make the context without a display current, since another window may have been."""
    context.glfw.make_context_current(context.handle)
    return context


@pytest.fixture(scope="session")
def context():
    """A context without a display; tests that draw are skipped where there is none."""
    from solfec import viewer

    if names := viewer.missing():
        pytest.skip(f"the viewer's packages {', '.join(names)} are not installed: nothing was drawn")
    try:
        from solfec.viewer.window import Window

        opened = Window(shown=False)
    except viewer.ViewerUnavailable as error:
        pytest.skip(f"nothing was drawn: {error}")
    yield opened
    opened.close()


@pytest.fixture
def shown(window, scene):
    """The scene's last frame with a renderer."""
    from solfec.viewer.gl.renderer import Renderer
    from solfec.viewer.presentation import Presentation
    from solfec.viewer.sources import Stored

    source = Stored(scene)
    source.seek(-1)
    made = Presentation(source, Renderer())
    made.fit(4 / 3)
    yield made
    source.close()
