"""Wrong inputs of the explicit engine end with file, line and command, and leave nothing behind."""

import pytest

from solfec import parmec_command
from solfec.parmec import model

BEGIN = """series = TSERIES ([0, 0, 1, 1])
ANALYTICAL (mass = 2)
ANALYTICAL (mass = 2, position = (1, 0, 0)); MATERIAL (1000, 1, .3)
SPRING (0, (0, 0, 0), -1, (0, 0, 1), [-1, -10, 1, 10])
"""
ENDS = "0, (0, 0, 0), 1, (1, 0, 0)"
WRONG = [
    # unknown numbers
    ("VELOCITY (7, (0, 0, 1))", "ValueError: VELOCITY: 'parnum' must be the number of a particle, not 7; numbers 0 to 1 exist"),
    ("SPHERE ((0, 0, 0), 1, 3, 1)", "ValueError: SPHERE: 'material' must be the number of a MATERIAL, not 3"),
    ("SPRING (0, (0, 0, 0), 5, (0, 0, 0), [0, 0, 1, 1])", "ValueError: SPRING: 'part2' must be"),
    ("TORSION_SPRING (0, 2, (0, 0, 1), (1, 0, 0))", "ValueError: TORSION_SPRING: 'part2' must be"),
    ("BALL_JOINT (2, (0, 0, 0))", "ValueError: BALL_JOINT: 'part1' must be the number of a particle, not 2"),
    ("GRAVITY (0., 0., 4)", "ValueError: GRAVITY: 'gz': the int 4 means TSERIES number 4, which does not exist"),
    ("UNSPRING (1, 0, (None, 1))", "ValueError: UNSPRING: 'tsprings' must be the number of a spring, not 1"),
    ("HISTORY ('STROKE', 1)", "ValueError: HISTORY: 'source' must be the number of a spring, not 1"),
    ("OUTPUT (subset = 4)", "ValueError: OUTPUT: 'subset' must be the number of a particle, not 4"),
    ("EQM (0, (0, 0, 0), 3, (0, 0, 0))", "ValueError: EQM: 'part2' must be"),
    ("DEM (1, 0.1, 6)", "ValueError: DEM: 'interval' must be the number of a"),
    # unsorted tables
    (f"SPRING ({ENDS}, [0, 0, 1, 1, 0.5, 2])", "ValueError: SPRING: 'spring'"),
    (f"SPRING ({ENDS}, [0, 0, 1, 1], [1, 1, -1, -1])", "ValueError: SPRING: 'dashpot'"),
    (f"SPRING ({ENDS}, [0, 0, 1, 1], unload = [0, 0, 1, -1])", "ValueError: SPRING: 'unload': the forces of its pairs must increase strictly"),
    ("TSERIES ([0, 0, 1, 1, 1, 2])", "ValueError: TSERIES: times must increase strictly"),
    ("TORSION_SPRING (0, 1, (0, 0, 1), (1, 0, 0), kyaw = [1, 0, 0, 0])", "ValueError: TORSION_SPRING: 'kyaw'"),
    # negative curves
    (f"SPRING ({ENDS}, [0, 0, 1, 1], -0.1)", "ValueError: SPRING: 'dashpot' must not be negative"),
    (f"SPRING ({ENDS}, [0, 0, 1, 1], friction = -0.1)", "ValueError: SPRING: 'friction' must not be negative"),
    ("GRANULAR (1, 1, -1E5)", "ValueError: GRANULAR: 'spring' must not be negative"),
    ("TORSION_SPRING (0, 1, (0, 0, 1), (1, 0, 0), dyaw = -0.1)", "ValueError: TORSION_SPRING: 'dyaw' must not be negative"),
    # steps
    ("RESET (); ANALYTICAL (); DEM (1, CRITICAL (), 0.1)", "ValueError: DEM: 'step' must be"),
    ("DEM (1, -0.1)", "ValueError: DEM: 'step' must be positive"),
    ("DEM (1, 0.1, adaptive = 2)", "ValueError: DEM: 'adaptive' must lie in"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), WRONG, ids=[line for line, _ in WRONG])
def test_errors_name_file_line_and_command_and_no_files_begin(line, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "input.py").write_text(BEGIN + line + "\n")
    assert parmec_command.main(["input.py"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith(f"input.py:5: {message}"), printed
    assert [path.name for path in tmp_path.iterdir()] == ["input.py"]


@pytest.mark.parametrize("line", [line for line, _ in WRONG if not line.startswith(("RESET", "DEM"))])
def test_commands_that_fail_leave_the_model_as_it_was(line):
    from solfec import parmec

    commands = {name: parmec.load(name) for name in parmec.COMMANDS}
    exec(BEGIN, commands)
    now = model.current()
    before = [(table.n, *(table.view(name).copy() for name in table.COLUMNS)) for table in now.tables if table is not now.curves and table is not now.points]
    with pytest.raises(ValueError):  # noqa: PT011  (the other test has the messages)
        exec(line, commands)
    after = [(table.n, *(table.view(name) for name in table.COLUMNS)) for table in now.tables if table is not now.curves and table is not now.points]
    for one, two in zip(before, after):
        assert all((a == b) if isinstance(a, int) else a.tobytes() == b.tobytes() for a, b in zip(one, two))
