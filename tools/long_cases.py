"""Which tests the slow tier takes because of their time: writes tests/long_cases.txt.

    python -m pytest -m "slow or not slow" --junitxml=times.xml
    python tools/long_cases.py times.xml [seconds [together]]

Cases that took longer than `seconds` (default 1) are listed, and so are the longest ones of a test function whose
cases took longer than `together` (default 3): at least one stays.  Those that `KEPT` names are not listed: the default
tests keep one of each promise (equal bits after a restart, after a kill, on several processes), whatever it takes.
Cases that the list had and the report lacks stay, so a report of the default tests makes the list longer only.
"""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tests/long_cases.txt"
HEADING = "# Cases that the slow tier takes because of their time, from tools/long_cases.py.\n"

# Parts of names of cases that stay among the default tests.
KEPT = (
    "test_three_basic_objects_take", "test_ball_impact_matches", "one_run[births_and_deaths]", "one_run[mechanisms]", "one_run[fragmentation]", "test_two_processes_write_what_one_writes",
    "test_an_error_of_one_process_ends_all", "test_a_run_killed_in_the_step_of_a_split", "test_a_run_killed_five_times", "that_goes_on[12000]",
    "test_spoilt_calls_raise_documented_errors", "test_results_have_the_same_bits_for_one_and_two_threads",
    "test_a_continued_run_has_the_explicit_bits_of_one_run[stops0]", "test_first_lines_stand_alone", "test_no_other_module_lists",
    "test_constraints_have_the_bits_of_the_whole[wall-3]", "test_deformable_bodies_have_the_bits_of_the_whole[cubes-3]",
    "test_contacts_have_the_same_bits_for_any_number_of_threads", "test_no_sequence_of_changes_leaves_anything_behind",
    "test_a_step_executes_as_many_lines", "test_random_commands_do_no_harm", "test_auto_peels_as_newton_does", "test_read_mode_shows_the_bits",
    "test_random_splits_keep_mass", "test_the_model_of_the_readme", "test_the_command_prints_plans", "test_input_in_the_documents", "test_with_little_friction_all_solvers",
    "tests/test_prose.py", "tests/test_architecture.py", "tests/test_arguments.py", "tests/test_void_handles.py", "tests/test_command_table.py",  # rules for each file or command
    "test_scene_agrees_with_theory", "test_laws_hold_in_every_step",  # the laws, for every solver
    "test_without_friction_all_solvers", "test_any_contact_problem_ends", "test_file_gives_elements_faces_and_groups[a.vtk]",
)  # fmt: skip


def cases(report: Path, limit: float, together: float, listed: set[str]) -> list[str]:
    """Return names of the cases of a report in JUnit's format that take too long, alone or together with others of their function, and of those listed that it lacks."""
    times = {}
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        times[f"{case.get('classname').replace('.', '/')}.py::{case.get('name')}"] = float(case.get("time"))
    long = {name for name, seconds in times.items() if seconds > limit and not any(part in name for part in KEPT)}
    spent: dict[str, float] = {}
    for name in sorted(times.keys() - long, key=lambda name: (times[name], name)):
        function = name.partition("[")[0]
        if spent.get(function, 0.0) + times[name] > together and function in spent and not any(part in name for part in KEPT):
            long.add(name)
        else:
            spent[function] = spent.get(function, 0.0) + times[name]
    return sorted(long | (listed - set(times)))


if __name__ == "__main__":
    listed = {line for line in LIST.read_text().splitlines() if not line.startswith("#")}
    limit, together = (float(word) for word in (sys.argv[2:] + ["1", "3"][len(sys.argv) - 2 :]))
    LIST.write_text(HEADING + "\n".join(cases(Path(sys.argv[1]), limit, together, listed)) + "\n")
