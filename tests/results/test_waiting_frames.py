"""Frames that wait in the journal are results like others: everybody reads them, at any moment, and they end up in the file."""

import errno
import os
import random
import resource
import shutil
import struct

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standin import StandIn
from test_crashes import child, contents, frames_are_whole, numbered, told

from solfec.errors import SolfecError
from solfec.results import ResultsReader, ResultsWriter, frame_file, info, journal, layout, writer


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Frames wait, however long the test takes."""
    monkeypatch.setattr(frame_file, "LONGEST_WAIT", np.inf)


def begin(path, frames, number=lambda k: k, domain=None):
    """Write frames, all of which but the first wait, into the directory `path`."""
    out = ResultsWriter.create(str(path), "text")
    domain = domain or StandIn(count=3)
    for k in range(frames):
        out.write_frame(numbered(domain, number(k)))
    return out


def killed(path, copy, frames=6, **how):
    """Make the directory that a run leaves which is killed after some frames."""
    with begin(path, frames, **how):
        shutil.copytree(path, copy)
    return copy / f"{path.name}.h5", copy / f"{path.name}.h5.journal"


def stored_frames(file):
    """Number of frames that programs other than Solfec see."""
    with h5py.File(file, "r", locking=False) as opened:
        return len(opened["frames/steps"])


def whole_frames(file):
    with ResultsReader(file) as reader:
        return frames_are_whole(reader)


def test_frames_that_wait_are_read_at_once(tmp_path):
    with begin(tmp_path / "run", 1) as out, ResultsReader(tmp_path / "run") as reader:
        for k in range(1, 6):
            out.write_frame(numbered(StandIn(count=3), k))
            assert frames_are_whole(reader) == k + 1 == len(reader.history((None, "KINETIC"))[0])
            assert stored_frames(out.file) == 1
        assert sorted(os.listdir(tmp_path / "run")) == ["run.h5", "run.h5.journal", "run.py"]
    assert stored_frames(out.file) == 6
    assert sorted(os.listdir(tmp_path / "run")) == ["run.h5", "run.py"]


def test_a_reader_keeps_its_frames_between_two_looks(tmp_path):
    with begin(tmp_path / "run", 3) as out, ResultsReader(tmp_path / "run") as reader:
        for k in range(3, 30):
            out.write_frame(numbered(StandIn(count=3), k))
            assert (reader.frame(2).velocities == 2).all() and len(reader.steps) == 3
        out.rest()
        assert (reader.frame(2).velocities == 2).all()
        assert frames_are_whole(reader) == 30


@pytest.mark.parametrize("compression", [False, True])
def test_the_file_has_the_same_contents_whether_frames_waited_or_not(tmp_path, monkeypatch, compression):
    for name, limit in (("direct", -1), ("waiting", 1 << 30), ("some", 30000)):
        monkeypatch.setattr(frame_file, "MOST_WAITING", limit)
        out, domain = ResultsWriter.create(str(tmp_path / name), "text"), StandIn(count=3)
        out.compression = compression
        for k in range(40):
            if k in (7, 20, 21):
                domain.insert("late")
            out.write_frame(numbered(domain, k))
        out.close()
    with h5py.File(tmp_path / "direct/direct.h5") as one:
        for name in ("waiting", "some"):
            with h5py.File(tmp_path / f"{name}/{name}.h5") as other:
                assert set(one["frames"]) == set(other["frames"]) and set(one["model"]) == set(other["model"])
                for table in layout.DATASETS:
                    assert one[table][...].tobytes() == other[table][...].tobytes(), table
                    assert one[table].chunks == other[table].chunks and dict(one[table].attrs) == dict(other[table].attrs)
                assert len(other["frames/steps"]) == 40
    sizes = [os.path.getsize(tmp_path / name / f"{name}.h5") for name in ("direct", "waiting", "some")]
    assert max(sizes[1:]) <= (1.05 if compression else 1.0) * sizes[0]


def test_large_frames_do_not_wait(tmp_path):
    domain = StandIn(count=2000, contacts=3000)
    with begin(tmp_path / "run", 3, domain=domain) as out:
        assert stored_frames(out.file) == 3
        assert os.path.getsize(out.file + ".journal") == journal.HEADER.size


def test_frames_do_not_wait_for_long(tmp_path, monkeypatch):
    with begin(tmp_path / "run", 3) as out:
        assert stored_frames(out.file) == 1
        monkeypatch.setattr(frame_file, "LONGEST_WAIT", -1.0)
        out.write_frame(numbered(StandIn(count=3), 3))
        assert stored_frames(out.file) == 4


# --- killed runs -------------------------------------------------------------------------------------------


def test_a_killed_run_is_read_without_a_change_and_continued(tmp_path):
    file, left = killed(tmp_path / "run", tmp_path / "copy")
    before = contents(tmp_path / "copy")
    assert whole_frames(file) == 6 and stored_frames(file) == 1
    facts = info.describe(str(file))
    assert facts["frames"] == 6 and facts["unfinished"]
    assert contents(tmp_path / "copy") == before
    shutil.move(tmp_path / "copy", tmp_path / "kept")
    os.rename(tmp_path / "kept", tmp_path / "run2")
    for name in ("run.h5", "run.h5.journal", "run.py"):
        os.rename(tmp_path / "run2" / name, tmp_path / "run2" / name.replace("run", "run2"))
    with ResultsWriter.append(str(tmp_path / "run2")) as out:
        assert out.frames == stored_frames(out.file) == 6
        out.write_frame(numbered(StandIn(count=3), 6))
    assert whole_frames(out.file) == 7
    assert sorted(os.listdir(tmp_path / "run2")) == ["run2.h5", "run2.py"]
    assert not left.exists()


def test_frames_that_wait_are_lost_without_the_journal_and_only_those(tmp_path):
    file, left = killed(tmp_path / "run", tmp_path / "copy")
    left.unlink()
    assert whole_frames(file) == 1


def test_a_journal_beside_the_results_of_another_run_does_not_count(tmp_path):
    """Both runs have one frame in the file, which have equal sizes and times."""
    file, left = killed(tmp_path / "one/run", tmp_path / "first")
    other, domain = tmp_path / "second/run.h5", StandIn(count=3)
    domain.bodies.view("mass")[1] *= 2.0
    killed(tmp_path / "two/run", tmp_path / "second", domain=domain)
    assert other.stat().st_size == file.stat().st_size
    shutil.copy(other, file)
    assert whole_frames(file) == 1
    with ResultsReader(file) as reader:
        assert 2 * 2.0 in reader.definitions()["mass"]


def test_an_old_journal_beside_new_results_of_the_same_run_does_not_count(tmp_path):
    file, left = killed(tmp_path / "run", tmp_path / "copy")
    shutil.copy(tmp_path / "run/run.h5", file)  # the run had six frames in the end
    assert whole_frames(file) == 6
    old = left.read_bytes()
    with begin(tmp_path / "new/run", 3) as out:
        out.rest()
        left = out.file + ".journal"
        assert not os.path.exists(left)
    with open(left, "wb") as planted:
        planted.write(old)
    assert whole_frames(out.file) == 3


@pytest.mark.parametrize("count", [3, 3000])
def test_files_that_were_copied_at_different_moments_hold_the_frames_of_the_copied_results(tmp_path, monkeypatch, count):
    """The bytes that the older file has are also in the newer one, at least at its end."""
    monkeypatch.setattr(frame_file, "LARGEST_RECORD", 1 << 30)
    monkeypatch.setattr(frame_file, "MOST_WAITING", 1 << 30)
    domain, early, late = StandIn(count=count), tmp_path / "early", tmp_path / "late"
    with begin(tmp_path / "run", 4, domain=domain) as out:
        shutil.copytree(tmp_path / "run", early)
        monkeypatch.setattr(frame_file, "MOST_WAITING", 0)
        out.write_frame(numbered(domain, 4))
        monkeypatch.setattr(frame_file, "MOST_WAITING", 1 << 30)
        out.write_frame(numbered(domain, 5))
        shutil.copytree(tmp_path / "run", late)
    assert whole_frames(str(early / "run.h5")) == 4 and whole_frames(str(late / "run.h5")) == 6
    (early / "run.h5.journal").rename(early / "swap")
    (late / "run.h5.journal").rename(early / "run.h5.journal")
    (early / "swap").rename(late / "run.h5.journal")
    assert whole_frames(str(early / "run.h5")) == 1 and whole_frames(str(late / "run.h5")) == 5


def test_new_results_take_the_place_of_those_of_a_killed_run(tmp_path):
    killed(tmp_path / "run", tmp_path / "copy/run")
    with begin(tmp_path / "copy/run", 2, number=lambda k: k) as out:
        assert whole_frames(out.file) == 2
    assert whole_frames(out.file) == 2 and sorted(os.listdir(tmp_path / "copy/run")) == ["run.h5", "run.py"]


def test_old_results_of_a_killed_run_are_kept_with_all_frames(tmp_path):
    killed(tmp_path / "run", tmp_path / "copy/run")
    out = ResultsWriter.create(str(tmp_path / "copy/run"), "text", keep_old=True)
    assert stored_frames(out.file) == 6
    out.write_frame(numbered(StandIn(count=3), 0))
    out.close()
    assert whole_frames(str(tmp_path / "copy/run.old")) == 6 and whole_frames(out.file) == 1


# --- damaged journals --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory):
    """Results of a killed run with seven frames, six of which wait; and the ends of their records in the journal."""
    directory = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_file, "LONGEST_WAIT", np.inf)
        file, left = killed(directory / "run", directory / "copy", 7)
    data, ends, place = left.read_bytes(), [], journal.HEADER.size
    while place < len(data):
        place += journal.RECORD.size + journal.RECORD.unpack_from(data, place)[2]
        ends.append(place)
    assert len(ends) == 6
    return file, data, ends


def frames_under(file, data, directory):
    """Number of frames, all of them whole, that results with such a journal hold, for a reader and for a writer that continues."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    shutil.copy(file, directory / f"{directory.name}.h5")
    (directory / f"{directory.name}.h5.journal").write_bytes(data)
    count = whole_frames(str(directory))
    with ResultsWriter.append(str(directory)) as out:
        assert out.frames == count
    assert whole_frames(str(directory)) == count
    return count


def test_a_record_that_is_cut_short_ends_the_frames(left_behind, tmp_path):
    file, data, ends = left_behind
    for size in sorted({0, 1, journal.HEADER.size, *random.sample(range(len(data)), 8), *ends, *(end - 1 for end in ends), *(end + 1 for end in ends[:-1])}):
        assert frames_under(file, data[:size], tmp_path / "run") == 1 + sum(end <= size for end in ends), size


@given(st.data())
@settings(max_examples=15, deadline=None)
def test_a_damaged_byte_ends_the_frames_before_its_record(left_behind, tmp_path_factory, data):
    file, whole, ends = left_behind
    place = data.draw(st.integers(journal.HEADER.size, len(whole) - 1))
    damaged = bytearray(whole)
    damaged[place] ^= data.draw(st.integers(1, 255))
    directory = tmp_path_factory.mktemp("damaged") / "run"
    assert frames_under(file, damaged, directory) == 1 + sum(end <= place for end in ends)


@given(st.binary(max_size=200))
@settings(max_examples=15, deadline=None)
def test_whatever_stands_behind_the_last_record_does_not_count(left_behind, tmp_path_factory, garbage):
    file, whole, _ = left_behind
    assert frames_under(file, whole + garbage, tmp_path_factory.mktemp("garbage") / "run") == 7


@pytest.mark.parametrize("how", ["gone", "link", "soft link", "external", "virtual", "fixed", "group", "short", "garbage"])
def test_records_that_were_made_to_do_harm_are_an_error_that_names_the_file(tmp_path, how):
    """Checksums agree; the records write to a dataset that is elsewhere, or are no records."""
    file, left = killed(tmp_path / "run", tmp_path / "copy")
    other = tmp_path / "other.h5"
    with h5py.File(other, "w") as opened:
        opened.create_dataset("x", (1000,), layout.BODY, maxshape=(None,))
    with h5py.File(file, "r+") as opened:
        rows = opened["frames/bodies"][...]
        if how not in ("short", "garbage"):
            del opened["frames/bodies"]
        if how == "link":
            opened["frames/bodies"] = h5py.ExternalLink(str(other), "/x")
        elif how == "soft link":
            opened["frames/bodies"] = h5py.SoftLink("/frames/body_lists")
        elif how == "external":
            opened["frames"].create_dataset("bodies", (3,), layout.BODY, maxshape=(None,), external=[(str(other), 0, h5py.h5f.UNLIMITED)])
        elif how == "virtual":
            sources = h5py.VirtualLayout((3,), layout.BODY, maxshape=(None,))
            sources[:] = h5py.VirtualSource(str(other), "x", (3,))
            opened["frames"].create_virtual_dataset("bodies", sources)
        elif how == "fixed":
            opened["frames/bodies"] = rows
        elif how == "group":
            opened["frames"].create_group("bodies")
    before = other.read_bytes()
    with open(file, "rb") as opened:
        size = file.stat().st_size
        seed = journal.mark(opened.fileno(), size)
    data, place, records = left.read_bytes(), journal.HEADER.size, []
    while place < len(data):
        applied, _, length, _ = journal.RECORD.unpack_from(data, place)
        place += journal.RECORD.size + length
        record = data[place - length : place]
        record = {"short": record[:-5], "garbage": b"\xff" * 7}.get(how, record)
        records.append(journal.sealed(record, applied, size, seed))
    left.write_bytes(data[: journal.HEADER.size] + b"".join(records))
    os.rename(file.parent, tmp_path / "victim")
    for name in ("run.h5", "run.h5.journal"):
        os.rename(tmp_path / "victim" / name, tmp_path / "victim" / name.replace("run", "victim"))
    for action in (ResultsReader, ResultsWriter.append, lambda path: frame_file.FrameFile(path + "/victim.h5")):
        with pytest.raises((SolfecError, ValueError), match=r"victim\.h5: cannot be read|^/frames/bodies is|^a record"):
            action(str(tmp_path / "victim"))
    assert other.read_bytes() == before


# --- errors ------------------------------------------------------------------------------------------------


def fill(path, room, pipe):
    """Write small frames into files of limited size; report the number of frames, and the error."""
    out, domain = begin(path, 1), StandIn(count=3)
    limit = os.path.getsize(out.file) + room
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        for k in range(1, 40):
            out.write_frame(numbered(domain, k))
        out.rest()
    except SolfecError as error:
        os.write(pipe, f"{out.frames} {error}".encode())


@pytest.mark.parametrize("room, said", [(1000, "the results cannot be completed"), (-80000, "the frame at time")])
def test_a_disk_that_is_full_when_frames_leave_the_journal_loses_none(tmp_path, room, said):
    frames, text = told(*child(fill, tmp_path / "run", room))
    assert frames > 10 and said in text and os.strerror(errno.EFBIG) in text
    assert f"the frames up to time {frames - 1} are intact" in text
    assert whole_frames(str(tmp_path / "run")) == frames > stored_frames(tmp_path / "run/run.h5")
    with ResultsWriter.append(str(tmp_path / "run")) as out:  # there is room again
        assert out.frames == frames
        out.write_frame(numbered(StandIn(count=3), frames))
    assert whole_frames(str(tmp_path / "run")) == frames + 1
    assert sorted(os.listdir(tmp_path / "run")) == ["run.h5", "run.py"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_exception_in_the_midst_of_a_frame_leaves_the_frames_before_it_in_the_file(tmp_path, monkeypatch, error):
    out = begin(tmp_path / "run", 5)

    def fail(*arguments):
        raise error

    monkeypatch.setattr(writer, "describe_step", fail)
    with pytest.raises(error):
        out.write_frame(numbered(StandIn(count=3), 5))
    out.close()
    assert sorted(os.listdir(tmp_path / "run")) == ["run.h5", "run.py"]
    assert stored_frames(out.file) == whole_frames(out.file) == 5


def test_results_that_others_have_removed_leave_no_journal(tmp_path):
    out = begin(tmp_path / "run", 5)
    os.unlink(out.file)
    with pytest.raises(SolfecError, match="removed or replaced"):
        out.write_frame(numbered(StandIn(count=3), 5))
    assert os.listdir(tmp_path / "run") == ["run.py"]


def test_a_journal_of_an_older_form_does_not_hide_results(tmp_path):
    with begin(tmp_path / "run", 3) as out:
        pass
    with open(out.file + ".journal", "wb") as left:
        left.write(struct.pack("<8sQQQQI", b"SOLFJRN2", 7, 7, 100, 0, 0))
    assert whole_frames(out.file) == 3
    with ResultsWriter.append(str(tmp_path / "run")) as again:
        again.write_frame(numbered(StandIn(count=3), 3))
        again.write_frame(numbered(StandIn(count=3), 4))
        assert whole_frames(out.file) == 5
