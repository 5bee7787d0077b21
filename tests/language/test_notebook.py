"""Runs in a notebook's kernel."""

from __future__ import annotations

import pytest

nbformat = pytest.importorskip("nbformat", reason="notebooks are run by it: pip install nbclient ipykernel")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run by it: pip install nbclient ipykernel")
pytest.importorskip("ipykernel", reason="notebooks are run by it: pip install nbclient ipykernel")

CELLS = [
    "from solfec import *\nimport solfec.cli, time\nsolfec = SOLFEC('DYNAMIC', 1E-3)\nBODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))\nGRAVITY(solfec, (0, 0, -10))",
    "def wait():\n    time.sleep(0.3)\n    return 1\nCALLBACK(solfec, 0.01, (), wait)",
    "RUN(solfec, 0.1)",
    "solfec.time",
]  # fmt: skip


def test_a_cell_that_runs_has_one_bar_which_is_full_at_the_end(tmp_path):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    updates = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if message["msg_type"] in ("display_data", "update_display_data"):
                updates.append(message["msg_type"])
            return super().process_message(message, cell, index)

    Client(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for output in book.cells[2].outputs if output.output_type == "display_data"]
    printed = "".join(output.text for output in book.cells[2].outputs if output.output_type == "stream")
    assert len(shown) == 1 and updates.count("display_data") == 1 and updates.count("update_display_data") > 1
    assert '<progress max="1" value="1.0000"' in shown[0].data["text/html"] and "took" in shown[0].data["text/plain"]
    assert "steps/s" not in printed and "1 body (1 rigid)" in printed
    assert float(book.cells[3].outputs[0].data["text/plain"]) == pytest.approx(0.1)
