"""Movies of stored results: GIF by Pillow, MP4 and AVI by the program ffmpeg."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import suppress

from ..errors import SolfecError
from .pictures import picture

CODECS = {
    ".mp4": ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-movflags", "+faststart"],
    ".avi": ["-c:v", "mjpeg", "-q:v", "2"],
}
ENDINGS = (".gif", *CODECS)


def ending_of(path: str) -> str:
    """Return the ending of a movie's name.

    Raises
    ------
    SolfecError
        The ending is unknown, or ffmpeg, which makes such movies, is missing.
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise SolfecError(f"{path}: movies are {', '.join(ENDINGS)}")
    if ending != ".gif":
        ffmpeg()
    return ending


def ffmpeg() -> str:
    """Return the path of ffmpeg: of the system, or of the package imageio-ffmpeg."""
    if found := shutil.which("ffmpeg"):
        return found
    try:
        import imageio_ffmpeg

        return imageio_ffmpeg.get_ffmpeg_exe()
    except (ImportError, RuntimeError):
        raise SolfecError("movies other than .gif need ffmpeg: install it, or pip install imageio-ffmpeg") from None


class Recorder:
    """A movie that grows picture by picture.

    Parameters
    ----------
    path : str
        Its ending is the format.
    size : tuple of 2 int
        Of the pictures in pixels; those of MP4 and AVI are even.
    rate : float
        Pictures per second.
    annotated : bool
        With legend, time and axes.

    Raises
    ------
    SolfecError
        The file cannot be written.
    """

    def __init__(self, path: str, size: tuple[int, int], rate: float = 25.0, annotated: bool = True):
        self.path, self.rate, self.annotated, self.count = path, rate, annotated, 0
        self.ending = ending_of(path)
        self.size = size if self.ending == ".gif" else (size[0] + size[0] % 2, size[1] + size[1] % 2)  # codecs need even sizes
        self._pictures: list = []  # pictures of a GIF
        self._process, self._said = None, None
        try:
            with open(path, "ab"):  # checks that the file can be written
                pass
        except OSError as error:
            raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from None
        if self.ending != ".gif":
            self._said = tempfile.TemporaryFile()
            words = [ffmpeg(), "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "{}x{}".format(*self.size), "-r", f"{rate:g}"]
            self._process = subprocess.Popen([*words, "-i", "-", *CODECS[self.ending], path], stdin=subprocess.PIPE, stderr=self._said)

    def add(self, presentation) -> None:
        """Draw a picture and append it.

        Raises
        ------
        SolfecError
            The movie can no longer be written.
        """
        image = picture(presentation, *self.size, annotated=self.annotated)
        self.count += 1
        if self.ending == ".gif":
            self._pictures.append(image.quantize(256))
            return
        try:
            self._process.stdin.write(image.tobytes())
        except OSError:  # ffmpeg has ended; its message tells why
            self.close()

    def close(self) -> None:
        """Finish the file; check ffmpeg's status and the file.

        Raises
        ------
        SolfecError
            The file could not be written.
        """
        if self.ending == ".gif":
            try:
                if self._pictures:
                    first, *others = self._pictures
                    first.save(self.path, save_all=True, append_images=others, duration=1000.0 / self.rate, loop=0)
                    self._pictures = []
            except OSError as error:
                raise SolfecError(f"{self.path}: cannot be written: {error.strerror or error}") from None
            return
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(OSError):
            process.stdin.close()
        status = process.wait()
        self._said.seek(0)
        text = "; ".join(self._said.read().decode(errors="replace").split("\n")).strip("; ")
        self._said.close()
        if status or not os.path.getsize(self.path):
            raise SolfecError(f"{self.path}: ffmpeg could not write it: {text or f'status {status}'}")


def movie(app, path: str, frames: list[int], rate: float, annotated: bool = True) -> None:
    """Write a movie of some frames of stored results.

    Parameters
    ----------
    app : Application
        Its camera and result are used.
    path : str
        Its ending is the format.
    frames : list of int
    rate : float
        Frames per second.

    Raises
    ------
    SolfecError
        The file cannot be written.
    """
    recorder = Recorder(path, app.size, rate, annotated)
    try:
        for frame in frames:
            app.seek(frame)
            recorder.add(app.view)
    except BaseException:
        with suppress(SolfecError):  # the user should read the first error
            recorder.close()
        raise
    recorder.close()
