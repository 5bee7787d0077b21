"""Co-simulation by FMI 2: models as FMUs (package pythonfmu), and FMUs as sources of forces (package fmpy)."""

from __future__ import annotations

import os
import re
import shutil
import tempfile

import numpy as np

from .. import installed
from ..errors import SolfecError
from ..kinds import BodyKind, ConstraintKind
from ..language.bodies import BODY, body_of
from ..live_state import Bodies, ForceArrays
from .buffer import Buffer
from .open_step import OpenStep
from .own import SolfecCollisionHandler

INSTALL = "python -m pip install 'solfec[fmi]'"
COORDINATES = ("x", "y", "z")
LOADS = tuple(f"{kind}_{axis}" for kind in ("force", "torque") for axis in COORDINATES)
STATES = (
    *(f"{kind}_{axis}" for kind in ("place", "velocity", "spin", "reaction") for axis in COORDINATES),
    *(f"rotation_{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)),
)
SCRIPT = '''\
"""An FMU of Solfec: it runs the input file beside it up to RUN, and then makes steps when it is asked to."""

from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Causality, Fmi2Initial, Fmi2Variability
from pythonfmu.variables import Real

from solfec.cli import parse, run_input
from solfec.coupling.fmu import CoSimulated


class {name}(Fmi2Slave):
    """Model of {input}."""

    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.model = CoSimulated(self.resources + "/{input}", lambda path, take: run_input(path, None, parse([path]), compared=take))
        for names, causality, initial, values in (
            (self.model.inputs, Fmi2Causality.input, None, self.model.given),
            (self.model.outputs, Fmi2Causality.output, Fmi2Initial.exact, self.model.found),
        ):
            for k, name in enumerate(names):
                self.register_variable(Real(
                    name, causality=causality, initial=initial, variability=Fmi2Variability.continuous, start=float(values[k]),
                    getter=lambda values=values, k=k: float(values[k]), setter=lambda value, values=values, k=k: values.__setitem__(k, value),
                ))

    def do_step(self, current_time, step_size):
        self.model.advance(step_size)
        return True
'''


def missing(package: str) -> SolfecError:
    """Return the error that names a missing package and the command that installs it."""
    return SolfecError(f"FMUs need the package {package}, which is not installed; run: {INSTALL}")


def export_fmu(input_path: str, path: str) -> str:
    """Write the model of an input file as an FMU for co-simulation (FMI 2); return its path.

    Parameters
    ----------
    input_path : str
        The FMU holds a copy of it, and needs this Python with Solfec where it runs.
    path : str
        '.fmu' is appended unless it ends so.

    Raises
    ------
    SolfecError
        pythonfmu, the input file or the directory of the FMU is missing.
    """
    try:
        builder = installed.load("pythonfmu.builder").FmuBuilder
    except ImportError:
        raise missing("pythonfmu") from None
    path = os.path.abspath(path if path.endswith(".fmu") else path + ".fmu")
    if not os.path.isfile(input_path):
        raise SolfecError(f"an FMU needs an input file; there is no '{input_path}'")
    if os.path.basename(path) == ".fmu":
        raise SolfecError("the name of an FMU must not be empty")
    if not os.path.isdir(os.path.dirname(path)):
        raise SolfecError(f"{path}: cannot be written; there is no such directory")
    source = os.path.basename(input_path)
    name = "Model_" + re.sub(r"\W", "_", os.path.splitext(source)[0])
    with tempfile.TemporaryDirectory() as folder:
        script, copy = os.path.join(folder, name.lower() + "_fmu.py"), os.path.join(folder, source)
        shutil.copyfile(input_path, copy)
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT.format(name=name, input=source))
        built = builder.build_FMU(script, dest=folder, project_files=[copy])
        try:
            shutil.move(str(built), path)
        except OSError as error:
            raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from error
    return path


class CoSimulated:
    """The model that an input gives to its first RUN, with named inputs and outputs.

    Parameters
    ----------
    path : str
        Input file.
    run : callable
        ``run(path, take)`` runs it; ``take(simulation, solver, duration)`` is called in the place of RUN.

    Attributes
    ----------
    inputs, outputs : list of str
        Names: BODY.force_x and so on; constraint_N.value of what a constraint of the user prescribes.
    given, found : ndarray
        Their values.
    """

    def __init__(self, path: str, run):
        taken: list = []

        def take(simulation, solver, duration) -> None:
            taken.extend((simulation, solver))
            raise SystemExit(0)

        run(path, take)
        if not taken:
            raise SolfecError(f"{os.path.basename(path)} comes to no RUN; there is no model to simulate")
        self.simulation, self.solver = taken
        domain = self.domain = self.simulation.domain
        self.identifiers = domain.bodies.view("id").copy()
        names = [re.sub(r"\W", "_", domain.body_labels.get(k, "")) or f"body_{k}" for k in self.identifiers.tolist()]
        self.names = [name if names.count(name) == 1 else f"body_{k}" for name, k in zip(names, self.identifiers.tolist())]
        kinds = domain.bodies.view("kind")
        self.loaded = np.flatnonzero(kinds == BodyKind.RIGID)
        table, users = domain.constraints, domain.constraints.user_count
        prescribed = (table.kind[:users] == ConstraintKind.VELODIR) & (table.series_rows[0, :users] < 0)
        self.prescribed = table.id[:users][prescribed].copy()
        self.inputs = [f"{self.names[k]}.{load}" for k in self.loaded for load in LOADS] + [f"constraint_{k}.value" for k in self.prescribed.tolist()]
        self.outputs = [f"{name}.{state}" for name in self.names for state in STATES]
        rows = [table.row_of(int(k)) for k in self.prescribed]
        self.given = np.concatenate([np.zeros(len(LOADS) * len(self.loaded)), table.value[0, rows]])
        self.found = np.zeros(len(self.outputs))
        domain.loads.sources.append(ForceArrays(self._forces))
        domain.step_kept = True
        self._handler = SolfecCollisionHandler(OpenStep.of(self.simulation))
        self._read()

    def _forces(self, bodies, time: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        force, torque = np.zeros((len(self.identifiers), 3)), np.zeros((len(self.identifiers), 3))
        loads = self.given[: len(LOADS) * len(self.loaded)].reshape(-1, 2, 3)
        force[self.loaded], torque[self.loaded] = loads[:, 0], loads[:, 1]
        return force, torque

    def advance(self, duration: float) -> None:
        """Make the steps of a duration, which is a multiple of the model's step, with the present inputs."""
        domain = self.domain
        count = round(duration / domain.step)
        if count < 1 or abs(count * domain.step - duration) > 1e-6 * domain.step:
            raise SolfecError(f"the communication step {duration:g} is no multiple of the model's step {domain.step:g}")
        for row, value in zip([domain.constraints.row_of(int(k)) for k in self.prescribed], self.given[len(LOADS) * len(self.loaded) :]):
            domain.constraints.value[0, row] = value
        for _ in range(count):
            domain.advance(self.solver)
        if not np.array_equal(domain.bodies.view("id"), self.identifiers):
            raise SolfecError("bodies have come, gone or broken; an FMU has the bodies with which it began")
        self._read()

    def _read(self) -> None:
        """Write the present state to the outputs."""
        state, buffer = Bodies.of(self.domain.bodies), Buffer()
        self._handler.pull(buffer)
        reaction = buffer.interactions.resultants(self.identifiers)
        spin = np.nan_to_num(state.angular_velocity)
        parts = (state.centre, state.velocity, spin, reaction, state.rotation.reshape(-1, 9))
        self.found[:] = np.concatenate(parts, axis=1).ravel()


class FmuForce:
    """An FMU for co-simulation (FMI 2) whose outputs load a body; it makes a step with every step of the model.

    Its inputs take the state of the body at the beginning of the step, and its outputs act during the step.  An FMU cannot be restarted from results.

    Parameters
    ----------
    body : BODY
    path : str
        The FMU.
    inputs : dict
        Name of an input of the FMU -> 'time', or one of 'place_x' ... 'velocity_x' ... 'spin_x' ... 'rotation_11' ... of the body.
    outputs : dict
        Name of an output -> 'force_x' ... 'torque_x' ... on the body, spatial, at its mass centre.
    """

    def __init__(self, body: BODY, path: str, inputs: dict[str, str], outputs: dict[str, str]):
        self.body = body_of(body, "body")
        if self.body.kind == "OBSTACLE" and outputs:
            raise SolfecError(f"FmuForce: body {self.body.id} is an obstacle and takes no loads")
        try:
            fmpy = installed.load("fmpy")
            slave = installed.load("fmpy.fmi2").FMU2Slave
        except ImportError:
            raise missing("fmpy") from None
        if not os.path.isfile(path):
            raise SolfecError(f"FmuForce: there is no FMU {path!r}")
        try:
            description = fmpy.read_model_description(path)
        except Exception as error:  # of any type
            raise SolfecError(f"FmuForce: {path!r} cannot be read as an FMU: {' '.join(str(error).split())}") from None
        if description.coSimulation is None:
            raise SolfecError(f"FmuForce: {path!r} is no FMU for co-simulation")
        reference = {variable.name: variable.valueReference for variable in description.modelVariables}
        known = {"inputs": ("time", *(name for name in STATES if not name.startswith("reaction"))), "outputs": LOADS}
        for argument, given in (("inputs", inputs), ("outputs", outputs)):
            for name, quantity in given.items():
                if name not in reference:
                    raise SolfecError(f"FmuForce: {path!r} has no variable {name!r}; it has {', '.join(reference)}")
                if quantity not in known[argument]:
                    raise SolfecError(f"FmuForce: '{argument}' must name one of {', '.join(known[argument])}, not {quantity!r}")
        self._reads = [(reference[name], quantity) for name, quantity in inputs.items()]
        self._loads = [(reference[name], LOADS.index(quantity)) for name, quantity in outputs.items()]
        self._folder = tempfile.TemporaryDirectory()
        fmpy.extract(path, unzipdir=self._folder.name)
        self._fmu = slave(
            guid=description.guid, unzipDirectory=self._folder.name, modelIdentifier=description.coSimulation.modelIdentifier, instanceName="solfec"
        )
        self._domain, self._load = self.body._simulation.domain, np.zeros(6)
        self._fmu.instantiate()
        self._fmu.setupExperiment(startTime=self._domain.time)
        self._fmu.enterInitializationMode()
        self._set()
        self._fmu.exitInitializationMode()
        self._domain.hooks.before.append(self._step)
        self._domain.loads.sources.append(ForceArrays(self._forces))

    def _set(self) -> None:
        if not self._reads:
            return
        state, row = Bodies.of(self._domain.bodies), self.body._row
        parts = (state.centre[row], state.velocity[row], np.nan_to_num(state.angular_velocity[row]), np.zeros(3), state.rotation[row].ravel())
        values = dict(zip(STATES, np.concatenate(parts).tolist())) | {"time": self._domain.time}
        self._fmu.setReal([number for number, _ in self._reads], [values[quantity] for _, quantity in self._reads])

    def _step(self, *_) -> None:
        """Make a step of the FMU, before that of the model."""
        self._set()
        self._fmu.doStep(currentCommunicationPoint=self._domain.time, communicationStepSize=self._domain.step)
        values = self._fmu.getReal([number for number, _ in self._loads])
        self._load[:] = 0.0
        for (_, place), value in zip(self._loads, values):
            self._load[place] += value
        if not np.isfinite(self._load).all():
            raise SolfecError(f"FmuForce: the FMU returned forces that are not finite at time {self._domain.time:g}")

    def _forces(self, bodies, time: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        force, torque = np.zeros((len(bodies.id), 3)), np.zeros((len(bodies.id), 3))
        force[self.body._row], torque[self.body._row] = self._load[:3], self._load[3:]
        return force, torque

    def close(self) -> None:
        """End the FMU."""
        self._fmu.terminate()
        self._fmu.freeInstance()
        self._folder.cleanup()
