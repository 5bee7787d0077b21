"""Help texts of commands whose functions have no docstring."""

from __future__ import annotations

HELP = {
    "previous domain": "Show the model before this one.", "next domain": "Show the next model.",
    "2D selection": "Draw a rectangle: bodies that are seen in it stay.", "3D selection": "Draw a rectangle: bodies that are in it, seen or not, stay.",
    "2D wireframe": "Draw a rectangle: bodies that are seen in it are drawn as edges, or filled again.",
    "3D wireframe": "Draw a rectangle: bodies that are in it are drawn as edges, or filled again.",
    "previous selection": "Show what was shown before the last selection.", "toggle bodies": "Draw faces, or none.",
    "highlight by label": "Tint the bodies whose labels match; a click of hide and the like on one acts on all.", "select by label": "Show those bodies alone whose labels match.",
    "toggle transparent": "Click bodies that become transparent, or whole again.", "transparent all": "Make all bodies transparent.",
    "transparent none": "Make no body transparent.", "clear cuts": "Take all cuts away.", "hide": "Click bodies that are hidden.",
    "toggle rough mesh": "Click bodies whose elements are drawn, or no more.", "show all": "Show all bodies.",
    "next result": "Show the next result.", "previous result": "Show the result before.",
    "toggle output path": "Write the path of the results in the top line.", "point coordinates": "Click a point: its coordinates are told and printed.",
    "points distance": "Click two points: their distance is told and printed.", "points angle": "Click three points: the angle at the second is told and printed.",
    "trackball center": "Click the point about which the scene turns.", "wireframe all": "Draw all bodies as edges.",
    "wireframe none": "Draw no body as edges.", "legends on/off": "Show legend and axes, or none.",
    "lighting on/off": "Shade faces by light, or show plain colours.", "colours": "Choose the colour map.",
    "run/stop": "Run the model or play the frames; again: stop.", "step": "Make one step, or show the next frame.",
    "seek to": "Show the frame that is nearest to a time.", "frame": "Show a frame by its number.", "forward": "Go on by some frames.",
    "backward": "Go back by some frames.", "skip": "Set how many frames forward and backward go.",
    "follow last frame": "Show new frames of a run that another process computes.", "result": "Colour by a result.",
    "perspective/ortho": "Draw in perspective, or in parallel projection.", "outline/fill": "Draw edges, or none.",
    "look": "Look from azimuth and elevation in degrees.", "fit": "See all bodies that are not hidden.",
    "PNG": "Write a picture.", "BMP": "Write a picture.", "PDF": "Write a picture with legend and words as vectors.",
    "EPS": "Write a picture with legend and words as vectors.", "help": "Show all keys.",
    "leave tool": "Leave the tool of the mouse; without one switch the legend off.",
    **{name: f"Look from the {name}." for name in ("front", "back", "left", "right", "top", "bottom")},
}  # fmt: skip


def of(name: str) -> str:
    """Return the help of a command; empty if it is unknown."""
    if name.startswith("show "):
        return "Show bodies in the colours of their kinds." if name == "show plain" else f"Show {name.removeprefix('show ')}."
    return HELP.get(name, "")
