"""The picture of a run's histories."""

import subprocess
import sys

from standin import write_frames


def test_the_module_draws_a_picture_beside_the_results_and_prints_its_path(tmp_path):
    write_frames(tmp_path / "run", 12)
    command = [sys.executable, "-m", "solfec.results.plot", str(tmp_path / "run")]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    picture = tmp_path / "run" / "histories.png"
    assert answer.stdout.strip() == str(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_directory_without_results_gets_a_message_and_status_1(tmp_path):
    command = [sys.executable, "-m", "solfec.results.plot", str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True)
    assert answer.returncode == 1 and "no such results file" in answer.stderr
