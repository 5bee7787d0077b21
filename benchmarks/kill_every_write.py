"""Simulates SIGKILL at every write of a writer of results: python benchmarks/kill_every_write.py [modes...]

Random kills rarely hit the few microseconds in which a file is inconsistent.  Here strace records each write system
call of a writer appending frames; files are rebuilt as they are after every prefix of these calls, then read, and
continued by another frame.  Prints one JSON line a mode.  Needs strace.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile

import kill_experiment as experiment
import words

CALL = re.compile(r'^(?:\d+ +)?(pwrite64|pwritev|write|ftruncate|openat|close)\((.*)\) += (-?\d+)')


def record(mode, folder, frames):
    """Run a writer under strace; returns [(file, offset, data or None for a truncation)] and frame ends."""
    log = os.path.join(folder, "log")
    code = (
        f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
        "import os, kill_experiment as e\n"
        "e.CHUNK = 8192\n"
        "e.frame_file.MOST_WAITING = 1 << 15\n"  # so that few frames wait
        f"w = e.MODES[{mode!r}]({os.path.join(folder, 'a.h5')!r}, 10)\n"
        f"for k in range({frames}):\n    w.append(); os.write(2, b'%d' % w.count)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run(
        ["strace", "-e", "trace=pwrite64,write,ftruncate,openat,close", "-xx", "-s", "9999999", "-o", log, sys.executable, "-c", code],
        stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    files, calls, done = {}, [], 0
    with open(log) as lines:
        for line in lines:
            match = CALL.match(line)
            if not match:
                continue
            call, text, value = match.groups()
            if call == "openat":
                name = bytes.fromhex(text.split('"')[1].replace("\\x", "")).decode(errors="replace")
                if name.startswith(folder) and int(value) >= 0:
                    files[int(value)] = os.path.basename(name)
            elif call == "close":
                files.pop(int(text), None)
            else:
                descriptor = int(text.split(",")[0])
                if call == "write" and descriptor == 2:
                    done = int(bytes.fromhex(text.split('"')[1].replace("\\x", "")))
                if descriptor not in files:
                    continue
                if call == "ftruncate":
                    calls.append((files[descriptor], int(text.split(",")[1]), None, done))
                else:
                    data = bytes.fromhex(text.split('"')[1].replace("\\x", ""))[: int(value)]
                    offset = int(text.split(",")[-1]) if call == "pwrite64" else -1
                    calls.append((files[descriptor], offset, data, done))
    return calls


def replay(folder, calls):
    """Yield after each call with the files as they are then, copied to `folder`."""
    for name, offset, data, done in calls:
        path = os.path.join(folder, name)
        with open(path, "r+b" if os.path.exists(path) else "w+b") as file:
            if data is None:
                file.truncate(offset)
            else:
                file.seek(*((0, 2) if offset < 0 else (offset,)))
                file.write(data)
        yield done


def append(mode, path, pipe):
    """Continue a file by a frame, then read it all."""
    try:
        writer = experiment.MODES[mode](path, 10)
        count = writer.count
        for _ in range(8):
            writer.append()
        writer.file.close()
        if writer.__dict__.get("journal"):
            writer.journal.close()
        good = experiment.check(mode, path, 10, count + 8)[0] == 0
    except Exception:
        good = False
    os.write(pipe, b"1" if good else b"0")
    os._exit(0)


def answer(function, *arguments):
    """Return the byte that a child process writes, or nothing if it crashes or hangs."""
    child, receive = experiment.fork(function, *arguments)
    ready, _, _ = select.select([receive], [], [], 5.0)
    data = os.read(receive, 8) if ready else b""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(receive)
    return data


def campaign(mode, frames=60):
    """Test every prefix of the writes of `frames` frames, except the first frame, which is created by renaming."""
    folder = tempfile.mkdtemp()
    calls = record(mode, folder, frames)
    result = {"mode": mode, "prefixes": 0, "unreadable or lost": 0, "cannot be continued": 0}
    image, copy = os.path.join(folder, "image"), os.path.join(folder, "copy")
    os.mkdir(image)
    for done in replay(image, calls):
        if done == 0:
            continue
        result["prefixes"] += 1
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(image, copy)
        path = os.path.join(copy, "a.h5")
        result["unreadable or lost"] += answer(experiment.checked, mode, path, 10, done) != bytes(8)
        result["cannot be continued"] += answer(append, mode, path) != b"1"
    shutil.rmtree(folder)
    return result


if __name__ == "__main__":
    experiment.CHUNK = 8192
    modes = ["earliest, one flush", "earliest, two flushes", "swmr, repaired", "raw side file", "journal", "journal, frames in records"]
    parser = words.parser(__doc__)
    parser.add_argument("mode", nargs="*", choices=[*modes, []], help=", ".join(modes))
    for mode in parser.parse_args().mode or modes:
        print(json.dumps(campaign(mode)), flush=True)
