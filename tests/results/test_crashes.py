"""Killed writers, full disks, and readers beside a writer."""

import errno
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import time
import traceback
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
from standin import StandIn

from solfec.errors import SolfecError
from solfec.results import ResultsWriter, frame_file, journal, open


def numbered(domain, k):
    """Make a domain whose frame k holds the number k everywhere."""
    domain.time, domain.step_number = float(k), k
    domain.bodies.triples.view("velo")[:] = k
    domain.bodies.view("energy")[:] = -k
    domain.constraints.view("R")[:] = 2 * k
    return domain


def frames_are_whole(reader):
    """Number of frames; each must hold its own number."""
    count = reader.refresh()
    for k in {0, count // 2, count - 1} if count else ():
        frame = reader.frame(k)
        assert frame.step["time"] == k
        assert (frame.velocities == k).all() and (frame.bodies["energy"] == -k).all()
        assert (frame.constraints["R"] == 2 * k).all()
    return count


def child(function, *arguments):
    """Run a function in another process; returns its id and the end of a pipe it writes to."""
    receive, send = os.pipe()
    process = os.fork()
    if process == 0:
        status = 1
        try:
            os.close(receive)
            function(*arguments, send)
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(send)
    return process, receive


def write_on(path, compression, pipe):
    """Append frames without end, and report their number."""
    if os.path.exists(path):
        writer = ResultsWriter.append(path)
    else:
        writer = ResultsWriter.create(path, "text")
        writer.compression = compression
    domain = StandIn(count=3)
    while True:
        if writer.frames == 20:
            domain.insert("late")
        writer.write_frame(numbered(domain, writer.frames))
        os.write(pipe, struct.pack("<q", writer.frames))


def kill_again_and_again(path, times, compression=False):
    """Kill writers repeatedly, each of which continues the file of the last one; no reported frame may be missing."""
    for _ in range(times):
        process, receive = child(write_on, path, compression)
        reported = os.read(receive, 8)
        time.sleep(random.uniform(0.0, 0.03))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        while len(data := os.read(receive, 8)) == 8:
            reported = data
        os.close(receive)
        with open(path) as reader:
            assert frames_are_whole(reader) - struct.unpack("<q", reported)[0] in (0, 1)
    return struct.unpack("<q", reported)[0]


@pytest.mark.parametrize("compression", [False, True])
def test_a_killed_writer_loses_at_most_its_frame_and_can_be_continued(tmp_path, compression):
    assert kill_again_and_again(str(tmp_path / "run"), 5, compression) > 5


@pytest.mark.slow
def test_two_hundred_killed_writers_lose_nothing(tmp_path):
    assert kill_again_and_again(str(tmp_path / "run"), 200) > 200


class Death:
    """Simulates a kill: from its n-th write on, the process has no effect on files."""

    def __init__(self, monkeypatch, limit):
        self.effects, self.limit = 0, limit
        for module, name in ((journal, "write_all"), (os, "ftruncate"), (os, "replace"), (os, "unlink")):
            monkeypatch.setattr(module, name, self.until_death(getattr(module, name)))

    def until_death(self, function):
        def effect(*arguments):
            self.effects += 1
            return function(*arguments) if self.effects <= self.limit else None

        return effect


def frames_before_death(path, limit, waiting, frames=6):
    """Write frames into `path`, dying after `limit` effects; returns the effects and frames there were.

    Frames wait in the journal until they have so many bytes.
    """
    written = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_file, "MOST_WAITING", waiting)
        patch.setattr(frame_file, "LONGEST_WAIT", np.inf)
        death = Death(patch, limit)
        try:
            writer = ResultsWriter.create(path, "text") if not os.path.exists(path) else ResultsWriter.append(path)
            domain = StandIn(count=3)
            for _ in range(frames):
                if writer.frames == 3:
                    domain.insert("late")
                writer.write_frame(numbered(domain, writer.frames))
                if death.effects <= limit:
                    written = writer.frames
            writer.close()
        except (SolfecError, OSError, RuntimeError, KeyError):
            assert death.effects > limit  # only the dead see errors
    return death.effects, written


NEVER, TWO_FRAMES, ALWAYS = 0, 12000, 10**9  # bytes that may wait


def check_every_death(tmp_path, stride, waiting):
    total, _ = frames_before_death(str(tmp_path / "whole"), 10**9, waiting)
    assert total > 20
    for limit in range(random.randrange(stride), total, stride):
        path = str(tmp_path / "run")
        shutil.rmtree(path, ignore_errors=True)
        _, written = frames_before_death(path, limit, waiting)
        if not written and not os.path.exists(path + "/run.h5"):
            continue
        before = contents(path)
        with open(path) as reader:
            assert frames_are_whole(reader) in (written, written + 1), limit
        assert contents(path) == before, "reading changes nothing"
        _, more = frames_before_death(path, 10**9, waiting)
        with open(path) as reader:
            assert frames_are_whole(reader) == more >= written + 6, limit
        assert "run.h5.journal" not in contents(path)


def contents(path):
    """Files of a directory with their bytes."""
    return {file.name: file.read_bytes() for file in Path(path).iterdir()}


@pytest.mark.parametrize("waiting", [NEVER, TWO_FRAMES, ALWAYS])
def test_death_at_any_write_leaves_all_complete_frames_and_a_file_that_goes_on(tmp_path, waiting):
    check_every_death(tmp_path, 7, waiting)


@pytest.mark.slow
@pytest.mark.parametrize("waiting", [NEVER, TWO_FRAMES, ALWAYS])
def test_death_at_every_single_write(tmp_path, waiting):
    check_every_death(tmp_path, 1, waiting)


def write_many(path, count, pause, pipe):
    with ResultsWriter.create(path) as writer:
        domain = StandIn(count=3)
        for k in range(count):
            if k % 10 == 5:
                domain.insert("late")
            writer.write_frame(numbered(domain, k))
            time.sleep(pause)


@pytest.mark.parametrize("waiting, count, pause", [(1 << 21, 150, 3e-3), (12000, 150, 3e-3), (1 << 18, 600, 0.0)])
def test_a_reader_in_another_process_follows_a_writer(tmp_path, monkeypatch, waiting, count, pause):
    path = str(tmp_path / "run")
    monkeypatch.setattr(frame_file, "MOST_WAITING", waiting)
    process, receive = child(write_many, path, count, pause)
    while not os.path.exists(path + "/run.h5"):
        assert os.waitpid(process, os.WNOHANG)[0] == 0, "the writer ended before its file was there"
        time.sleep(0.002)
    seen, stored, looks, ended = 0, 0, 0, False
    with open(path) as reader:
        while seen < count:
            ended = ended or os.waitpid(process, os.WNOHANG)[0] != 0
            now = frames_are_whole(reader)
            assert now >= seen and (now == count or not ended)
            assert pause == 0.0 or len(reader.history((None, "KINETIC"))[0]) >= now
            seen, looks = now, looks + 1
            with suppress(OSError):  # the file may be changing at this moment
                with h5py.File(path + "/run.h5", "r", locking=False) as file:  # others may look as well, and see frames later
                    count_stored = len(file["frames/steps"])
                assert stored <= count_stored <= reader.refresh()
                stored = count_stored
    if not ended:
        os.waitpid(process, 0)
    os.close(receive)
    assert looks > 3


def fill_disk(path, pipe):
    """Write until the disk is full; return the writer's message and the number of frames written."""
    writer = ResultsWriter.create(path, "text")
    domain = StandIn(count=300, contacts=300)
    try:
        while True:
            writer.write_frame(numbered(domain, writer.frames))
    except SolfecError as error:
        with open(path) as reader:
            frames_are_whole(reader)
        os.write(pipe, f"{writer.frames} {error}".encode())


def told(process, receive):
    os.waitpid(process, 0)
    frames, _, text = os.read(receive, 4096).decode().partition(" ")
    os.close(receive)
    return int(frames or 0), text


def test_a_full_disk_is_named_and_leaves_the_frames_readable(tmp_path):
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "none", tmp_path]).returncode:
        pytest.skip("only root can mount a small file system here")
    try:
        frames, text = told(*child(fill_disk, str(tmp_path / "run")))
        assert frames > 3
        assert f"run.h5: the frame at time {frames} cannot be written: No space left on device" in text
        assert f"the frames up to time {frames - 1} are intact" in text
        with open(str(tmp_path / "run")) as reader:
            assert frames_are_whole(reader) == frames
    finally:
        subprocess.run(["umount", tmp_path], check=True)


def limited(path, pipe):
    resource.setrlimit(resource.RLIMIT_FSIZE, (3 << 20, 3 << 20))
    fill_disk(path, pipe)


def test_a_limit_on_the_size_of_files_leaves_the_frames_readable_and_the_run_to_be_continued(tmp_path):
    path = str(tmp_path / "run")
    frames, text = told(*child(limited, path))
    assert frames > 3 and os.strerror(errno.EFBIG) in text
    with ResultsWriter.append(path) as writer:
        assert writer.frames == frames
        writer.write_frame(numbered(StandIn(count=300, contacts=300), frames))
    with open(path) as reader:
        assert frames_are_whole(reader) == frames + 1


def test_a_disk_full_at_the_first_frame_leaves_old_results_alone(tmp_path):
    path = str(tmp_path / "run")
    with ResultsWriter.create(path, "old") as writer:
        writer.write_frame(numbered(StandIn(), 0))

    def fail(pipe):
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        fill_disk(path, pipe)

    frames, text = told(*child(fail))
    assert frames == 0 and "the frame at time 0 cannot be written" in text
    with open(path) as reader:
        assert frames_are_whole(reader) == 1 and reader.input_text == "old"


def test_bytes_written_over_each_other_are_read_back_before_and_after_a_commit(tmp_path):
    random_ = np.random.default_rng(3)
    path = str(tmp_path / "file")
    image = bytearray()
    for _ in range(8):
        file = journal.JournalledFile(path)
        for _ in range(60):
            offset, size = int(random_.integers(0, 40000)), int(random_.integers(1, 9000))
            data = random_.bytes(size)
            image.extend(bytes(max(0, offset + size - len(image))))
            image[offset : offset + size] = data
            file.seek(offset)
            file.write(bytearray(data))
            file.seek(0)
            assert file.read(len(image)) == image
            if random_.random() < 0.2:
                file.commit()
                assert (tmp_path / "file").read_bytes() == image
        file.commit()
        file.close()



def test_a_file_that_cannot_be_opened_leaves_no_journal_that_looks_like_a_killed_run(tmp_path):
    (tmp_path / "run.h5").mkdir()
    with pytest.raises(IsADirectoryError):
        journal.JournalledFile(str(tmp_path / "run.h5"))
    assert os.listdir(tmp_path) == ["run.h5"]
