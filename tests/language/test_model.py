"""SOLFEC, materials, bodies, constraints, loads and time series: members and rules."""

from __future__ import annotations

import math

import numpy as np
import pytest
from unit_cube import CUBE

import solfec as s
from solfec.errors import SolfecWarning

ANY = 2**31 - 1
CUBE_NODES = [tuple(map(float, CUBE[k : k + 3])) for k in range(0, 24, 3)]


@pytest.fixture
def model(new_model):
    """A SOLFEC object in a session of its own."""
    return new_model()


@pytest.fixture
def bulk(model):
    return s.BULK_MATERIAL(model, density=1000.0)


def ball(model, bulk, at=0.0, kind="RIGID", label=None):
    return s.BODY(model, kind, s.SPHERE((at, 0, 0), 1, 1, 1), bulk, label)


# --- SOLFEC ------------------------------------------------------------------------------------------------


def test_solfec_members(model, bulk, tmp_path):
    assert (model.analysis, model.mode, model.time, model.step) == ("DYNAMIC", "WRITE", 0.0, 1e-3)
    assert (model.nbod, model.ncon, model.bodies, model.constraints) == (0, 0, [], [])
    assert model.outpath == str(tmp_path / "out0")
    model.step = 2e-3
    assert model.step == 2e-3
    for value, read in (("ON", "ON"), ("%", "%"), ("%\n", "%"), ("OFF", "OFF")):
        model.verbose = value
        assert model.verbose == read
    assert model.cleanup == "OFF"


def test_lists_of_bodies_and_constraints_have_the_newest_first(model, bulk):
    one, two = ball(model, bulk), ball(model, bulk, 5)
    first, second = s.FIX_POINT(one, (0, 0, 0)), s.FIX_POINT(two, (5, 0, 0))
    assert model.bodies == [two, one] and model.nbod == 2
    assert model.constraints == [second, first] and model.ncon == 2
    assert [body.id for body in model.bodies] == [2, 1]


def test_handles_are_equal_by_solfec_and_identifier(model, bulk, tmp_path):
    one = ball(model, bulk)
    other = s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "other"))
    twin = s.BODY(other, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), s.BULK_MATERIAL(other))
    assert one.id == twin.id and one != twin
    assert {one: 3}[model.bodies[0]] == 3
    assert model.bodies[0] in [one]
    assert one != 1


def test_handles_stay_keys_of_a_dict_when_they_go_over_to_another_body(model, bulk):
    one, other = s.BODY(model, "RIGID", s.BOX((0, 0, 0), (2, 1, 1), divisions=(2, 1, 1)), bulk, "one"), ball(model, bulk, 5)
    twin = s.BYLABEL(model, "BODY", "one")
    notes = {one: "mine", other: "its"}
    for kind in ("PSEUDO_RIGID", "FINITE_ELEMENT"):
        s.BODY_SWITCH(one, kind)
        assert one == twin == s.BYLABEL(model, "BODY", "one") != other
        assert notes[one] == notes[twin] == notes[s.BYLABEL(model, "BODY", "one")] == "mine" and notes[other] == "its"
    cut = one.mesh.inter_element_faces()
    part, _, _ = s.RT_SPLIT(one, cut)
    assert notes[one] == "mine" and part != one == twin and part not in notes


def test_a_quasi_static_analysis_has_one_way_to_move_deformable_bodies(tmp_path):
    static = s.SOLFEC("QUASI_STATIC", 1e-3, str(tmp_path / "static"))
    assert static.analysis == "QUASI_STATIC" and "QUASI_STATIC" in repr(static)
    soft = ball(static, s.BULK_MATERIAL(static), kind="PSEUDO_RIGID")
    assert soft.scheme == "DEF_LIM"
    soft.scheme = "DEFAULT"
    with pytest.warns(SolfecWarning, match="'DEF_EXP' is ignored"):
        soft.scheme = "DEF_EXP"
    assert soft.scheme == "DEF_LIM"
    obstacle = ball(static, s.BULK_MATERIAL(static), at=5.0, kind="OBSTACLE")
    with pytest.raises(ValueError, match="an obstacle cannot be moved in a quasi-static analysis"):
        s.SET_VELOCITY(obstacle, (5, 0, 0), (1, 0, 0), 1.0)


# --- materials ---------------------------------------------------------------------------------------------


def test_bulk_material_defaults_and_labels(model):
    first, second = s.BULK_MATERIAL(model), s.BULK_MATERIAL(model, "KIRCHHOFF", "mine", 2e9, 0.3, 2e3)
    assert (first.label, first.model, first.young, first.poisson, first.density) == ("BULK_MATERIAL_0", "KIRCHHOFF", 1e9, 0.25, 1e3)
    assert (second.young, second.poisson, second.density) == (2e9, 0.3, 2e3)
    assert s.BYLABEL(model, "BULK_MATERIAL", "mine") == second
    assert s.BULK_MATERIAL(model, label="mine", young=5.0) == second and second.young == 5.0
    assert s.BULK_MATERIAL(model, tensile=math.inf, fracene=3).label == "BULK_MATERIAL_2"


def test_elastic_constants_set_later_reach_the_bodies(model, bulk):
    body = ball(model, bulk, kind="PSEUDO_RIGID")
    bulk.young = 2.5e9
    lame = model._simulation.domain.bodies.lame[:, 0]
    assert lame[1] == pytest.approx(2.5e9 / 2.5)
    bulk.density = 1.0
    assert body.mass == pytest.approx(4000 / 3 * math.pi)


def test_surface_material_of_a_pair_of_one_surface_and_of_all_others(model):
    pair = s.SURFACE_MATERIAL(model, surf1=3, surf2=1, friction=0.5)
    one = s.SURFACE_MATERIAL(model, 2, label="two", restitution=0.25)
    rest = s.SURFACE_MATERIAL(model, model="SPRING_DASHPOT", spring=1e5, dashpot=-1, hpow=1.5)
    assert ({pair.surf1, pair.surf2}, pair.friction, pair.label) == ({1, 3}, 0.5, "SURFACE_MATERIAL_1")
    assert (one.surf1, one.surf2, one.label, one.restitution) == (2, ANY, "two", 0.25)
    assert (rest.surf1, rest.surf2, rest.label, rest.model) == (ANY, ANY, "DEFAULT", "SPRING_DASHPOT")
    assert (rest.spring, rest.dashpot, rest.hpow) == (1e5, -1.0, 1.5)
    again = s.SURFACE_MATERIAL(model, surf1=1, surf2=3, friction=0.1)
    assert again == pair and pair.friction == 0.1
    pair.friction, pair.dashpot, pair.model = 0.7, -2, "SPRING_DASHPOT"
    assert (again.friction, again.dashpot, again.model) == (0.7, -2.0, "SPRING_DASHPOT")
    assert s.BYLABEL(model, "SURFACE_MATERIAL", "two") == one
    assert s.BYLABEL(model, "SURFACE_MATERIAL", "three") is None


def test_cohesive_material_has_strengths_and_energies_or_is_refused(model):
    bond = s.SURFACE_MATERIAL(model, 1, 2, model="COHESIVE", ft=1e5, Gf=100.0, friction=0.6)
    assert (bond.ft, bond.fs, bond.Gf, bond.Gs, bond.friction) == (1e5, 1e5, 100.0, 100.0, 0.6)
    assert s.SURFACE_MATERIAL(model, 1, 2, model="COHESIVE", ft=1e5, fs=5e4, Gf=100.0, Gs=150.0).Gs == 150.0
    plain = s.SURFACE_MATERIAL(model, friction=0.1)
    assert plain.ft == plain.Gf == 0.0
    for arguments, complaint in (
        ({"model": "COHESIVE", "ft": 1e5}, "model 'COHESIVE' needs 'Gf'"),
        ({"model": "COHESIVE", "Gf": 1.0}, "model 'COHESIVE' needs 'ft'"),
        ({"model": "COHESIVE", "ft": 1e6, "Gf": 100.0, "spring": 1e6}, "'spring' of a bond of ft = 1e\\+06 and Gf = 100 must be at least 5e\\+10"),
        ({"model": "COHESIVE", "ft": 0.0, "Gf": 1.0}, "'ft'.* positive"),
        ({"model": "COHESIVE", "ft": 1.0, "Gf": 1.0, "cohesion": 2.0}, "its normal strength is 'ft'"),
        ({"ft": 1.0}, "'ft' is for model 'COHESIVE'"),
    ):
        with pytest.raises(ValueError, match=complaint):
            s.SURFACE_MATERIAL(model, 5, 6, **arguments)
    with pytest.raises(ValueError, match="without strengths and energies"):
        plain.model = "COHESIVE"
    with pytest.raises(ValueError, match="'cohesion' is not for model 'COHESIVE'"):
        bond.cohesion = 1.0


def test_setters_refuse_by_both_classic_errors(model):
    material = s.SURFACE_MATERIAL(model)
    for kind in (ValueError, TypeError):
        with pytest.raises(kind, match="SURFACE_MATERIAL.friction"):
            material.friction = -1


# --- bodies ------------------------------------------------------------------------------------------------


def test_body_members_of_a_rigid_sphere(model, bulk):
    body = ball(model, bulk, 2.0, label="ball")
    volume = 4 / 3 * math.pi
    assert (body.id, body.kind, body.label, body.material) == (1, "RIGID", "ball", bulk)
    assert body.volume == pytest.approx(volume) and body.mass == pytest.approx(1e3 * volume)
    assert body.center == (2.0, 0.0, 0.0)
    assert body.tensor == pytest.approx(tuple(0.4e3 * volume * np.eye(3).ravel()), abs=1e-9)
    assert body.conf == (1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0)
    assert body.velo == (0.0,) * 6
    assert (body.scheme, body.damping, body.ncon, body.constraints) == ("RIG_NEG", 0.0, 0, [])
    assert (body.selfcontact, body.fracturecheck, body.disable_rotation, body.display_points) == ("OFF", "OFF", "OFF", [])


def test_body_without_label_has_an_empty_one(model, bulk):
    assert ball(model, bulk).label == ""


def test_body_takes_a_material_by_label_and_a_list_of_shapes(model):
    s.BULK_MATERIAL(model, label="stone", density=1.0)
    body = s.BODY(model, "RIGID", [s.HULL(CUBE, 1, 1), s.SPHERE((5, 0, 0), 1, 1, 1)], "stone")
    assert body.material.label == "stone"
    assert body.mass == pytest.approx(1 + 4 / 3 * math.pi)


def test_bodies_count_up_and_empty_their_shapes(model, bulk):
    shape = s.SPHERE((0, 0, 0), 1, 1, 1)
    assert s.BODY(model, "RIGID", shape, bulk).id == 1
    with pytest.raises(TypeError, match="non-empty"):
        s.BODY(model, "RIGID", shape, bulk)
    assert ball(model, bulk).id == 2


def test_configuration_and_velocity_are_read_and_written(model, bulk):
    body = ball(model, bulk)
    turned = (0, 1, 0, -1, 0, 0, 0, 0, 1, 5, 6, 7)
    body.conf = turned
    assert body.conf == turned
    body.velo = np.arange(6.0)
    assert body.velo == (0, 1, 2, 3, 4, 5)
    soft = ball(model, bulk, 9, "PSEUDO_RIGID")
    assert soft.conf == (1, 0, 0, 0, 1, 0, 0, 0, 1, 9, 0, 0)
    assert len(soft.velo) == 12


def test_schemes_follow_the_kind(model, bulk):
    body, soft = ball(model, bulk), ball(model, bulk, 5, "PSEUDO_RIGID")
    for scheme in ("RIG_POS", "RIG_IMP", "RIG_NEG"):
        body.scheme = scheme
        assert body.scheme == scheme
    body.scheme = "DEFAULT"
    assert body.scheme == "RIG_NEG" and soft.scheme == "DEF_EXP"
    with pytest.raises(ValueError):
        soft.scheme = "RIG_NEG"
    soft.scheme = "DEF_LIM"
    assert soft.scheme == "DEF_LIM"


def test_finite_elements_stretched_by_a_force_have_the_stress_that_it_makes(model, bulk):
    area, pull = 1.0, 1e4
    body = s.BODY(model, "FINITE_ELEMENT", s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk, form="BC")
    body.scheme, body.damping = "DEF_LIM", 1e-2
    low = [node for node in CUBE_NODES if node[2] == min(n[2] for n in CUBE_NODES)]
    for node in CUBE_NODES:
        if node in low:
            s.FIX_POINT(body, node)
        else:
            s.FORCE(body, "SPATIAL", node, (0, 0, 1), pull * area / 4)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-9, 1000), 0.2)
    centre = tuple(np.mean(CUBE_NODES, axis=0))
    assert s.STRESS(body, centre)[2] == pytest.approx(pull, rel=1e-3)
    assert s.DISPLACEMENT(body, CUBE_NODES[-1])[2] > 0
    assert len(body.conf) == len(body.velo) == 24


def test_shapes_inside_meshes_must_be_convex(model, bulk):
    mesh = s.HEX(CUBE, 1, 1, 1, 1, [1] * 6)
    with pytest.raises(TypeError):
        s.BODY(model, "FINITE_ELEMENT", [mesh], bulk)
    with pytest.raises(TypeError, match="'shape' inside a 'mesh' must be made of CONVEX objects only"):
        s.BODY(model, "FINITE_ELEMENT", mesh, bulk, mesh=mesh)
    assert mesh.nnod == 8
    part = s.HULL([(0.2 * x, 0.2 * y, 0.4 * z) for x, y, z in CUBE_NODES], 1, 1)
    body = s.BODY(model, "FINITE_ELEMENT", part, bulk, mesh=mesh)
    assert body.mass == pytest.approx(1000 * 0.016) and body.mesh.nnod == mesh.nnod == 8
    with pytest.raises(ValueError, match="is empty"):
        part.vertex(0)
    with pytest.raises(RuntimeError, match="the mesh does not contain the shape"):
        s.BODY(model, "FINITE_ELEMENT", s.HULL([(2 * x, y, z) for x, y, z in CUBE_NODES], 1, 1), bulk, mesh=mesh)


def test_meshes_of_bodies_are_copies_in_their_referential_placement(model, bulk):
    assert ball(model, bulk).mesh is None
    body = s.BODY(model, "FINITE_ELEMENT", s.HEX(CUBE, 2, 1, 1, 1, [1, 2, 3, 4, 5, 6]), bulk)
    body.conf = [0.5] * len(body.conf)
    assert isinstance(body.mesh, s.MESH) and body.mesh.nnod == 12
    assert body.mesh.node(0, 7.0) == (7.0, 0.0, 0.0) and body.mesh.node(0) == (0.0, 0.0, 0.0)
    assert body.mesh.nodes_on_surface(5) == s.HEX(CUBE, 2, 1, 1, 1, [1, 2, 3, 4, 5, 6]).nodes_on_surface(5)
    two = s.BODY(model, "RIGID", [s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), s.HEX(CUBE, 2, 2, 2, 1, [1] * 6)], bulk)
    assert [mesh.nnod for mesh in two.mesh] == [8, 27]


def test_characteristics_and_velocity_are_overwritten(model, bulk):
    body = ball(model, bulk)
    s.BODY_CHARS(body, 2.0, 3.0, (0.5, 0, 0), (1, 0.1, 0, 0.1, 2, 0, 0, 0, 3))
    assert (body.mass, body.volume, body.center) == (2.0, 3.0, (0.5, 0.0, 0.0))
    assert body.tensor == (1, 0.1, 0, 0.1, 2, 0, 0, 0, 3)
    assert body.conf[9:] == (0.5, 0, 0)
    s.INITIAL_VELOCITY(body, (1, 2, 3), (4, 5, 6))
    assert body.velo == (4, 5, 6, 1, 2, 3)
    assert s.MASS_CENTER(body) == (0.5, 0.0, 0.0)


def test_pseudo_rigid_initial_velocity_is_a_spin(model, bulk):
    body = ball(model, bulk, kind="PSEUDO_RIGID")
    s.INITIAL_VELOCITY(body, (1, 2, 3), (0, 0, 2))
    assert body.velo == (0, -2, 0, 2, 0, 0, 0, 0, 0, 1, 2, 3)


def test_duplicate_labels_warn_and_the_first_body_is_found(model, bulk):
    first = ball(model, bulk, label="a")
    with pytest.warns(SolfecWarning, match="'a' is in use"):
        ball(model, bulk, 5, label="a")
    assert s.BYLABEL(model, "BODY", "a") == first
    assert s.BYLABEL(model, "BODY", "b") is None


def test_warnings_can_be_switched_off(model, bulk, recwarn):
    ball(model, bulk, label="a")
    s.WARNINGS("OFF")
    ball(model, bulk, 5, label="a")
    assert not recwarn.list


def test_deleted_bodies_raise_and_take_their_constraints_along(model, bulk):
    one, two = ball(model, bulk), ball(model, bulk, 5)
    point, kept = s.FIX_POINT(one, (0, 0, 0)), s.FIX_POINT(two, (5, 0, 0))
    s.DELETE(model, one)
    assert model.bodies == [two] and model.constraints == [kept]
    assert kept.adjbod == two
    for read in (lambda: one.id, lambda: one.mass, lambda: one.constraints, lambda: one.label, lambda: one.ncon):
        with pytest.raises(ValueError, match="does not exist"):
            read()
    assert point.kind is None
    assert ball(model, bulk).id == 3


# --- constraints -------------------------------------------------------------------------------------------


def test_fixed_point_members(model, bulk):
    body = ball(model, bulk)
    point = s.FIX_POINT(body, (1, 0, 0), strength=5)
    assert (point.kind, point.adjbod, point.point) == ("FIXPNT", body, (1.0, 0.0, 0.0))
    assert point.base == (1, 0, 0, 0, 1, 0, 0, 0, 1)
    assert (point.R, point.U, point.V) == ((0, 0, 0),) * 3
    assert (point.gap, point.area, point.matlab, point.spair) == (0.0, 0.0, None, None)
    assert body.constraints == [point] and body.ncon == 1


def test_rigid_link_has_two_points_and_two_bodies(model, bulk):
    one, two = ball(model, bulk), ball(model, bulk, 5)
    link = s.PUT_RIGID_LINK(one, two, (0, 0, 0), (5, 0, 0))
    assert (link.kind, link.adjbod, link.point) == ("RIGLNK", (one, two), (0, 0, 0, 5, 0, 0))
    assert np.abs(np.array(link.base[6:]) - (-1, 0, 0)).max() < 1e-15
    coupling = s.PUT_RIGID_LINK(one, two, (1, 0, 0), (4, 0, 0))
    assert coupling.kind == "RIGLNK"
    hung = s.PUT_RIGID_LINK(None, two, (5, 0, 9), (5, 0, 1))
    assert hung.adjbod == two and hung.point == (5, 0, 1, 5, 0, 9)
    assert s.PUT_RIGID_LINK(one, None, (0, 0, 1), (0, 0, 1)).kind == "FIXPNT"


def test_members_of_a_constraint_that_is_gone_are_none(model, bulk):
    body = ball(model, bulk)
    point = s.FIX_POINT(body, (0, 0, 0))
    s.DELETE(model, point)
    for name in "R U V gap area merit kind base point adjbod matlab spair".split():
        assert getattr(point, name) is None
    s.DELETE(model, point)
    assert body.constraints == []


# --- loads and settings ------------------------------------------------------------------------------------


def velocity_after_a_step(model, body, cause):
    """Velocity of the body's centre after one step of 1 ms under the load that `cause` sets."""
    cause(body)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 1e-3)
    return body.velo[3:]


@pytest.mark.parametrize("make", [lambda: [0, 0, -8.0], lambda: np.array([0, 0, -8.0]), lambda: [0, 0, s.TIME_SERIES([0, -8, 1, -8])]])
def test_gravity_takes_numbers_arrays_and_series(model, bulk, make):
    body = ball(model, bulk)
    assert velocity_after_a_step(model, body, lambda body: s.GRAVITY(model, make())) == pytest.approx((0, 0, -8e-3), abs=1e-15)


@pytest.mark.parametrize("kind", ["SPATIAL", "CONVECTED"])
@pytest.mark.parametrize("make", [lambda: 5, lambda: s.TIME_SERIES([0, 5, 1, 5])])
def test_forces_take_numbers_and_series(model, bulk, kind, make):
    body = ball(model, bulk)
    velocity = velocity_after_a_step(model, body, lambda body: s.FORCE(body, kind, body.center, (0, 0, 1), make()))
    assert velocity == pytest.approx((0, 0, 5e-3 / body.mass), rel=1e-12)


def test_forces_take_functions_and_their_data(model, bulk):
    body, seen = ball(model, bulk), []

    def push(*given):
        seen.append(given[:2])
        return (0, 0, 5, 0, 0, 0, 0, 0, 0)  # force, spatial torque, referential torque

    velocity = velocity_after_a_step(model, body, lambda body: s.FORCE(body, "SPATIAL", body.center, (0, 0, 1), push, data=(1, 2)))
    assert velocity == pytest.approx((0, 0, 5e-3 / body.mass), rel=1e-12)
    assert set(seen) == {(1, 2)}


def test_direction_that_is_not_a_unit_vector_warns_with_the_factor(model, bulk):
    with pytest.warns(SolfecWarning, match="scale the value by 2"):
        s.FORCE(ball(model, bulk), "SPATIAL", (0, 0, 0), (0, 0, 2), 5)


def test_series_from_lists_pairs_arrays_and_files(tmp_path):
    (tmp_path / "t.txt").write_text("# time value\n0 1\n\n2 3 # here\n5 4\n")
    for points in ([0, 1, 2, 3, 5, 4], [[0, 1], [2, 3], [5, 4]], [(0, 1), (2, 3), (5, 4)], np.array([[0, 1], [2, 3], [5, 4]]), str(tmp_path / "t.txt")):
        series = s.TIME_SERIES(points)
        assert (series.times, series.values) == ([0, 2, 5], [1, 3, 4])
    assert s.TIME_SERIES(str(tmp_path / "t.txt"), cache=2).values == [1, 3, 4]


def test_derivative_and_integral_of_a_series():
    series = s.TIME_SERIES([0, 0, 2, 4])
    assert set(series.derivative.values) == {2.0}
    assert (series.integral.times, series.integral.values) == ([0, 2], [0, 4])


def test_settings_reach_the_model(model, bulk):
    domain = model._simulation.domain
    s.GEOMETRIC_EPSILON(1e-4)
    assert domain.epsilon == 1e-4 and domain.settings.min_distance == 1e-4
    s.CONTACT_SPARSIFY(model, 0.5, minarea=2, mindist=3)
    assert (domain.settings.threshold, domain.settings.min_area, domain.settings.min_distance) == (0.5, 2, 3)
    s.EXTENTS(model, (0, 0, 0, 1, 2, 3))
    assert list(domain.extents) == [0, 0, 0, 1, 2, 3]
    one, two = ball(model, bulk), ball(model, bulk)
    s.CONTACT_EXCLUDE_BODIES(two, one)
    s.CONTACT_EXCLUDE_SURFACES(model, 2, 1)
    assert domain.settings.excluded_bodies.T.tolist() == [[1, 2]]
    assert domain.settings.excluded_surfaces.T.tolist() == [[1, 2]]


def test_serial_answers_about_processes(good):
    assert good("print(RANK(), NCPU(), BARRIER(), VIEWER(), SUBDIR(), NON_SOLFEC_ARGV())").split() == ["0", "1", "True", "False", "None", "None"]


def test_here_is_everywhere(model, bulk):
    assert s.HERE(model, ball(model, bulk)) is True


def test_collections_of_convexes_are_one_shape(model, bulk):
    sides = [4, 0, 3, 2, 1, 1, 4, 4, 5, 6, 7, 1, 4, 0, 1, 5, 4, 1, 4, 1, 2, 6, 5, 1, 4, 2, 3, 7, 6, 1, 4, 3, 0, 4, 7, 1]
    two = s.CONVEX([c + 3 for c in CUBE], sides, 1, s.CONVEX(CUBE, sides, 1))
    assert s.BODY(model, "RIGID", two, bulk).volume == pytest.approx(2.0)


def test_constraints_of_every_kind_show_their_members_and_go_when_deleted(good):
    out = good(
        """
        solfec = SOLFEC('DYNAMIC', 1E-2, 'out/kinds')
        solfec.verbose = 'OFF'
        bulk = BULK_MATERIAL(solfec)
        one, two, three = (BODY(solfec, 'RIGID', SPHERE((x, 0, 0), 0.5, 1, 1), bulk) for x in (0, 5, 10))
        ramp = TIME_SERIES([0, 0, 1, 1])
        base = (0,1,0, -1,0,0, 0,0,1)
        made = [FIX_DIRECTION(one, (0,0,0), (0,0,1)), FIX_DIRECTION(one, (0,0,0), (0,1,0), two, (5,0,0)),
                SET_DISPLACEMENT(two, (5,0,0), (0,0,1), ramp), SET_ACCELERATION(one, (0,0,0), (1,0,0), ramp),
                SET_VELOCITY3(three, (10,0,0), base, (ramp, 2, ramp)),
                PUT_SPRING(two, (5,0,0), three, (10,0,0), [-1,1,1,-1], (-9, 9))]
        RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 100), 1E-2)
        for c in made:
            print(c.kind, isinstance(c.adjbod, tuple), len(c.point), len(c.base), c.area, c.spair, c.matlab, c.residual < 1e-9)
        print(made[4].base == base, [round(u, 9) for u in made[4].U], round(made[2].U[2], 9), made[5].gap < 0)
        print([c.kind for c in two.constraints], two.ncon)
        for c in made:
            DELETE(solfec, c)
        print([c.R for c in made], solfec.constraints)
        """
    )
    assert out.splitlines() == [
        "FIXDIR False 3 9 0.0 None None True",
        "FIXDIR True 3 9 0.0 None None True",
        "VELODIR False 3 9 0.0 None None True",
        "VELODIR False 3 9 0.0 None None True",
        "VELODIR3 False 3 9 0.0 None None True",
        "SPRING True 3 9 0.0 None None True",
        "True [0.01, 2.0, 0.01] 1.0 False",
        "['SPRING', 'VELODIR', 'FIXDIR'] 3",
        "[None, None, None, None, None, None] []",
    ]


def test_a_direction_of_another_length_warns_once_with_the_factor(run):
    outcome = run(
        """
        solfec = SOLFEC('DYNAMIC', 1E-2, 'out/length')
        solfec.verbose = 'OFF'
        ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 0.5, 1, 1), BULK_MATERIAL(solfec))
        for z in (2, 2, 1):
            c = SET_VELOCITY(ball, (0, 0, 0), (0, 0, z), 1)
            RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 100), 1E-2)
            print(ball.velo[5])
            DELETE(solfec, c)
        """
    )
    assert outcome.status == 0
    assert outcome.out.split() == ["1.0"] * 3
    assert outcome.err == (
        "input.py:6: warning: 'direction' has length 2 and is normalised; Solfec-1.0 would scale values along it by 0.5\n"
    )


def test_contradicting_joints_are_named_at_the_line_that_runs_them(run):
    outcome = run(
        """
        solfec = SOLFEC('DYNAMIC', 1E-2, 'out/contradiction')
        solfec.verbose = 'OFF'
        ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 0.5, 1, 1), BULK_MATERIAL(solfec))
        FIX_POINT(ball, (0, 0, 0))
        SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), 1)
        RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 50, failure='EXIT'), 1E-2)
        """
    )
    assert outcome.status == 1
    assert outcome.err.startswith("input.py:7: ")
    assert "constraint 1 (FIXPNT) of body 1 and constraint 2 (VELODIR) of body 1 contradict one another" in outcome.err
