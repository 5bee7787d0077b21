"""`solfec view`: results in a window, or pictures of them in files without a display."""

from __future__ import annotations

import argparse
import sys

from ..errors import NotBuiltYet, SolfecError
from . import ViewerUnavailable, pixels, require

HELP = """\
Shows stored results in a window; with --screenshot it writes a picture instead and needs no display. Nothing in the directory of the results
is executed.

  solfec view out/arch
  solfec view out/arch --screenshot arch.png --time 0.5 --result mises --look front
"""


def size(text: str) -> tuple[int, int]:
    """Read width and height from 'WxH'."""
    found = pixels(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size; 800x600 is one")
    return found


def limits(text: str) -> tuple[float, float]:
    """Read least and greatest value from 'low,high'."""
    try:
        low, high = (float(word) for word in text.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high:
        raise argparse.ArgumentTypeError(f"{text!r} is no range; 0,1E6 is one")
    return low, high


def parser() -> argparse.ArgumentParser:
    """Return the parser of the words after `solfec view`."""
    from .colours import MAPS

    made = argparse.ArgumentParser(prog="solfec view", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("path", help="output directory or results file")
    made.add_argument("--screenshot", metavar="FILE", help="picture to write: .png, .bmp, .jpg, .pdf or .eps")
    made.add_argument("--movie", metavar="FILE", help="movie of all frames to write: .gif, .mp4 or .avi (the last two by ffmpeg)")
    made.add_argument("--html", metavar="FILE", help="page to write that shows all frames in any browser")
    made.add_argument("--camera", metavar="FILE", help="place of the camera, or a path of it, from a file that the window's 'save camera' wrote")
    made.add_argument("--script", metavar="FILE", help="viewer script to run before pictures are made, with its words in quotes: 'script.py 1 2'")
    made.add_argument("--rate", type=float, default=25.0, metavar="N", help="pictures of a movie per second (default: 25)")
    made.add_argument("--every", type=int, default=1, metavar="N", help="show every N-th frame in a movie or page")
    made.add_argument("--size", type=size, default=(1024, 768), metavar="WxH", help="of the picture in pixels (default: 1024x768)")
    moment = made.add_mutually_exclusive_group()
    moment.add_argument("--time", type=float, metavar="T", help="show the frame nearest to a time (default: the last frame)")
    moment.add_argument("--frame", type=int, metavar="N", help="show a frame by number, from 0; -1 is the last")
    made.add_argument("--result", default="", metavar="NAME", help="colour by dx ... |d|, vx ... |v|, sx ... mises, R ... U, gap, damage, merit, bodies, surfaces, volumes ...")
    made.add_argument("--range", type=limits, metavar="LOW,HIGH", help="of colours (default: least and greatest value)")
    made.add_argument("--colours", choices=MAPS, default="viridis", help="colour map (default: viridis)")
    made.add_argument("--look", default="-60,25", metavar="VIEW", help="front, back, left, right, top, bottom, or azimuth,elevation in degrees")
    made.add_argument("--zoom", type=float, default=1.0, metavar="FACTOR", help="come nearer by a factor")
    made.add_argument("--ortho", action="store_true", help="parallel projection")
    made.add_argument("--hide", action="append", default=[], metavar="LABEL", help="hide bodies whose label holds a regular expression, or a body by number")
    made.add_argument("--see-through", action="append", default=[], metavar="LABEL", help="the same, drawn transparent")
    made.add_argument("--cut", action="append", default=[], metavar="PLANE", help="cut away what is beyond a plane: x, -z:0.5, 1,1,0:0.5 (normal, offset along it)")
    made.add_argument("--do", default="", metavar="COMMANDS", help="commands of the window's menus, one after another, with ; between them")
    made.add_argument("--transparent", action="store_true", help="no background (.png)")
    made.add_argument("--plain", action="store_true", help="no legend, time and axes")
    return made


def command(words: list[str]) -> int:
    """Run `solfec view`; return the exit status: 2 if this machine cannot draw."""
    made = parser()
    words = [f"{word}={following}" if following else word for word, following in _paired(words)]
    options = made.parse_args(words)
    pictures = options.screenshot or options.movie
    if not pictures and (options.transparent or options.plain):
        made.error("--transparent and --plain are for pictures: --screenshot FILE")
    if options.movie and options.transparent:
        made.error("movies have a background: --transparent is for --screenshot")
    if not (options.rate > 0 and options.every > 0):
        made.error("--rate and --every need positive numbers")
    if not options.movie and (options.rate != 25.0 or (options.every != 1 and not options.html)):
        made.error("--rate and --every are for movies: --movie FILE")
    try:
        require()
        if pictures or options.html:
            screenshot(options)
        else:
            window(options)
    except (ViewerUnavailable, NotBuiltYet) as error:
        print(f"solfec view: {error}", file=sys.stderr)
        return 2
    return 0


def _paired(words: list[str]):
    """Join switches whose values may begin like switches, such as -60,25, with the following word."""
    words = iter(words)
    for word in words:
        yield word, next(words, "") if word in ("--look", "--cut", "--range") else ""


def opened(options):
    """Open results at the frame given by the options."""
    from .sources import Stored

    if not options.zoom > 0:
        raise SolfecError(f"--zoom needs a positive factor, not {options.zoom:g}")
    source = Stored(options.path)
    if options.time is not None:
        source.seek_time(options.time)
    else:
        source.seek(-1 if options.frame is None else options.frame)
    return source


def window(options) -> None:
    """Open a window on the display, set up by the options, until the user quits."""
    source = opened(options)
    from .screen import Screen

    screen = Screen([source], *options.size)
    try:
        set_up(screen.app, options)
        screen.loop()
    finally:
        screen.close()


def screenshot(options) -> None:
    """Make the picture and the movie given by the options."""
    from .movies import ending_of, movie

    if options.movie:
        ending_of(options.movie)
    source = opened(options)
    from .window import Window

    context = Window(shown=False)
    try:
        from .application import Application
        from .histories import left_out
        from .pictures import picture, save

        app = Application([source], options.size)
        set_up(app, options)
        if missing := left_out(app):
            print(f"solfec view: {missing}", file=sys.stderr)
        if options.screenshot:
            if options.screenshot.lower().endswith((".pdf", ".eps")) and not options.transparent:
                from .vector import save as save_vectors

                save_vectors(app.view, *options.size, options.screenshot, not options.plain)
            else:
                save(picture(app.view, *options.size, options.transparent, not options.plain), options.screenshot)
            print(options.screenshot)
        if options.html:
            from .page import write

            write(app, options.html, options.every)
            print(options.html)
        if options.movie:
            movie(app, options.movie, list(range(0, len(source.times), options.every)), options.rate, not options.plain)
            print(options.movie)
    finally:
        context.close()
        source.close()


def set_up(app, options) -> None:
    """Apply options of `parser` for the picture, then the commands of --do."""
    from .tools import chosen

    shown = app.view
    for words, opacity in ((options.hide, 0.0), (options.see_through, 0.35)):
        if words:
            shown.set_opacity(chosen(shown.domain, words), opacity)
    for words in options.cut:
        shown.cut(words)
    shown.camera.ortho = options.ortho
    shown.look(options.look)
    shown.fit(options.size[0] / options.size[1], near=True)
    shown.camera.zoom(1.0 / options.zoom)
    shown.set_colours(options.colours)
    if options.range:
        shown.set_range(*options.range)
    shown.show(options.result)
    if options.camera:
        app.obey(f"load camera {options.camera}")
    if options.script:
        app.obey(f"run python script {options.script}")
    for line in filter(None, (part.strip() for part in options.do.split(";"))):
        app.obey(line)
