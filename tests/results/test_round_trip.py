"""What is written comes back, bit by bit."""

import json

import h5py
import numpy as np
import pytest
from numpy.lib import recfunctions
from standin import StandIn, write_frames

from solfec.errors import SolfecError
from solfec.results import ResultsReader, ResultsWriter, layout


def assert_equal_state(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert np.array_equal(value, other[name]), name


def write(path, frames, domain=None, **options):
    """A run of made-up frames with a birth, a death and a change of inertia; returns the states by frame."""
    domain = domain or StandIn()
    states = []
    with ResultsWriter.create(str(path), "input text\n", ["a", "b"]) as writer:
        for name, value in options.items():
            setattr(writer, name, value)
        for k in range(frames):
            writer.write_frame(domain)
            states.append(domain.state())
            go_on(domain, k)
    return states


def go_on(domain, k):
    """Advance the model after frame k."""
    if k == 2:
        domain.insert("late")
    if k == 3:
        domain.delete(2)
    if k == 4:
        domain.bodies.mass[0] = 77.0
    domain.advance()


@pytest.mark.parametrize("compression", [False, True])
def test_every_frame_comes_back_bit_by_bit_into_another_domain(tmp_path, compression):
    states = write(tmp_path / "run", 8, compression=compression)
    domain = StandIn(seed=1)
    with ResultsReader(tmp_path / "run") as reader:
        for k in (7, 0, 3, 4, 5, 2, 6, 1):
            reader.load(domain, k)
            assert_equal_state(states[k], domain.state())


def test_the_order_of_domains_bodies_and_their_materials_come_back_without_the_input(tmp_path):
    states = write(tmp_path / "run", 5)
    domain = StandIn(count=0)
    domain.bulk_materials[0].label = "another"
    with ResultsReader(tmp_path / "run") as reader:
        reader.load(domain, 4)
        assert reader.labels == {1: "b1", 3: "b3", 5: "b5", 6: "late"}
        assert reader.materials["bulk"][0]["label"] == "stone"
        assert (reader.input_text, reader.arguments) == ("input text\n", ["a", "b"])
    assert np.array_equal(states[4]["bodies.id"], domain.bodies.view("id"))


def test_a_continued_file_equals_one_written_in_one_go(tmp_path):
    write(tmp_path / "whole", 6)
    domain = StandIn()
    writer = ResultsWriter.create(str(tmp_path / "parts"), "input text\n", ["a", "b"])
    for k in range(6):
        writer.write_frame(domain)
        writer.close()
        writer = ResultsWriter.append(str(tmp_path / "parts"))
        go_on(domain, k)
    writer.close()
    with h5py.File(tmp_path / "whole/whole.h5") as one, h5py.File(tmp_path / "parts/parts.h5") as other:
        for name in layout.DATASETS:
            assert one[name][...].tobytes() == other[name][...].tobytes(), name


def test_frames_with_the_same_bodies_share_one_list(tmp_path):
    domain = write_frames(tmp_path / "run", 10)
    with ResultsReader(tmp_path / "run") as reader:
        assert len(reader.table("frames/body_lists")) == domain.bodies.n
        assert len(reader.table("model/bodies")) == domain.bodies.n


def test_a_model_of_ten_thousand_labelled_bodies_is_stored(tmp_path):
    domain = StandIn(count=0)
    for _ in range(10000):
        domain.insert("a rather long label " + str(domain.next_body_id))
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(domain)
    with ResultsReader(tmp_path / "run") as reader:
        assert reader.labels[10000] == "a rather long label 10000"


def test_datasets_say_what_they_hold(tmp_path):
    write(tmp_path / "run", 1)
    with h5py.File(tmp_path / "run/run.h5") as file:
        for name, (dtype, *_) in layout.DATASETS.items():
            assert file[name].attrs["description"], name
            assert file[name].dtype == dtype.base, name
        assert b"[L] gap" in file["frames/constraints"].attrs["field gap"]
        assert file.attrs["format_version"] == layout.VERSION
        first, length = file["model/settings"][-1]
        settings = json.loads(bytes(file["model/texts"][first : first + length]))
        assert settings["surface materials"]["2147483647,2147483647"]["label"] == "DEFAULT"


def test_old_results_and_input_copy_stay_until_the_first_new_frame(tmp_path):
    write(tmp_path / "run", 3)
    writer = ResultsWriter.create(str(tmp_path / "run"), "new text\n")
    assert (tmp_path / "run/run.py").read_text() == "input text\n"
    with ResultsReader(tmp_path / "run") as reader:
        assert len(reader.times) == 3
        writer.write_frame(StandIn())
        assert reader.refresh() == 1
        assert reader.input_text == "new text\n"
    writer.close()
    assert (tmp_path / "run/run.py").read_text() == "new text\n"
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["run.h5", "run.py"]


def test_a_body_of_another_kind_is_refused_by_name(tmp_path):
    write(tmp_path / "run", 1)
    domain = StandIn()
    domain.bodies.kind[0] = 0
    with ResultsReader(tmp_path / "run") as reader, pytest.raises(SolfecError, match="body 1 is RIGID .* but OBSTACLE"):
        reader.load(domain, 0)


def test_seek_takes_the_nearest_frame_and_the_earlier_of_two(tmp_path):
    write(tmp_path / "run", 4)
    with ResultsReader(tmp_path / "run") as reader:
        reader.steps["time"] = [0.0, 1.0, 2.0, 4.0]
        assert [reader.nearest(t) for t in (-1.0, 0.5, 0.51, 1.5, 3.0, 3.1, 99.0)] == [0, 0, 1, 1, 2, 3, 3]


def test_a_second_writer_of_the_same_results_is_refused(tmp_path):
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(StandIn())
        with pytest.raises(SolfecError, match="another run is writing"):
            ResultsWriter.append(str(tmp_path / "run"))
        with pytest.raises(SolfecError, match="another run is writing"):
            ResultsWriter.create(str(tmp_path / "run"))


@pytest.mark.parametrize("version, advice", [(layout.VERSION + 1, "use a newer one"), (layout.OLDEST - 1, "compute again")])
def test_a_newer_or_too_old_format_is_refused_with_all_versions(tmp_path, version, advice):
    write(tmp_path / "run", 1)
    with h5py.File(tmp_path / "run/run.h5", "r+") as file:
        file.attrs["format_version"] = version
    said = f"run.h5: written in format version {version} by solfec 0.1.0[^;]*; this program reads .* {advice}"
    with pytest.raises(SolfecError, match=said):
        ResultsReader(tmp_path / "run")
    with pytest.raises(SolfecError, match=said):
        ResultsWriter.append(str(tmp_path / "run"))


def test_results_from_before_a_field_was_added_are_read(tmp_path):
    states = write(tmp_path / "run", 2)
    with h5py.File(tmp_path / "run/run.h5", "r+") as file:
        for table, lost in (("model/bodies", "damping"), ("frames/steps", "sparsified"), ("frames/constraints", "area")):
            records = file[table][...]
            del file[table]
            file[table] = recfunctions.repack_fields(records[[name for name in records.dtype.names if name != lost]])
    domain = StandIn(seed=1)
    damping = domain.bodies.view("damping").copy()
    with ResultsReader(tmp_path / "run") as reader:
        reader.load(domain, 1)
    state = domain.state()
    assert np.array_equal(state.pop("bodies.damping"), damping)
    assert domain.sparsified == 0 and not state.pop("constraints.area").any()
    assert_equal_state({name: states[1][name] for name in state}, state)


def test_damaged_foreign_and_missing_files_are_named(tmp_path):
    write(tmp_path / "run", 3)
    file = tmp_path / "run/run.h5"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SolfecError, match=r"run\.h5: cannot be read: .*truncated"):
        ResultsReader(tmp_path / "run")
    file.write_bytes(b"not HDF5 at all" * 100)
    with pytest.raises(SolfecError, match=r"run\.h5: cannot be read: .*signature"):
        ResultsReader(tmp_path / "run")
    h5py.File(file, "w").close()
    with pytest.raises(SolfecError, match=r"run\.h5: not a results file"):
        ResultsReader(tmp_path / "run")
    with pytest.raises(SolfecError, match="no such results file"):
        ResultsReader(tmp_path / "elsewhere")


def test_directories_that_cannot_hold_results_are_refused_before_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SolfecError, match="file is not a directory"):
        ResultsWriter.create(str(tmp_path / "file" / "run"))


@pytest.mark.parametrize("how", ["cut", "zeros", "bits"])
def test_a_file_damaged_anywhere_is_read_or_named_and_never_hangs(tmp_path, how):
    write(tmp_path / "run", 3)
    whole, random = (tmp_path / "run/run.h5").read_bytes(), np.random.default_rng(5)
    (tmp_path / "bad").mkdir()
    named = 0
    for _ in range(20):
        data = bytearray(whole)
        place = int(random.integers(4096) if random.random() < 0.6 else random.integers(len(data)))
        if how == "cut":
            data = data[:place]
        elif how == "zeros":
            data[place : place + 64] = bytes(len(data[place : place + 64]))
        else:
            data[place] ^= 1 << int(random.integers(8))
        (tmp_path / "bad/bad.h5").write_bytes(data)
        try:
            use(tmp_path / "bad")
        except SolfecError as error:
            assert "bad.h5" in str(error)
            named += 1
    assert named >= {"cut": 20, "zeros": 3, "bits": 0}[how]


def use(path):
    """Read everything that users can read from results."""
    with ResultsReader(path) as reader:
        for number in range(len(reader.times)):
            reader.frame(number)
            reader.settings(number)
        reader.bodies(), reader.constraints(), reader.frames(), reader.labels, reader.input_text, reader.arguments, reader.materials
        reader.history([(1, (0, 0, 0), "CX"), (None, "KINETIC"), (2, "R"), "STEP"])
        reader.load(StandIn(), len(reader.times) - 1)


def test_files_name_every_kind(tmp_path):
    write(tmp_path / "run", 1)
    named = {
        ("model/bodies", "kind"): ["0 OBSTACLE", "1 RIGID", "2 PSEUDO_RIGID", "3 FINITE_ELEMENT"],
        ("model/bodies", "form"): ["1 TL", "2 BC,", "3 BC-MODAL", "4 BC-RO"],
        ("model/bodies", "scheme"): ["0 RIG_POS", "1 RIG_NEG", "2 RIG_IMP", "3 DEF_EXP", "4 DEF_LIM"],
        ("model/primitives", "kind"): ["0 CONVEX", "1 ELEMENT", "2 SPHERE", "3 ELLIPSOID"],
        ("frames/constraints", "kind"): ["0 CONTACT", "1 FIXPNT", "2 FIXDIR", "3 VELODIR,", "4 VELODIR3", "5 RIGLNK", "6 SPRING"],
    }
    with h5py.File(tmp_path / "run/run.h5") as file:
        for (dataset, field), kinds in named.items():
            text = file[dataset].attrs["field " + field].decode()
            assert [kind for kind in kinds if kind not in text] == [], (dataset, text)
