!> The form u = W r + q of a step, r in cones, that solvers of cones take; kinds of its rows and sizes of its velocities.
module reduced_form
  use kinds, only: dp, i4, i8
  use row_block, only: l_cohesion
  use row_families, only: family_of
  use row_family_base, only: row_family
  use row_tables, only: local_tables, open_local
  use state_tables, only: row_table
  use table_registry, only: table_open
  implicit none
  private
  public :: survey_rows, reduce_rows, add_cohesion

contains

  !> Which kinds of rows a step has, and how large its free velocities are.
  !>
  !> Reads of rows kind, driving, law, B and free.
  !>
  !>   local    handles (LocalDynamics.handles)
  !>   n        rows
  !>   least    norm below which velocities count as zero
  !>   present  out: bit k is set if a row is of kind k
  !>   rows, driving   out: rows that do not drive obstacles, and those that do
  !>   size, driven_size   out: norm of B over the rows of each group (free_square of row_families), B of rows that drive obstacles with the change that
  !>            they prescribe; if it is below `least`, norm of free; 0 if both are; 1 if there are no rows
  !>   status   `table_open` or `table_unknown`
  subroutine survey_rows(local, n, least, present, rows, driving, size, driven_size, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: least
    integer(i8), intent(out) :: present
    integer(i4), intent(out) :: rows, driving, status
    real(dp), intent(out) :: size, driven_size
    type(local_tables) :: loc

    present = 0
    call open_local(local, loc, status)
    if (status == table_open) call survey(loc%rows, n, least, present, rows, driving, size, driven_size)
  end subroutine survey_rows

  !> Does what `survey_rows` does.
  subroutine survey(rows, n, least, present, others, driving, size, driven_size)
    type(row_table), intent(in) :: rows
    integer(i4), intent(in) :: n
    real(dp), intent(in) :: least
    integer(i8), intent(out) :: present
    integer(i4), intent(out) :: others, driving
    real(dp), intent(out) :: size, driven_size
    class(row_family), pointer :: family
    integer(i4) :: counts(2)
    real(dp) :: norms(2,2)
    integer :: a, group

    present = 0
    counts = 0
    norms = 0.0_dp
    do a = 0, n - 1
      present = ibset(present, rows%kind(a))
      family => family_of(rows%kind(a))
      group = merge(2, 1, rows%driving(a) > 0)
      counts(group) = counts(group) + 1
      norms(:,group) = norms(:,group) + [family%free_square(rows%law(:,a), rows%B(:,a)), sum(rows%free(:,a)**2)]
      if (group == 2) norms(1,2) = norms(1,2) + sum(rows%free(:,a)**2)   ! as in constraint_measures
    end do
    norms = sqrt(norms)
    others = counts(1)
    driving = counts(2)
    size = size_of(others, norms(:,1))
    driven_size = size_of(driving, norms(:,2))

  contains

    !> Size of `count` rows with these norms of B and of free; one that is not a number counts.
    pure real(dp) function size_of(count, norms)
      integer(i4), intent(in) :: count
      real(dp), intent(in) :: norms(2)

      size_of = 0.0_dp
      if (.not. norms(2) < least) size_of = norms(2)
      if (.not. norms(1) < least) size_of = norms(1)
      if (count == 0) size_of = 1.0_dp
    end function size_of
  end subroutine survey

  !> Makes q and the cones of u = W r + q, r = R + c, with the cohesive forces c of contacts, except W c (`add_cohesion`); surveys the rows.
  !>
  !> Reads of rows kind, law, driving, B and free (the law of a row has put its own share of cohesion in free).
  !>
  !>   local, n, least, present, size, driven_size   see survey_rows
  !>   cone_of_kind (0:nkind-1), friction_cone   cone of every kind of row; the one in which reactions of contacts lie
  !>   cone (0:nrow-1), q (3,0:nrow-1), cohesion (0:nrow-1)   out
  !>   cohesive         out: 1 if any cohesion is not zero
  !>   moving           out: 1 if any q is not zero
  !>   status           see survey_rows
  subroutine reduce_rows(local, n, least, nkind, cone_of_kind, friction_cone, nrow, cone, q, cohesion, present, size, driven_size, &
                         cohesive, moving, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n, nkind, friction_cone, nrow
    real(dp), intent(in) :: least
    integer(i4), intent(in) :: cone_of_kind(0:nkind-1)
    integer(i4), intent(inout) :: cone(0:nrow-1)
    real(dp), intent(inout) :: q(3,0:nrow-1), cohesion(0:nrow-1)
    integer(i8), intent(out) :: present
    real(dp), intent(out) :: size, driven_size
    integer(i4), intent(out) :: cohesive, moving, status
    type(local_tables) :: loc
    integer(i4) :: a, others, driving

    cohesive = 0
    moving = 0
    call open_local(local, loc, status)
    if (status /= table_open) return
    call survey(loc%rows, n, least, present, others, driving, size, driven_size)
    associate (rows => loc%rows)
      do a = 0, n - 1
        cone(a) = cone_of_kind(rows%kind(a))
        cohesion(a) = 0.0_dp
        if (cone(a) == friction_cone) cohesion(a) = rows%law(l_cohesion,a)
        q(:,a) = rows%free(:,a)
        if (cohesion(a) /= 0.0_dp) cohesive = 1
      end do
    end associate
    if (any(q(:,0:n-1) /= 0.0_dp)) moving = 1
  end subroutine reduce_rows

  !> Adds -W c to q, with the off-diagonal blocks of W; arguments as of `reduce_rows`.
  subroutine add_cohesion(local, n, nrow, q, cohesion, moving, status)
    integer(i8), intent(in) :: local(6)
    integer(i4), intent(in) :: n, nrow
    real(dp), intent(inout) :: q(3,0:nrow-1)
    real(dp), intent(in) :: cohesion(0:nrow-1)
    integer(i4), intent(out) :: moving, status
    type(local_tables) :: loc
    integer :: a, k

    moving = 0
    call open_local(local, loc, status)
    if (status /= table_open) return
    associate (rows => loc%rows, blocks => loc%blocks)
      do a = 0, n - 1
        do k = rows%block_ptr(a), rows%block_ptr(a+1) - 1
          q(:,a) = q(:,a) - blocks%block(:,3,k)*cohesion(blocks%column(k))
        end do
      end do
    end associate
    if (any(q(:,0:n-1) /= 0.0_dp)) moving = 1
  end subroutine add_cohesion
end module reduced_form
