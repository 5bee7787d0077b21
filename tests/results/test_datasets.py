"""Datasets of results that stay open: the rows that slices give, and none of a state that a writer has changed since."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

import solfec
from solfec import results
from solfec.results.datasets import Datasets

RECORD = np.dtype([("id", "i8"), ("place", "f8", (3,)), ("kind", "i4")])


@pytest.mark.parametrize("first, count", [(0, 0), (0, 7), (3, 2), (5, 9), (7, 1), (99, 3), (0, 10**12)])
def test_rows_are_those_of_slices(tmp_path, first, count):
    records = np.zeros(7, RECORD)
    records["id"], records["place"], records["kind"] = np.arange(7), np.random.default_rng(1).normal(size=(7, 3)), 9
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("records", data=records, chunks=(2,), compression="gzip")
        file["vectors"] = records["place"]
        file.create_dataset("nothing", shape=(0, 3), maxshape=(None, 3), dtype="f8")
    with h5py.File(tmp_path / "f.h5") as file:
        made = Datasets(file)
        for name in ("records", "vectors", "nothing", "records"):
            wanted, found = file[name][first : first + count], made.rows(name, first, count)
            assert found.dtype == wanted.dtype and np.array_equal(found, wanted)
        assert made.whole("vectors") is made.whole("vectors") and not made.whole("vectors").flags.writeable


def test_a_reader_sees_what_another_run_has_written_since(tmp_path):
    """The reader keeps datasets of the file, until the file is another one."""

    def written(count):
        model = solfec.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"))
        model.verbose = "OFF"
        bulk = solfec.BULK_MATERIAL(model)
        for k in range(count):
            solfec.BODY(model, "RIGID", solfec.SPHERE((3 * k, 0, 0), 1, 1, 1), bulk)
        solfec.RUN(model, solfec.PENALTY_SOLVER(), 3e-3)
        model._simulation.close()

    written(2)
    with results.open(tmp_path / "out") as reader:
        assert len(reader.frame(-1).bodies) == len(reader.definitions()) == 2
        written(5)
        reader.refresh()
        assert len(reader.frame(-1).bodies) == len(reader.definitions()) == 5
