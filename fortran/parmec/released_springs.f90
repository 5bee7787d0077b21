!> Release and activation of springs when forces or strokes leave their limits (UNSPRING).
module released_springs
  use kinds, only: dp, i4, i8
  use state_tables, only: model_tables
  use kind_numbers, only: quantity_link_stroke, quantity_link_total, quantity_link_elastic, release_operator_sum, &
                          release_operator_min, link_status_undone, link_status_plain
  implicit none
  private
  public :: release_springs

contains

  !> Checks all conditions after the springs' forces of a step.
  subroutine release_springs(model)
    type(model_tables), intent(inout) :: model
    real(dp) :: value
    integer(i4) :: k, r

    associate (releases => model%releases)
      do r = 0, int(releases%rows, i4) - 1
        if (releases%done(r) == 1) cycle
        if (mod(model%control%steps(0), int(releases%steps(r), i8)) /= 0) cycle
        value = combined(model, r)
        if (value < releases%limit(1,r) .or. value > releases%limit(2,r)) releases%exceeded(r) = releases%exceeded(r) + 1
        if (releases%exceeded(r) < releases%wanted(r)) cycle
        releases%done(r) = 1
        do k = releases%first(2,r), releases%first(2,r) + releases%size(2,r) - 1
          ! a status from 0 on is the number of a series along which the force falls
          model%links%status(model%release_lists%link(k)) = max(link_status_undone, model%release_lists%series(k))
        end do
        do k = releases%first(3,r), releases%first(3,r) + releases%size(3,r) - 1
          model%links%status(model%release_lists%link(k)) = link_status_plain
        end do
      end do
    end associate
  end subroutine release_springs

  !> Sum, least or largest of the springs' quantities.
  real(dp) function combined(model, r) result(value)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: r
    real(dp) :: own
    integer(i4) :: first, k

    first = model%releases%first(1,r)
    value = 0
    do k = first, first + model%releases%size(1,r) - 1
      own = quantity_of(model, model%releases%quantity(r), model%release_lists%link(k))
      if (model%releases%absolute(r) == 1) own = abs(own)
      if (k == first .or. model%releases%operator(r) == release_operator_sum) then
        value = value + own
      else if (model%releases%operator(r) == release_operator_min) then
        value = min(value, own)
      else
        value = max(value, own)
      end if
    end do
  end function combined

  !> Quantity of a spring that a condition uses.
  pure real(dp) function quantity_of(model, quantity, link) result(value)
    type(model_tables), intent(in) :: model
    integer(i4), intent(in) :: quantity, link

    select case (quantity)
    case (quantity_link_stroke)
      value = model%links%stroke(link)
    case (quantity_link_total)
      value = model%links%total(link)
    case (quantity_link_elastic)
      value = model%links%elastic(link)
    case default
      value = model%links%friction(link)
    end select
  end function quantity_of
end module released_springs
