"""Cases with results that follow by hand, and the tests that hold them: each case has a test that exists."""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CASES = {  # what the case is about: file and test
    "free fall: positions -g h^2 n (n + 1)/2": "test_particles.py test_free_fall_is_the_leapfrog_parabola",
    "oscillator: discrete frequency": "test_parmec_springs.py test_the_frequency_of_an_oscillator_is_that_of_the_scheme",
    "oscillator: stable below 2/omega": "test_parmec_springs.py test_an_undamped_oscillator_is_stable_below_two_over_omega",
    "damped oscillator: logarithmic decrement; anywhere in space": "test_parmec_springs.py test_the_logarithmic_decrement_is_that_of_the_damping_ratio_anywhere",
    "two bodies: reduced mass, momentum": "test_parmec_springs.py test_two_bodies_swing_with_their_reduced_mass_and_keep_their_momentum",
    "spring at a lever arm; EQM": "test_parmec_springs.py test_a_lever_arm_adds_the_inertia_to_the_mass",
    "bounce on a unilateral plane": "test_parmec_springs.py test_a_unilateral_plane_returns_the_energy_of_a_drop",
    "dashpot off at zero force": "test_parmec_springs.py test_a_dashpot_is_off_where_the_spring_has_no_force",
    "Coulomb friction stops": "test_parmec_springs.py test_coulomb_friction_stops_a_slider",
    "tangential spring sticks": "test_parmec_springs.py test_a_sticking_spring_yields_by_the_pull_over_its_stiffness",
    "torsion about each axis": "test_joints.py test_torsion_springs_swing_with_the_inertia_about_their_axis",
    "torsion table of the wrong sign": "test_joints.py test_a_torsion_table_of_positive_slope_diverges",
    "cone": "test_joints.py test_a_cone_keeps_its_direction_and_is_free_within",
    "tables beyond their ends": "test_parmec_springs.py test_tables_of_springs_go_on_beyond_their_ends_and_series_do_not",
    "cycle of loading and unloading": "test_parmec_springs.py test_a_yielded_spring_unloads_along_its_unloading_curve",
    "UNSPRING": "test_joints.py test_a_spring_lets_go_at_its_limit_and_another_one_catches",
    "pendulum on a ball joint": "test_joints.py test_a_pendulum_on_a_ball_joint_keeps_its_energy_and_its_point",
    "prescribed acceleration": "test_particles.py test_a_prescribed_acceleration_is_the_acceleration",
    "prescribed velocity: one step later": "test_particles.py test_prescribed_velocities_move_bodies_one_step_later",
    "restraint": "test_particles.py test_restrained_directions_leave_the_others_alone",
    "restitution of two spheres": "test_granular.py test_two_spheres_part_with_the_restitution_of_their_damping",
    "from sliding to rolling": "test_granular.py test_a_sliding_sphere_ends_up_rolling",
    "free top: invariants": "test_particles.py test_a_free_top_keeps_energy_and_angular_momentum",
    "free top: accurate solution": "test_particles.py test_a_free_top_converges_with_second_order",
    "gravity by a series": "test_particles.py test_functions_and_series_of_time_do_the_same",
    "labels of samples": "test_reference_numbers.py test_samples_keep_parmecs_times",
    "hybrid: cube on a spring, any substeps": "../coupling/test_hybrid_solver.py test_a_cube_on_a_spring_swings_under_its_weight_however_many_substeps",
    "hybrid: torsion": "../coupling/test_hybrid_solver.py test_a_torsion_spring_turns_a_cube",
    "hybrid: free chain": "../coupling/test_hybrid_solver.py test_a_particle_that_hangs_on_a_falling_cube_falls_with_it",
    "hybrid: who applies gravity": "../coupling/test_hybrid_solver.py test_gravity_of_a_shared_body_is_that_of_the_explicit_model",
    "hybrid: boundary contacts": "../coupling/test_hybrid_solver.py test_shared_bodies_touch_one_another_only_when_asked_and_others_always",
    "hybrid: number of substeps": "../coupling/test_hybrid_solver.py test_explicit_steps_are_the_implicit_one_over_powers_of_two",
    "hybrid: energies of two cubes": "../coupling/test_hybrid_examples.py test_two_cubes_meet_and_swing_as_their_equations_say",
    "laws of colors": "test_granular.py test_every_order_of_colors_finds_its_law",
    "moving obstacle": "test_granular.py test_a_belt_drives_a_sphere_to_two_sevenths_of_its_speed",
    "GRANULAR without friction": "test_granular.py test_without_friction_a_sphere_goes_on_sliding",
    "CRITICAL with nothing attached": "test_estimates.py test_nothing_limits_a_free_particle_and_dem_refuses_an_infinite_step",
}


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_its_test(case):
    file, name = CASES[case].split()
    tests = [item for item in ast.parse((HERE / file).read_text()).body if isinstance(item, ast.FunctionDef) and item.name == name]
    assert len(tests) == 1
    assert not tests[0].decorator_list or "skip" not in ast.dump(tests[0])
