"""Which way of writing results survives SIGKILL?  Run: python benchmarks/kill_experiment.py [kills] [modes...]

Each trial forks a writer that appends frames as fast as it can and a reader that follows it; the writer is killed
with SIGKILL at a random moment, the file is checked (every frame that the writer reported as written must be there
with the right numbers), and the next trial appends to the same file, until it cannot.  Prints one JSON line a mode.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import signal
import statistics
import struct
import tempfile
import time

import h5py
import numpy as np
import words

from solfec.results import frame_file
from solfec.results.journal import JournalledFile

SETS = {"conf": (3, 4), "velo": (3, 2), "constraints": (40, 1), "bodies": (10, 1)}  # width, rows per body
CHUNK = 65536


def rows(frame: int, name: str, bodies: int) -> np.ndarray:
    """The numbers of one frame, different for every frame and row."""
    width, each = SETS[name]
    count = each * bodies
    return np.add.outer(np.arange(count, dtype=float), np.arange(width)) + 1000.0 * frame


def lay_out(file):
    for name, (width, _) in SETS.items():
        file.create_dataset(name, (0, width), "f8", maxshape=(None, width), chunks=(CHUNK // 8 // width, width))
    file.create_dataset("commit", (0, 5), "i8", maxshape=(None, 5), chunks=(256, 5))


class Hdf5:
    """Datasets appended frame by frame, a commit record last."""

    def __init__(self, path, bodies, libver="earliest", swmr=False, journal=False, flushes=2):
        self.bodies, self.flushes, self.journal = bodies, flushes, None
        fresh = not os.path.exists(path)
        if journal:
            self.journal = JournalledFile(path)
            self.file = h5py.File(self.journal, "w" if fresh else "r+", libver=libver)
        else:
            self.file = h5py.File(path, "w" if fresh else "r+", libver=libver)
        if fresh or "commit" not in self.file:
            lay_out(self.file)
        if swmr:
            self.file.swmr_mode = True
        commit = self.file["commit"]
        self.count = len(commit)
        self.end = commit[-1] if self.count else np.zeros(5, "i8")
        for column, name in enumerate(SETS):
            self.file[name].resize(self.end[column + 1], axis=0)

    def append(self):
        end = self.end.copy()
        for column, name in enumerate(SETS, 1):
            data = rows(self.count, name, self.bodies)
            dataset = self.file[name]
            first = end[column]
            end[column] += len(data)
            dataset.resize(end[column], axis=0)
            dataset[first:] = data
        if self.flushes == 2:
            self.file.flush()
        end[0] = self.count
        commit = self.file["commit"]
        commit.resize(self.count + 1, axis=0)
        commit[self.count] = end
        self.file.flush()
        if self.journal:
            self.journal.commit()
        self.end = end
        self.count += 1


class Records:
    """Datasets appended by `frame_file.FrameFile`: small frames wait in the journal."""

    def __init__(self, path, bodies):
        self.bodies = bodies
        fresh = not os.path.exists(path)
        self.file = frame_file.FrameFile(path, fresh)
        if fresh:
            lay_out(self.file.hdf5)
            self.file.commit()
            self.file.rename(path)
        self.count = self.file.columns["commit"].length

    def append(self):
        columns = self.file.columns
        for name in SETS:
            columns[name].append(rows(self.count, name, self.bodies))
        columns["commit"].append(np.array([[self.count, *(columns[name].length for name in SETS)]]))
        self.file.commit()
        self.count += 1


class Raw:
    """A side file: length, frame number, all numbers."""

    def __init__(self, path, bodies):
        self.bodies = bodies
        self.size = sum(w * r for w, r in SETS.values()) * bodies * 8 + 16
        self.file = open(path, "ab")
        self.count = os.path.getsize(path) // self.size
        os.truncate(path, self.count * self.size)

    def append(self):
        parts = [struct.pack("<qq", self.size, self.count)]
        parts += [rows(self.count, name, self.bodies).tobytes() for name in SETS]
        self.file.write(b"".join(parts))
        self.file.flush()
        self.count += 1


def clear_flags(path):
    """Repair a version 3 superblock as h5clear does: clear the flags, set the end of file, renew the checksum."""
    import ctypes
    import glob

    with open(path, "r+b") as file:
        block = bytearray(file.read(48))
        if block[8] < 2:
            return
        block[11] = 0
        block[28:36] = struct.pack("<Q", os.path.getsize(path))
        library = ctypes.CDLL(glob.glob(os.path.join(os.path.dirname(h5py.__file__), "..", "h5py.libs", "libhdf5-*.so*"))[0])
        library.H5_checksum_metadata.restype = ctypes.c_uint32
        sum_ = library.H5_checksum_metadata(bytes(block[:44]), ctypes.c_size_t(44), ctypes.c_uint32(0))
        block[44:48] = struct.pack("<I", sum_)
        file.seek(0)
        file.write(block)


MODES = {
    "earliest, one flush": lambda p, n: Hdf5(p, n, flushes=1),
    "earliest, two flushes": lambda p, n: Hdf5(p, n),
    "latest": lambda p, n: Hdf5(p, n, "latest"),
    "swmr": lambda p, n: Hdf5(p, n, "latest", swmr=True),
    "swmr, repaired": lambda p, n: Hdf5(p, n, "latest", swmr=True),
    "raw side file": lambda p, n: Raw(p, n),
    "journal": lambda p, n: Hdf5(p, n, journal=True),
    "journal, frames in records": Records,
}


def verify(file, bodies, acknowledged, sample=3):
    """Return the acknowledged frames that are missing or wrong."""
    commit = file["commit"][...]
    lost = max(0, acknowledged - len(commit))
    frames = range(max(0, len(commit) - sample), len(commit))
    for frame in [*frames, *random.sample(range(len(commit)), min(sample, len(commit)))]:
        for column, name in enumerate(SETS, 1):
            first = commit[frame - 1][column] if frame else 0
            if not np.array_equal(file[name][first : commit[frame][column]], rows(frame, name, bodies)):
                lost += 1
    return lost, len(commit)


def check(mode, path, bodies, acknowledged):
    if mode == "raw side file":
        size = sum(w * r for w, r in SETS.values()) * bodies * 8 + 16
        return max(0, acknowledged - os.path.getsize(path) // size), 0
    if mode.startswith("journal"):
        with frame_file.reading(path) as file:
            return verify(file, bodies, acknowledged)
    with h5py.File(path, "r", locking=False, swmr=mode.startswith("swmr"), libver="latest" if "swmr" in mode else None) as file:
        return verify(file, bodies, acknowledged)


def follow(mode, path, bodies, pipe):
    """Read the file repeatedly in a reader process, and count failures."""
    tries = errors = wrong = 0
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    while not stop:
        time.sleep(0.002)
        if not os.path.exists(path):
            continue
        tries += 1
        try:
            wrong += check(mode, path, bodies, 0)[0] > 0
        except (OSError, KeyError, RuntimeError, ValueError):
            errors += 1
    os.write(pipe, struct.pack("<qqq", tries, errors, wrong))
    os._exit(0)


def fork(function, *arguments):
    """Run a function in a child with a pipe to us."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 2)
        try:
            function(*arguments, send)
        finally:
            os._exit(3)
    os.close(send)
    return child, receive


def write(mode, path, bodies, pipe):
    writer = MODES[mode](path, bodies)
    while True:
        writer.append()
        os.write(pipe, struct.pack("<q", writer.count))


def trial(mode, path, bodies, reader=True):
    """Kill one writer, and return what happened."""
    child, receive = fork(write, mode, path, bodies)
    watcher, watched = fork(follow, mode, path, bodies) if reader else (0, 0)
    acknowledged = 0
    ready, _, _ = select.select([receive], [], [], 5.0)
    first = os.read(receive, 8) if ready else b""
    if len(first) == 8:
        acknowledged = struct.unpack("<q", first)[0]
        end = time.monotonic() + random.uniform(0.0, 0.06)
        while time.monotonic() < end:
            if select.select([receive], [], [], max(0, end - time.monotonic()))[0]:
                data = os.read(receive, 8)
                if len(data) < 8:
                    break
                acknowledged = struct.unpack("<q", data)[0]
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while len(data := os.read(receive, 8)) == 8:
        acknowledged = struct.unpack("<q", data)[0]
    os.close(receive)
    seen = (0, 0, 0)
    if reader:
        os.kill(watcher, signal.SIGTERM)
        seen = struct.unpack("<qqq", os.read(watched, 24).ljust(24, b"\0"))
        os.waitpid(watcher, 0)
        os.close(watched)
    return len(first) == 8, acknowledged, seen


def checked(mode, path, bodies, acknowledged, pipe):
    """Check a file in a child process, since a damaged file can crash or hang the library."""
    try:
        if mode == "swmr, repaired":
            clear_flags(path)
        lost, _ = check(mode, path, bodies, acknowledged)
    except Exception:
        lost = -1
    os.write(pipe, struct.pack("<q", lost))
    os._exit(0)


def campaign(mode, kills, bodies):
    """Kill `kills` writers; a file is abandoned (and counted) when it cannot be appended to or has lost frames."""
    result = {"mode": mode, "bodies": bodies, "kills": kills, "cannot append": 0, "unreadable": 0, "lost or wrong": 0,
              "reader tries": 0, "reader errors": 0, "reader wrong": 0}  # fmt: skip
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "a.h5")
    acknowledged = 0
    for _ in range(kills):
        started, got, seen = trial(mode, path, bodies)
        for key, value in zip(("reader tries", "reader errors", "reader wrong"), seen):
            result[key] += value
        bad = not started
        result["cannot append"] += bad
        acknowledged = max(acknowledged, got)
        if started:
            child, receive = fork(checked, mode, path, bodies, acknowledged)
            ready, _, _ = select.select([receive], [], [], 10.0)
            data = os.read(receive, 8) if ready else b""
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(receive)
            lost = struct.unpack("<q", data)[0] if len(data) == 8 else -1
            result["unreadable"] += lost < 0
            result["lost or wrong"] += lost > 0
            bad = lost != 0
        if bad or acknowledged > 20000:
            shutil.rmtree(folder)
            os.mkdir(folder)
            acknowledged = 0
    shutil.rmtree(folder)
    return result


def cost(mode, bodies, frames):
    """Milliseconds per frame, best median of three runs."""
    best = float("inf")
    for _ in range(3):
        folder = tempfile.mkdtemp()
        writer = MODES[mode](os.path.join(folder, "a.h5"), bodies)
        times = []
        for _ in range(frames):
            start = time.perf_counter()
            writer.append()
            times.append(time.perf_counter() - start)
        best = min(best, statistics.median(times))
        writer.file.close()
        shutil.rmtree(folder)
    return round(1e3 * best, 3)


if __name__ == "__main__":
    parser = words.parser(__doc__)
    parser.add_argument("kills", nargs="?", type=words.positive, default=100)
    parser.add_argument("mode", nargs="*", choices=[*MODES, []], help=", ".join(MODES))
    options = parser.parse_args()
    kills = options.kills
    for mode in options.mode or MODES:
        result = campaign(mode, kills, 10)
        result["ms per frame of 10 bodies"] = cost(mode, 10, 300)
        result["ms per frame of 10000 bodies"] = cost(mode, 10000, 12)
        print(json.dumps(result), flush=True)
