"""Errors in an input name its file and line, and the status is 1."""

from __future__ import annotations

import textwrap

import pytest

MODEL = """
    nan, inf = float('nan'), float('inf')
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/bad')
    solfec.verbose = 'OFF'
    other = SOLFEC('DYNAMIC', 1E-3, 'out/other')
    bulk = BULK_MATERIAL(solfec, density=1E3, label='stone')
    foreign = BULK_MATERIAL(other)
    GRAVITY(solfec, (0, 0, -10))
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    sides = [4,0,3,2,1,1, 4,4,5,6,7,1, 4,0,1,5,4,1, 4,1,2,6,5,1, 4,2,3,7,6,1, 4,3,0,4,7,1]
    ball = SPHERE((0, 0, 0), 1, 1, 1)
    used = SPHERE((0, 0, 0), 1, 1, 1)
    body = BODY(solfec, 'RIGID', used, bulk, label='used')
    floor = BODY(solfec, 'OBSTACLE', HULL([c - 3 for c in cube], 1, 1), bulk)
    floor2 = BODY(solfec, 'OBSTACLE', HULL([c - 30 for c in cube], 1, 1), bulk)
    soft = BODY(solfec, 'PSEUDO_RIGID', HULL([c + 30 for c in cube], 1, 1), bulk)
    far = BODY(other, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), foreign)
    gone = BODY(solfec, 'RIGID', SPHERE((50, 0, 0), 1, 1, 1), bulk)
    DELETE(solfec, gone)
    gs = GAUSS_SEIDEL_SOLVER(1E-4, 100)
    def HEXES(n): return BODY(solfec, 'FINITE_ELEMENT', HEX(cube, n, 1, 1, 1, [1]*6), bulk)
"""

# (what is wrong, the line, the standard type of the error, words of the message)
CASES = [
    ("argument missing", "HULL(cube, 1)", TypeError, "HULL: missing a required argument: 'surfid'"),
    ("unknown keyword", "HULL(cube, 1, 1, colour=3)", TypeError, "HULL: got an unexpected keyword argument 'colour'"),
    ("argument given twice", "HULL(cube, 1, 1, volid=1)", TypeError, "multiple values for argument 'volid'"),
    ("both spellings of a keyword", "HEX(cube, 1, 1, 1, 1, surids=[1]*6, surfids=[1]*6)", TypeError, "both given"),
    ("vertices are not a list", "CONVEX('cube', sides, 1)", TypeError, "'vertices' must be a list of numbers, not str"),
    ("a vertex coordinate is a string", "CONVEX(cube[:-1] + ['1'], sides, 1)", TypeError, "'vertices'"),
    ("a vertex coordinate is None", "HULL(cube + [0, None, 0], 1, 1)", TypeError, "item 25 is None"),
    ("a coordinate is NaN", "HULL(cube + [0, nan, 0], 1, 1)", ValueError, "item 25 is nan"),
    ("coordinates not in threes", "CONVEX(cube[:-1], sides, 1)", ValueError, "3 times a number of items"),
    ("too few vertices", "CONVEX(cube[:9], sides, 1)", ValueError, "at least 12"),
    ("a face number is a float", "CONVEX(cube, [4.0] + sides[1:], 1)", TypeError, "'faces' must be a flat list of integers"),
    ("a face record is cut short", "CONVEX(cube, sides[:-2], 1)", ValueError, "cut short"),
    ("a face of two vertices", "CONVEX(cube, [2, 0, 1, 1] + sides, 1)", ValueError, "at least 3"),
    ("too few faces", "CONVEX(cube, sides[:18], 1)", ValueError, "at least 4 faces"),
    ("a face vertex out of range", "CONVEX(cube, sides[:-2] + [8, 1], 1)", ValueError, "out of the range"),
    ("a face repeats a vertex", "CONVEX(cube, sides[:-2] + [4, 1], 1)", ValueError, "repeats"),
    ("volume id is a float", "CONVEX(cube, sides, 1.0)", TypeError, "'volid' must be an integer, not float"),
    ("volume id is reserved", "HULL(cube, 2**31 - 1, 1)", ValueError, "'volid' must lie in"),
    ("volume id is enormous", "HULL(cube, 2**80, 1)", ValueError, "'volid' must lie in"),
    ("convex is a mesh", "HULL(cube, 1, 1, HEX(cube, 1, 1, 1, 1, [1]*6))", TypeError, "'convex' must be a CONVEX object, not MESH"),
    ("hull of a point", "HULL([1, 1, 1] * 5, 1, 1)", RuntimeError, "all points coincide"),
    ("hull of a line", "HULL([0,0,0, 1,1,1, 2,2,2, 3,3,3], 1, 1)", RuntimeError, "collinear"),
    ("hull of a plane", "HULL([0,0,0, 1,0,0, 1,1,0, 0,1,0], 1, 1)", RuntimeError, "coplanar"),
    ("vertex number out of range", "HULL(cube, 1, 1).vertex(8)", ValueError, "between 0 and 7"),
    ("vertex number is a float", "HULL(cube, 1, 1).vertex(0.0)", TypeError, "CONVEX.vertex: 'n' must be an integer"),
    ("mesh of no elements", "MESH(cube, [], 1)", ValueError, "'elements'"),
    ("element of seven nodes", "MESH(cube, [7, 0, 1, 2, 3, 4, 5, 6, 1], 1)", ValueError, "7 nodes"),
    ("element node out of range", "MESH(cube, [4, 0, 1, 2, 9, 1], 1)", ValueError, "out of the range"),
    ("inverted element", "MESH(cube, [8, 4, 5, 6, 7, 0, 1, 2, 3, 1], 1)", ValueError, "inverted"),
    ("surface ids are a string", "MESH(cube, [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], 'a')", TypeError, "'surfids'"),
    ("face of five nodes", "MESH(cube, [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], [1, 5, 0, 1, 2, 3, 4, 2])", ValueError, "3 or 4"),
    ("no subdivisions", "HEX(cube, 0, 1, 1, 1, [1]*6)", ValueError, "'i' must be at least 1, it is 0"),
    ("five surface ids", "HEX(cube, 1, 1, 1, 1, [1]*5)", ValueError, "'surfids' must hold 6"),
    ("too few ratios", "HEX(cube, 3, 1, 1, 1, [1]*6, dx=[1, 2])", ValueError, "'dx' must hold at least 3 numbers"),
    ("a ratio of zero", "HEX(cube, 2, 1, 1, 1, [1]*6, dx=[1, 0])", ValueError, "'dx' must hold positive numbers"),
    ("seven corners", "HEX(cube[:21], 1, 1, 1, 1, [1]*6)", ValueError, "at least 24"),
    ("negative radius", "SPHERE((0, 0, 0), -1, 1, 1)", ValueError, "'radius' must be positive, not -1"),
    ("radius is infinite", "SPHERE((0, 0, 0), inf, 1, 1)", ValueError, "'radius' must be a finite number"),
    ("center of two numbers", "SPHERE((0, 0), 1, 1, 1)", ValueError, "'center' must hold 3 numbers, it holds 2"),
    ("center is a number", "SPHERE(0, 1, 1, 1)", TypeError, "'center' must be a tuple of 3 numbers, not int"),
    ("emptied shape as an argument", "COPY(used)", TypeError, "went into BODY at input.py:"),
    ("member of an emptied shape", "used.radius", ValueError, "is empty"),
    ("one shape twice", "BODY(solfec, 'RIGID', [ball, ball], bulk)", TypeError, "twice"),
    ("a list of no shapes", "BODY(solfec, 'RIGID', [], bulk)", ValueError, "at least one shape"),
    ("a shape list with a number in it", "COPY([ball, 3])", TypeError, "'shape[1]' must be a CONVEX, MESH, SPHERE or ELLIP object, not int"),
    ("translation by two numbers", "TRANSLATE(ball, (1, 2))", ValueError, "'vector' must hold 3 numbers"),
    ("translation of a point of strings", "TRANSLATE(('a', 'b', 'c'), (1, 2, 3))", TypeError, "'shape[0]' must be a number"),
    ("rotation about no axis", "ROTATE(ball, (0, 0, 0), (0, 0, 0), 90)", ValueError, "'vector' must not be zero"),
    ("scaling out of range", "SCALE(ball, (1E200, 1, 1))", ValueError, "SCALE: 'coefs' must not exceed 1e+50 in magnitude; item 0 does"),
    ("translation out of range", "TRANSLATE(ball, (0, 1E308, 0))", ValueError, "TRANSLATE: 'vector' must not exceed 1e+50 in magnitude; item 1 does"),
    ("more nodes than numbers", "HEX(cube, 10**9, 10**9, 10**9, 1, [1]*6)", ValueError, "HEX: 'i', 'j', 'k' would make 1e+27 nodes; a mesh can have 2147483647"),
    ("more nodes in a pipe than numbers", "PIPE((0,0,0), (0,0,1), 1, 1, 10**6, 10**6, 1, 1, [1]*4)", ValueError, "would make 2e+12 nodes"),
    ("one face six times", "CONVEX(cube, [4, 0, 1, 2, 3, 1] * 6, 1)", ValueError, "5 other faces have the edge 0-1 of face 0"),
    ("series from a file that is no text", "open('t.bin', 'wb').write(bytes(range(256))); TIME_SERIES('t.bin')", ValueError, "TIME_SERIES: 'points': the file 't.bin' is no text"),
    ("force of a number too long", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,1), lambda q, u, t, h: (10**400,) + (0,) * 8); RUN(solfec, gs, 1E-3)", RuntimeError, "of body 1 (used) at time 0.000102062: a sequence of 9 numbers is expected, not (10"),
    ("scaling by zero", "SCALE(ball, (1, 0, 1))", ValueError, "'coefs' must not hold zeros"),
    ("unknown analysis", "SOLFEC('STATIC', 1E-3, 'out/x')", ValueError, "'analysis' must be one of 'DYNAMIC', 'QUASI_STATIC'"),
    ("step of zero", "SOLFEC('DYNAMIC', 0, 'out/x')", ValueError, "'step' must be positive, not 0"),
    ("step is a string", "SOLFEC('DYNAMIC', '1E-3', 'out/x')", TypeError, "'step' must be a number, not str"),
    ("step is NaN", "SOLFEC('DYNAMIC', nan, 'out/x')", ValueError, "'step' must be a finite number, not nan"),
    ("output is a number", "SOLFEC('DYNAMIC', 1E-3, 3)", TypeError, "'output' must be a string, not int"),
    ("output directory inside of a file", "SOLFEC('DYNAMIC', 1E-3, __file__ + '/x')", RuntimeError, "input.py is not a directory"),
    ("solfec is a body", "GRAVITY(body, (0, 0, 0))", TypeError, "'solfec' must be a SOLFEC object, not BODY"),
    ("step set to a negative number", "solfec.step = -1", ValueError, "SOLFEC.step: 'step' must be positive"),
    ("read-only member", "solfec.time = 1", ValueError, "SOLFEC.time is read-only"),
    ("unknown member", "solfec.tiem = 1", AttributeError, "SOLFEC has no member 'tiem'"),
    ("unknown verbosity", "solfec.verbose = 'LOUD'", ValueError, "'verbose' must be one of"),
    ("negative young", "BULK_MATERIAL(solfec, young=-1)", ValueError, "'young' must not be negative"),
    ("poisson of one half", "BULK_MATERIAL(solfec, poisson=0.5)", ValueError, "'poisson' must be below 0.5"),
    ("unknown bulk model", "BULK_MATERIAL(solfec, model='RUBBER')", ValueError, "'model' must be one of 'KIRCHHOFF'"),
    ("restitution above one", "SURFACE_MATERIAL(solfec, restitution=1.1)", ValueError, "'restitution' must lie in [0, 1]"),
    ("friction is NaN", "SURFACE_MATERIAL(solfec, friction=nan)", ValueError, "'friction' must be a finite number"),
    ("surface id is a string", "SURFACE_MATERIAL(solfec, surf1='a')", TypeError, "'surf1' must be an integer, not str"),
    ("unknown surface model", "SURFACE_MATERIAL(solfec, model='GLUE')", ValueError, "'model' must be one of"),
    ("restitution set above one", "BYLABEL(solfec, 'SURFACE_MATERIAL', 'DEFAULT').restitution = 2", ValueError, "'restitution' must lie in"),
    ("unknown body kind", "BODY(solfec, 'SOFT', ball, bulk)", ValueError, "'kind' must be one of"),
    ("material by an unknown label", "BODY(solfec, 'RIGID', ball, 'steel')", TypeError, "no bulk material labelled 'steel' (known labels: 'stone')"),
    ("material of another model", "BODY(solfec, 'RIGID', ball, foreign)", ValueError, "belongs to another SOLFEC object"),
    ("material is a number", "BODY(solfec, 'RIGID', ball, 3)", TypeError, "'material' must be a BULK_MATERIAL object or its label"),
    ("label is a number", "BODY(solfec, 'RIGID', ball, bulk, 3)", TypeError, "'label' must be a string"),
    ("unknown form", "BODY(solfec, 'RIGID', ball, bulk, form='RO')", ValueError, "'form' must be one of"),
    ("density of zero", "BODY(solfec, 'RIGID', ball, BULK_MATERIAL(solfec, density=0))", RuntimeError, "density"),
    ("scheme of another kind", "body.scheme = 'DEF_EXP'", ValueError, "does not suit a body of kind 'RIGID'"),
    ("velocity of five numbers", "body.velo = (0, 0, 0, 0, 0)", ValueError, "'velo' must hold 6 numbers, it holds 5"),
    ("velocity is NaN", "body.velo = (0, 0, 0, 0, 0, nan)", ValueError, "'velo[5]' must be a finite number"),
    ("configuration is no rotation", "body.conf = (2,0,0, 0,1,0, 0,0,1, 0,0,0)", ValueError, "rotation"),
    ("negative damping", "soft.damping = -1", ValueError, "'damping' must not be negative"),
    ("self-contact of a rigid body", "body.selfcontact = 'ON'", ValueError, "for deformable bodies"),
    ("mass of zero", "BODY_CHARS(body, 0, 1, (0,0,0), (1,0,0, 0,1,0, 0,0,1))", ValueError, "'mass' must be positive"),
    ("tensor that is not symmetric", "BODY_CHARS(body, 1, 1, (0,0,0), (1,1,0, 0,1,0, 0,0,1))", ValueError, "symmetric"),
    ("tensor that is not positive", "BODY_CHARS(body, 1, 1, (0,0,0), (1,0,0, 0,1,0, 0,0,-1))", ValueError, "positive definite"),
    ("velocity by a number", "INITIAL_VELOCITY(body, 1, (0, 0, 0))", TypeError, "'linear' must be a tuple of 3 numbers"),
    ("stale body as an argument", "INITIAL_VELOCITY(gone, (0,0,0), (0,0,0))", ValueError, "does not exist"),
    ("member of a stale body", "gone.conf", ValueError, "does not exist"),
    ("stale body deleted again", "DELETE(solfec, gone)", ValueError, "does not exist"),
    ("deletion of a shape", "DELETE(solfec, ball)", TypeError, "'object' must be a BODY or CONSTRAINT object, not SPHERE"),
    ("process of a body of another model", "HERE(other, body)", ValueError, "another SOLFEC object"),
    ("deletion from another model", "DELETE(other, body)", ValueError, "another SOLFEC object"),
    ("fixed point outside of the body", "FIX_POINT(body, (5, 0, 0))", ValueError, "lies outside of the shape of body 1 (used)"),
    ("fixed point of nothing", "FIX_POINT(None, (0, 0, 0))", TypeError, "'body' must be a BODY object, not None"),
    ("strength of zero", "FIX_POINT(body, (0, 0, 0), 0)", ValueError, "'strength' must be positive"),
    ("link of no bodies", "PUT_RIGID_LINK(None, None, (0,0,0), (1,0,0))", TypeError, "must not both be None"),
    ("link of two models", "PUT_RIGID_LINK(body, far, (0,0,0), (0,0,1))", ValueError, "different SOLFEC objects"),
    ("link of two obstacles", "PUT_RIGID_LINK(floor, floor2, (-3,-3,-3), (-30,-30,-30))", ValueError, "two obstacles"),
    ("link of a body to itself", "PUT_RIGID_LINK(body, body, (0,0,0), (0,0,1))", ValueError, "same body"),
    ("strength of a link below zero", "PUT_RIGID_LINK(body, None, (0,0,0), (0,0,1), -1)", ValueError, "'strength' must be positive"),
    ("no direction", "FIX_DIRECTION(body, (0,0,0), (0,0,0))", ValueError, "FIX_DIRECTION: 'direction' must not be zero"),
    ("direction that is hardly one", "FIX_DIRECTION(body, (0,0,0), (1E-200,0,0))", ValueError, "'direction' must have a length nearer to 1 than 1e-200"),
    ("direction of a huge torque", "TORQUE(body, 'SPATIAL', (1E308,0,0), 1)", ValueError, "TORQUE: 'direction' must have a length nearer to 1"),
    ("direction of a huge force", "FORCE(body, 'SPATIAL', (0,0,0), (1E308,0,1E308), 1)", ValueError, "FORCE: 'direction' must have a length nearer to 1"),
    ("axis that is hardly one", "ROTATE(ball, (0,0,0), (0,1E-180,0), 90)", ValueError, "'vector' must have a length nearer to 1"),
    ("direction fixed outside", "FIX_DIRECTION(body, (0,0,9), (0,0,1))", ValueError, "lies outside of the shape of body 1"),
    ("second body without a point", "FIX_DIRECTION(body, (0,0,0), (0,0,1), floor)", ValueError, "'body2' and 'point2' must be given together"),
    ("direction fixed to itself", "FIX_DIRECTION(body, (0,0,0), (0,0,1), body, (0,0,0))", ValueError, "'body' and 'body2' are the same body"),
    ("velocity by a string", "SET_VELOCITY(body, (0,0,0), (0,0,1), 'v')", TypeError, "'value' must be a number or a TIME_SERIES"),
    ("velocity without end", "SET_VELOCITY(body, (0,0,0), (0,0,1), nan)", ValueError, "'value' must be a finite number, not nan"),
    ("displacement by a number", "SET_DISPLACEMENT(body, (0,0,0), (0,0,1), 1)", TypeError, "'tms' must be a TIME_SERIES object, not int"),
    ("acceleration by a number", "SET_ACCELERATION(body, (0,0,0), (0,0,1), 1)", TypeError, "'tms' must be a TIME_SERIES object"),
    ("base of eight numbers", "SET_VELOCITY3(body, (0,0,0), (1,0,0,0,1,0,0,0), (1,1,1))", ValueError, "'base' must hold 9 numbers"),
    ("base in a plane", "SET_VELOCITY3(body, (0,0,0), (1,0,0,0,1,0,1,0,0), (1,1,1))", ValueError, "do not lie in one plane"),
    ("two velocities of three", "SET_VELOCITY3(body, (0,0,0), (1,0,0,0,1,0,0,0,1), (1,1))", ValueError, "'tms' must hold 3"),
    ("velocities in a stale body", "SET_VELOCITY(gone, (50,0,0), (0,0,1), 1)", ValueError, "does not exist"),
    ("spring of a string", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), 'f', (-1, 1))", TypeError, "'function' must be callable or a list of points"),
    ("spring curve of one point", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), [0, 1], (-1, 1))", ValueError, "at least 2 points"),
    ("spring curve going back", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), [0, 1, 0, 2], (-1, 1))", ValueError, "strokes must increase strictly; point 1"),
    ("spring limits upside down", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), [0,0,1,1], (1, -1))", ValueError, "smin <= 0 <= smax"),
    ("spring of one body", "PUT_SPRING(body, (0,0,0), body, (0,0,1), [0,0,1,1], (-1, 1))", ValueError, "same body"),
    ("spring of two obstacles", "PUT_SPRING(floor, (-3,-3,-3), floor2, (-30,-30,-30), [0,0,1,1], (-1, 1))", ValueError, "two obstacles"),
    ("spring of nothing", "PUT_SPRING(body, (0,0,0), None, (0,0,1), [0,0,1,1], (-1, 1))", TypeError, "'body2' must be a BODY object"),
    ("update without direction", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), [0,0,1,1], (-1, 1), update='CONV1')", ValueError, "'update' needs a 'direction'"),
    ("unknown update", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), [0,0,1,1], (-1, 1), (1,0,0), 'FOLLOW')", ValueError, "'update' must be one of"),
    ("dashpot beside a function", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), max, (-1, 1), dashpot=1)", ValueError, "'dashpot' goes with a curve"),
    ("spring function returning text", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), lambda s, v: 'much', (-1, 1)); RUN(solfec, gs, 1E-3)", RuntimeError, "the function of constraint 1 (SPRING) of body 1 and body 4 must return a number, not 'much'"),
    ("spring function returning NaN", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), lambda s, v: nan, (-1, 1)); RUN(solfec, gs, 1E-3)", RuntimeError, "returned nan at stroke 0"),
    ("spring function that fails", "PUT_SPRING(body, (0,0,0), soft, (30,30,30), lambda s, v: 1 / 0, (-1, 1)); RUN(solfec, gs, 1E-3)", ZeroDivisionError, "division by zero"),
    ("write to a constraint", "FIX_POINT(body, (0, 0, 0)).gap = 1", ValueError, "CONSTRAINT.gap is read-only"),
    ("gravity of two numbers", "GRAVITY(solfec, (0, 0))", ValueError, "'vector' must hold 3 items"),
    ("gravity of strings", "GRAVITY(solfec, (0, 0, 'g'))", TypeError, "'vector[2]' must be a number or a TIME_SERIES object"),
    ("force on an obstacle", "FORCE(floor, 'SPATIAL', (0,0,0), (0,0,1), 1)", ValueError, "obstacle"),
    ("force of an unknown kind", "FORCE(body, 'LOCAL', (0,0,0), (0,0,1), 1)", ValueError, "'kind' must be one of"),
    ("force without direction", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,0), 1)", ValueError, "'direction' must not be zero"),
    ("force by a list", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,1), [1])", TypeError, "'value'"),
    ("series of one point", "TIME_SERIES([0, 1])", ValueError, "'points' must hold"),
    ("series of an odd list", "TIME_SERIES([0, 1, 2])", ValueError, "2 times a number of items"),
    ("series back in time", "TIME_SERIES([0, 1, 2, 3, 1, 4])", ValueError, "times must increase strictly: point 2 is at 1, point 1 at 2"),
    ("series from a missing file", "TIME_SERIES('nowhere.txt')", ValueError, "cannot read the file 'nowhere.txt'"),
    ("series from a bad file", "open('t.txt', 'w').write('0 1\\n1 x\\n'); TIME_SERIES('t.txt')", ValueError, "t.txt:2: two numbers are expected"),
    ("series label used twice", "TIME_SERIES([0, 1, 2, 3], 'a'); TIME_SERIES([0, 1, 2, 3], 'a')", ValueError, "labelled 'a'"),
    ("solver accuracy of zero", "GAUSS_SEIDEL_SOLVER(0, 100)", ValueError, "'epsilon' must be positive"),
    ("solver iterations as a float", "GAUSS_SEIDEL_SOLVER(1E-3, 1E3)", TypeError, "'maxiter' must be an integer, not float"),
    ("unknown diagonal solver", "GAUSS_SEIDEL_SOLVER(1E-3, 100, diagsolver='NEWTON')", ValueError, "'diagsolver' must be one of"),
    ("failure callback missing", "GAUSS_SEIDEL_SOLVER(1E-3, 100, failure='CALLBACK')", ValueError, "'callback'"),
    ("unknown penalty variant", "PENALTY_SOLVER('SEMI')", ValueError, "'variant' must be one of 'IMPLICIT', 'EXPLICIT'"),
    ("duration of zero", "RUN(solfec, gs, 0)", ValueError, "'duration' must be positive"),
    ("duration of zero alone", "RUN(solfec, 0)", ValueError, "'duration' must be positive"),
    ("no duration", "RUN(solfec, gs)", TypeError, "'duration' is missing; give (solfec, solver, duration), or (solfec, duration) for AUTO_SOLVER ()"),
    ("solve is no function", "class Mine: solve = 3\nRUN(solfec, Mine(), 1)", TypeError, "one with a method solve (local), not Mine"),
    ("solver is a number", "RUN(solfec, 1, 1)", TypeError, "'solver' must be a constraint solver object, or one with a method solve (local), not int"),
    ("negative output interval", "OUTPUT(solfec, -1)", ValueError, "'interval' must not be negative"),
    ("compression by a bool", "OUTPUT(solfec, 1, True)", TypeError, "'compression' must be a string"),
    ("callback interval of zero", "CALLBACK(solfec, 0, None, print)", ValueError, "'interval' must be positive"),
    ("callback that cannot be called", "CALLBACK(solfec, 1, None, 'print')", TypeError, "'callback' must be callable, not str"),
    ("extents upside down", "EXTENTS(solfec, (0, 0, 0, 1, 1, -1))", ValueError, "lower corner"),
    ("penetration depth of zero", "UNPHYSICAL_PENETRATION(solfec, 0)", ValueError, "'depth' must be positive"),
    ("geometric epsilon of zero", "GEOMETRIC_EPSILON(0)", ValueError, "'epsilon' must be positive"),
    ("warnings neither on nor off", "WARNINGS('YES')", ValueError, "'state' must be one of 'ON', 'OFF'"),
    ("threshold above one", "CONTACT_SPARSIFY(solfec, 2)", ValueError, "'threshold' must lie in [0, 1]"),
    ("exclusion across models", "CONTACT_EXCLUDE_BODIES(body, far)", ValueError, "different SOLFEC objects"),
    ("exclusion of parts across models", "CONTACT_EXCLUDE_OBJECTS(body, (0,0,0), far, (0,0,0))", ValueError, "different SOLFEC objects"),
    ("exclusion of a part that is not there", "CONTACT_EXCLUDE_OBJECTS(body, (0,0,0), floor, (0,0,9))", ValueError, "'point2'"),
    ("exclusion of a part from itself", "CONTACT_EXCLUDE_OBJECTS(body, (0,0,0), body, (0,0,1))", ValueError, "one part of the body"),
    ("exclusion of an inner element", "CONTACT_EXCLUDE_OBJECTS(BODY(solfec, 'RIGID', HEX(cube, 3, 3, 3, 1, [1]*6), bulk), (.5,.5,.5), "
     "body, (0,0,0))", ValueError, "'point1' must be in an element with a free face"),
    ("unknown kind by label", "BYLABEL(solfec, 'SHAPE', 'a')", ValueError, "'kind' must be one of"),
    ("history of an unknown entity", "HISTORY(solfec, [(body, (0,0,0), 'QX')], 0, 1)", ValueError, "QX"),
    ("history back in time", "HISTORY(solfec, ['STEP'], 1, 0)", ValueError, "t0"),
    ("seek by a string", "SEEK(solfec, 'end')", TypeError, "'time' must be a number, not str"),
    ("forward by a float", "FORWARD(solfec, 1.0)", TypeError, "'steps' must be an integer"),
    ("displacement of a shape", "DISPLACEMENT(ball, (0, 0, 0))", TypeError, "'body' must be a BODY object, not SPHERE"),
    ("energy of a string", "ENERGY(solfec, 'used')", TypeError, "'object'"),
    ("unknown timing", "TIMING(solfec, 'LUNCH')", ValueError, "'kind' must be one of"),
    ("a picture of no bodies", "RENDER(solfec, [])", ValueError, "'object' is an empty list"),
    ("a picture of a shape", "RENDER(solfec, used)", TypeError, "'object' must be a BODY object or a list"),
    ("a split of a sphere", "RT_SPLIT(body, [[0, 1, 2]])", ValueError, "is not a single MESH"),
    ("a split along no face", "RT_SPLIT(BODY(solfec, 'RIGID', HEX(cube, 1, 1, 2, 1, [1]*6), bulk), [[0, 1, 2, 3]])", ValueError, "no face between two elements"),
    ("a crack in a rigid body", "SIMPLIFIED_CRACK(body, (0,0,0), (0,0,1), (1,2), 'TENSILE')", ValueError, "is rigid; give 'average', the time over which"),
    ("a crack that misses", "SIMPLIFIED_CRACK(BODY(solfec, 'PSEUDO_RIGID', HEX(cube, 1, 1, 2, 1, [1]*6), bulk), (0,0,9), (0,0,1), (1,2), 'TENSILE')", ValueError, "misses the shape"),
    ("a crack by another criterion", "SIMPLIFIED_CRACK(BODY(solfec, 'PSEUDO_RIGID', HEX(cube, 1, 1, 2, 1, [1]*6), bulk), (0,0,.5), (0,0,1), (1,2), 'MOHR')", ValueError, "'criterion' must be one of 'TENSILE'"),
    ("a reduced form without base", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO')", ValueError, "form 'BC-RO' needs a 'base'"),
    ("base that is not registered", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base='it')", ValueError, "no base is registered as 'it' (registered: none)"),
    ("base that is a number", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base=5)", TypeError, "'base' must be a tuple (values, vectors)"),
    ("base of three lists", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base=([0], [1], [2]))", TypeError, "'base' must be a tuple (values, vectors)"),
    ("base of another mesh", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base=([0], [1.0] * 30))", ValueError, "hold 30 numbers; the mesh has 8 nodes, which makes 24"),
    ("base cut short", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base=([0, 0], [1.0] * 47))", ValueError, "do not make 2 vectors"),
    ("base with NaN", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base=([0], [1.0] * 23 + [nan]))", ValueError, "item 23 is nan"),
    ("base of dependent vectors", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-RO', base=([0] * 2, [24**-0.5] * 48))", ValueError, "product of vectors 0 and 1 is 1; vectors must be orthonormal"),
    ("modes that are too few", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-MODAL', base=([0] * 2, [1.0] * 48))", ValueError, "needs the six rigid motions"),
    ("modes without mass", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-MODAL', base=([0] * 6, [1.0] * 144))", ValueError, "in the norm of the body's mass matrix"),
    ("modes that are not rigid", "BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-MODAL', base=([0]*6, [float(i == 25*j) / 125**0.5 for j in range(6) for i in range(24*j, 24*j+24)]))",
     ValueError, "vector 0 is no rigid motion of this mesh"),
    ("modes of another material", "b = BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC'); v, e = MODAL_ANALYSIS(b, 8); BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-MODAL', base=([2 * x for x in v], e))",
     ValueError, "was the base made for another body?"),
    ("modes with a negative eigenvalue", "b = BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC'); v, e = MODAL_ANALYSIS(b, 8); BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk, form='BC-MODAL', base=(v[:7] + [-1.0], e))",
     ValueError, "eigenvalue 7 is -1; those after the sixth must be positive"),
    ("base registered as a label", "REGISTER_BASE(solfec, 'one', 'two')", TypeError, "'base' must be a tuple"),
    ("modes of a rigid body", "MODAL_ANALYSIS(body, 5, 'modes')", ValueError, "'body' 1 is of kind RIGID; only finite element bodies"),
    ("modes of nothing", "MODAL_ANALYSIS()", TypeError, "'body' and 'num' are needed, or a 'path' to read from"),
    ("modes without number", "MODAL_ANALYSIS(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk))", TypeError, "'num' is needed"),
    ("no modes", "MODAL_ANALYSIS(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk), 0)", ValueError, "'num' must be at least 1"),
    ("more modes than unknowns", "MODAL_ANALYSIS(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk), 25)", ValueError, "the body has 24 degrees of freedom only"),
    ("modes from a file that is not there", "MODAL_ANALYSIS(path='none')", ValueError, "there is no file 'none.h5' to read from"),
    ("rigid displacements of a sphere", "RIGID_DISPLACEMENTS(body)", ValueError, "only finite element bodies have nodes and matrices"),
    ("matrices nowhere", "BODY_MM_EXPORT(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk), 'input.py/M', 'K')", ValueError, "'pathM': 'input.py/M' cannot be written: Not a directory"),
    ("snapshots of a rigid body", "COROTATED_DISPLACEMENTS(solfec, body)", ValueError, "body 1 is of kind RIGID, not FINITE_ELEMENT"),
    ("snapshots of nobody", "COROTATED_DISPLACEMENTS(solfec, ['none.*'])", ValueError, "'subset[0]' selects no body: 'none.*'"),
    ("snapshots of an empty list", "COROTATED_DISPLACEMENTS(solfec, [])", ValueError, "'subset' must not be empty"),
    ("snapshots by a broken expression", "COROTATED_DISPLACEMENTS(solfec, '\\\\(')", ValueError, "is no regular expression"),
    ("snapshots of a body that is gone", "COROTATED_DISPLACEMENTS(solfec, gone)", ValueError, "does not exist (any more)"),
    ("snapshots of a number that is nobody", "COROTATED_DISPLACEMENTS(solfec, 99)", ValueError, "there is no body 99"),
    ("snapshots of another model", "COROTATED_DISPLACEMENTS(solfec, far)", ValueError, "belongs to another SOLFEC object"),
    ("snapshots of meshes that differ", "COROTATED_DISPLACEMENTS(solfec, [HEXES(1), HEXES(2)])", ValueError, "body 7 has 12 nodes, body 6 has 8"),
    ("snapshots at no interval", "COROTATED_DISPLACEMENTS(solfec, HEXES(1), 0)", ValueError, "'sampling' must be positive"),
    ("snapshots at a bad flag", "FORWARD(solfec, 1, True)", TypeError, "'corotated_displacements' must be a string"),
    ("no snapshots", "POD_BASE(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk), [])", ValueError, "'snapshots' must hold at least one displacement"),
    ("snapshot of another mesh", "POD_BASE(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk), [[0.0] * 21])", ValueError, "'snapshots[0]' must hold 3 numbers for each of the body's 8 nodes"),
    ("more vectors than snapshots hold", "POD_BASE(BODY(solfec, 'FINITE_ELEMENT', HEX(cube, 1, 1, 1, 1, [1]*6), bulk), [[1.0] * 24], num=8)", ValueError, "rigid motions and snapshots span 6 only"),
    ("a plain mistake", "undefined_name + 1", NameError, "name 'undefined_name' is not defined"),
    ("division by zero", "1 / 0", ZeroDivisionError, "division by zero"),
]  # fmt: skip


@pytest.mark.parametrize("line, kind, words", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_error_names_file_line_and_cause(run, line, kind, words):
    text = textwrap.dedent(MODEL) + line + "\nprint('not reached')\n"
    number = text.count("\n") - 1
    outcome = run(text)
    first, _, rest = outcome.err.partition("\n")
    assert first.startswith(f"input.py:{number}: "), outcome.err
    assert words in first
    standard = {NotImplementedError: "", RuntimeError: ""}.get(kind, kind.__name__)
    assert standard in first
    assert "Traceback" not in outcome.err and "solfec/" not in outcome.err.replace("out/", "")
    assert outcome.status == 1
    assert "not reached" not in outcome.out


@pytest.mark.parametrize("kind, line", [(kind, line) for _, line, kind, _ in CASES[::7]])
def test_scripts_can_catch_errors_by_standard_types(good, kind, line):
    text = textwrap.dedent(MODEL) + f"try:\n    {line}\nexcept {kind.__name__}:\n    print('caught')\n"
    assert "caught" in good(text)


def test_missing_input_file_is_named_with_status_two(run):
    outcome = run(None, path="nowhere.py")
    assert outcome.status == 2
    assert "nowhere.py" in outcome.err and "usage:" in outcome.err


def test_syntax_error_has_its_line(run):
    outcome = run("a = 1\nb = = 2\n")
    assert outcome.status == 1
    assert outcome.err.startswith("input.py:2: SyntaxError: invalid syntax")


def test_error_in_an_imported_module_names_the_module_and_the_way_there(run, tmp_path):
    (tmp_path / "helper.py").write_text("from solfec import *\n\ndef bad():\n    return SPHERE((0, 0, 0), -1, 1, 1)\n")
    outcome = run("import helper\n\nhelper.bad()\n")
    assert outcome.status == 1
    assert outcome.err.splitlines()[0].endswith("helper.py:4: ValueError: SPHERE: 'radius' must be positive, not -1")
    assert "called from input.py:3" in outcome.err


def test_a_function_that_calls_itself_without_end_fills_no_pages(run):
    outcome = run("def deeper(depth):\n    return deeper(depth + 1)\n\ndeeper(0)\n")
    assert outcome.status == 1
    lines = outcome.err.splitlines()
    assert lines[0].startswith("input.py:2: RecursionError")
    assert len(lines) < 10 and "called from input.py:2, in deeper, 9" in outcome.err


def test_a_failing_body_leaves_the_users_shape_alone(good):
    text = """
        solfec = SOLFEC('DYNAMIC', 1E-3, 'out/keep')
        ball = SPHERE((0, 0, 0), 1, 1, 1)
        for arguments in (('RIGID', ball, 'nothing'), ('WRONG', ball, BULK_MATERIAL(solfec)),
                          ('RIGID', [ball, 3], BULK_MATERIAL(solfec))):
            try:
                BODY(solfec, *arguments)
            except (TypeError, ValueError):
                print(ball.radius)
    """
    assert good(text).split() == ["1.0"] * 3


RUNNING = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/running')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec)
    body = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), bulk)
    GRAVITY(solfec, (0, 0, -10))
    def late(t, value):
        return value if t > 0.003 else (0,) * 9
"""
FAILURES = [
    ("exception in a callback", "def fail():\n    if solfec.time > 0.0035: raise KeyError('mine')  # here\nCALLBACK(solfec, 1E-3, (), fail)", "KeyError: 'mine'"),
    ("callback with other arguments", "def fail(a, b):\n    pass\ndef later():\n    if solfec.time > 0.0025: CALLBACK(solfec, 1E-3, 1, fail)\nCALLBACK(solfec, 1E-3, (), later)", "TypeError"),
    ("exception in a force callback", "def fail(q, u, t, h):\n    if t > 0.003: raise KeyError('mine')  # here\n    return (0,) * 9\nFORCE(body, 'SPATIAL', (0,0,0), (0,0,1), fail)", "KeyError: 'mine'"),
    ("NaN from a force callback", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,1), lambda q, u, t, h: late(t, (0,) * 8 + (float('nan'),)))", "body 1 at time 0.0035"),
    ("three numbers from a force callback", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,1), lambda q, u, t, h: late(t, (1, 2, 3)))", "9 numbers are expected"),
    ("a string from a force callback", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,1), lambda q, u, t, h: late(t, 'push'))", "9 numbers is expected"),
    ("nothing from a force callback", "FORCE(body, 'SPATIAL', (0,0,0), (0,0,1), lambda q, u, t, h: late(t, None))", "9 numbers is expected"),
]  # fmt: skip


@pytest.mark.parametrize("lines, words", [case[1:] for case in FAILURES], ids=[case[0] for case in FAILURES])
def test_failure_during_a_run_leaves_the_results_so_far(run, good, lines, words):
    text = textwrap.dedent(RUNNING) + lines + "\nRUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.01)\n"
    here = next((i for i, line in enumerate(text.splitlines(), 1) if "# here" in line or "RUN(" in line), None)
    outcome = run(text)
    assert outcome.status == 1
    assert outcome.err.startswith(f"input.py:{here}: "), outcome.err
    assert words in outcome.err
    after = "\nt0, t1 = DURATION(solfec)\nSEEK(solfec, t1)\nprint(solfec.mode, round(1000 * t1), DISPLACEMENT(body, (0, 0, 0))[2] < 0)\n"
    mode, last, fell = good(text + after).split()
    assert mode == "READ" and int(last) >= 3 and fell == "True"
