"""Abaqus decks through `abaqusreader`, as old inputs read them."""

from pathlib import Path

import pytest

DECK = Path(__file__).parent.parent / "data" / "shapes" / "two-bricks.inp"

OLD = """
import os, sys
sys.path.append (os.path.join ('somewhere', 'scripts'))
from abaqusreader import AbaqusInput

solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/deck')
solfec.verbose = 'OFF'
GRAVITY (solfec, (0, 0, -10))
model = AbaqusInput (%s)
for inst in model.assembly.instances.values ():
  bod = BODY (solfec, 'FINITE_ELEMENT', inst.mesh, inst.material, inst.name, form = 'BC')
  bod.scheme = 'DEF_LIM'
  print inst.name, inst.part.name, inst.material.label, bod.mass, '(%%g, %%g, %%g)' %% bod.center
RUN (solfec, NEWTON_SOLVER (), 0.01)
print '%%.6f' %% BYLABEL (solfec, 'BODY', 'TOP').velo [2], model.parts ['BRICK'].nodesets ['SURF003']
"""


@pytest.mark.parametrize("arguments", ["'{deck}', solfec", "solfec, '{deck}'", "path = '{deck}', solfec = solfec, gid = 5, volid = 2"])
def test_an_old_input_makes_bodies_of_a_deck(good, arguments):
    printed = good(OLD % arguments.format(deck=DECK)).splitlines()
    assert printed == [
        "LEFT BRICK STEEL 31400.0 (2, 0.5, 0.5)",
        "RIGHT BRICK STEEL 31400.0 (9.5, 2, 0.5)",
        "TOP ROOF GLASS 2500.0 (0.333333, 0.333333, 2)",
        "-0.100000 [0, 3, 4, 7]",
    ]


def test_node_sets_number_the_outer_faces_that_they_hold(good):
    text = f"""
from abaqusreader import AbaqusInput
model = AbaqusInput('{DECK}', gid=5)
assert model.assembly.instances['LEFT'].material.young == 2.1e11
mesh = model.assembly.instances['LEFT'].mesh
print(mesh.nnod, mesh.nodes_on_surface(3), mesh.nodes_on_surface(12), mesh.nodes_on_surface(5)[:2])
print(sorted(mesh.node(n)[2] for n in mesh.nodes_on_surface(12)), {{mesh.node(n)[0] for n in mesh.nodes_on_surface(3)}})
print(AbaqusInput('{DECK}', convert=False).assembly.instances['LEFT'].mesh)
"""
    # 20 to 27 hold the upper faces and that at x = 4; the face between the elements is none
    assert good(text) == "12 [0, 3, 4, 7] [4, 5, 6, 7, 8, 9, 10, 11] [0, 1]\n[0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] {0.0}\nNone\n"


def test_a_part_of_two_materials_which_has_the_last_one_draws_a_warning(run):
    """Its mass and stiffness had been wrong in silence."""
    section = "*Solid Section, elset=X, material=Steel\n"
    Path("two.inp").write_text(DECK.read_text().replace(section, section.replace("Steel", "Glass") + section))
    outcome = run("from abaqusreader import AbaqusInput\nprint(AbaqusInput('two.inp').assembly.instances['LEFT'].material.name)\n")
    assert (outcome.status, outcome.out) == (0, "STEEL\n")
    assert "part BRICK has sections of several materials; all of it is STEEL, nothing is GLASS" in outcome.err


def test_a_flat_deck_is_one_part(good):
    Path("flat.inp").write_text("*HEADING\n*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n*ELEMENT,TYPE=C3D4\n1,1,2,3,4\n")
    assert good("from abaqusreader import AbaqusInput\nprint(*AbaqusInput('flat.inp').assembly.instances)\n") == "PART-1\n"


WRONG = {
    "*Part, name=A\n*End Part\n": "line 1: a deck begins with *HEADING",
    "1, 2\n": "line 1: a deck begins with *HEADING",
    "": "the file holds no keywords",
    "*Heading\n*Node\n1, 0, 0, zero\n": "line 2: *NODE: could not convert",
    "*Heading\n*Element, type=S4\n1, 1, 2, 3, 4\n": "line 2: *ELEMENT: elements of type S4 are not supported",
    "*Heading\n*Element, type=C3D8\n1, 1, 2, 3, 4\n": "cut short",
    "*Heading\n*Node\n1, 0, 0, 0\n*Element, type=C3D4\n1, 1, 2, 3, 4\n": "node 2 of an element is not there",
    "*Heading\n*Part, name=A\n*Nset, nset=SURF1, elset=E\n": "must list the nodes of a part",
    "*Heading\n*Instance, name=I, part=P\n": "*INSTANCE: 'P' is not there",
    "*Heading\n*Assembly\n*End Assembly\n*Assembly\n": "line 4: *ASSEMBLY: there are two assemblies",
    "*Heading\n*Include, input=x\n": "put everything into one file",
    "*Heading\n*Part\n": "'NAME' is not there",
    "*Heading\n*Node\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,1,1,0\n*Element,type=C3D4\n1,1,2,3,4\n": "volume",
    "*Heading\n*Material, name=M\n*Elastic, type=ORTHO\n1,2\n": "other than isotropic",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_in_a_deck_is_said_with_its_line(run, text):
    Path("wrong.inp").write_text(text)
    outcome = run("from abaqusreader import AbaqusInput\nAbaqusInput('wrong.inp')\n")
    assert outcome.status == 1 and "AbaqusInput: 'path': wrong.inp: " in outcome.err and WRONG[text] in outcome.err, outcome.err
    assert "Traceback" not in outcome.err


def test_arguments_of_the_reader_are_checked(run):
    for arguments, said in {"1": "'path' must be a string", "'no.inp'": "cannot be read", f"'{DECK}', gid='x'": "'gid'", "": "path"}.items():
        outcome = run(f"from abaqusreader import AbaqusInput\nAbaqusInput({arguments})\n")
        assert outcome.status == 1 and said in outcome.err and "Traceback" not in outcome.err, outcome.err
