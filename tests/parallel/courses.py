"""Courses of models that are divided among threads of one process, and what they leave behind."""

import copy
import re

import numpy as np
from processes import spmd

from solfec import divided
from solfec.divided import Divided, Requests
from solfec.parallel.colours import hashes
from solfec.parallel.partition import Balance, Partition
from solfec.results.records import constraint_records
from solfec.solvers.gauss_seidel import GaussSeidelSolver

NOTHING = Requests(lambda: None, lambda: False)
OFTEN = Balance(1.05, 1.0, 5)  # bodies change owners often


def scatter(monkeypatch):
    """Divide models by hashes of identifiers, wherever bodies are, and rearrange their parts often."""
    monkeypatch.setattr(Partition, "leaf_of", lambda tree, points, ids: (hashes(ids, ids) % tree.leaves).astype(np.int32))
    monkeypatch.setattr(divided, "LASTING", 2)


def sweeps(epsilon, maxiter, colouring="ON", **members):
    """A Gauss-Seidel solver that goes through rows by colours or by keys."""
    made = GaussSeidelSolver(epsilon, maxiter, **members)
    made.colouring = colouring
    return made


def solver(**members):
    return sweeps(1e-4, 60, **members)


def quick():
    """A solver that makes few sweeps."""
    return sweeps(1e-4, 25)


def contents(model):
    """What a frame stores of a model."""
    bodies = model.bodies
    columns = [bodies.view("id"), bodies.view("energy"), bodies.view("momentum"), bodies.configurations.view("conf"), bodies.triples.view("velo")]
    lives = repr(model.lives.events), repr(model.cracks.tensions), repr((model.cracks.of_body, model.cracks.faces)), repr(model.edited_energy.total)
    scalars = model.time, model.step_number, model.contact_energy, model.friction_energy, model.sparsified, model.constraints.next_id
    return [*(column.tobytes() for column in columns), *lives], constraint_records(model.constraints, model).tobytes(), scalars, repr(model.report)


def rounded(several, model):
    """Contents with nine digits of merits, residuals and works, which a serial run adds in another order."""
    kind, found = constraint_records(model.constraints, model).dtype, []
    for columns, records, numbers, report in several:
        constraints = np.frombuffer(records, kind).copy()
        merits = [f"{merit:.9g}" for merit in constraints["merit"]]
        constraints["merit"] = 0.0
        report = re.sub(r"(merit|residual)=([^,]+)", lambda part: f"{part[1]}={float(part[2]):.9g}", report)
        found.append((columns, constraints.tobytes(), merits, [f"{number:.9g}" for number in numbers], report))
    return found


def course(model, size, steps, looks=10, balance=None, between=None, make=solver):
    """Contents of the whole model after every `looks` steps, from all processes alike; how often parts were rearranged."""
    copies = [copy.deepcopy(model) for _ in range(size)]
    moves = []

    def program(world):
        whole = copies[world.rank]
        run = Divided(whole, world, make(), balance or Balance(), NOTHING)
        found = []
        for step in range(steps):
            before = run.part.arrangement
            run.advance()
            moves.append(run.part.arrangement - before)
            if (step + 1) % looks == 0:
                run.show()
                found.append(contents(whole))
                if between:
                    between(whole, step)
                    run.take()
        run.end()
        return found

    results = spmd(size, program)
    assert all(found == results[0] for found in results)
    return results[0], sum(moves)
