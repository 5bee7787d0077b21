!> Samples of histories.
module histories
  use kinds, only: dp, i4
  use state_tables, only: model_tables
  use kind_numbers, only: quantity_time, quantity_position, quantity_displacement, quantity_velocity, quantity_spin, &
                          quantity_force, quantity_torque, quantity_link_length, quantity_link_stroke, quantity_link_total, &
                          quantity_link_elastic, quantity_link_friction, quantity_link_status, quantity_torsion_z, &
                          quantity_torsion_x, quantity_torsion_angle, quantity_torsion_total, quantity_torsion_elastic
  use matrix3, only: cross
  use torsion_springs, only: torsion_axes
  implicit none
  private
  public :: sample

contains

  !> Computes the present values of all probes.
  subroutine sample(model, values)
    type(model_tables), intent(in) :: model
    real(dp), intent(inout) :: values(0:)
    integer(i4) :: k, probe
    real(dp) :: total

    do probe = 0, int(model%probes%rows, i4) - 1
      if (model%probes%quantity(probe) == quantity_time) then
        values(probe) = model%control%time(0)
        cycle
      end if
      total = 0
      do k = model%probes%first(probe), model%probes%first(probe) + model%probes%size(probe) - 1
        total = total + value_of(model, probe, model%sources%number(k))
      end do
      values(probe) = total/model%probes%size(probe)
    end do
  end subroutine sample

  !> Quantity of a probe, of one particle, spring or joint.
  real(dp) function value_of(model, probe, number) result(value)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: probe, number
    real(dp) :: vector(3)

    vector = 0
    associate (links => model%links)
      select case (model%probes%quantity(probe))
      case (quantity_link_length)
        value = links%length(number)
      case (quantity_link_stroke)
        value = links%stroke(number)
      case (quantity_link_total)
        value = links%total(number)
      case (quantity_link_elastic)
        value = links%elastic(number)
      case (quantity_link_friction)
        value = links%friction(number)
      case (quantity_link_status)
        value = links%status(number)
      case default
        vector = vector_of(model, model%probes%quantity(probe), number, model%probes%arm(:,probe))
        if (model%probes%component(probe) < 3) then
          value = vector(1 + model%probes%component(probe))
        else
          value = norm2(vector)
        end if
      end select
    end associate
  end function value_of

  !> Vector of a particle; position, displacement and velocity at a point.
  function vector_of(model, quantity, p, arm) result(vector)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: quantity, p
    real(dp), intent(in) :: arm(3)                !< of the point from the mass centre, referential
    real(dp) :: vector(3), turned(3)

    vector = 0
    if (quantity >= quantity_torsion_z) then
      vector = vector_of_joint(model, quantity, p)
      return
    end if
    associate (particles => model%particles)
      turned = matmul(particles%rotation(:,:,p), arm)
      select case (quantity)
      case (quantity_position)
        vector = particles%position(:,p) + turned
      case (quantity_displacement)
        vector = (particles%position(:,p) - particles%reference(:,p)) + (turned - arm)
      case (quantity_velocity)
        vector = particles%velocity(:,p) + cross(particles%spin(:,p), turned)
      case (quantity_spin)
        vector = particles%spin(:,p)
      case (quantity_force)
        vector = particles%force(:,p)
      case (quantity_torque)
        vector = particles%torque(:,p)
      case default
        vector = 0
      end select
    end associate
  end function vector_of

  !> Vector of a torsion spring or ball joint.
  function vector_of_joint(model, quantity, number) result(vector)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: quantity, number
    real(dp) :: vector(3), axes(3,3)

    select case (quantity)
    case (quantity_torsion_z)
      axes = torsion_axes(model, number)
      vector = axes(:,3)
    case (quantity_torsion_x)
      axes = torsion_axes(model, number)
      vector = axes(:,1)
    case (quantity_torsion_angle)
      vector = model%torsions%angle(:,number)
    case (quantity_torsion_total)
      vector = model%torsions%total(:,number)
    case (quantity_torsion_elastic)
      vector = model%torsions%elastic(:,number)
    case default
      vector = model%joints%reaction(:,number)
    end select
  end function vector_of_joint
end module histories
