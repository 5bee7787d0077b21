!> Local dynamics of a step in one call: rows, their laws, and the blocks that couple them.
!>
!> Nothing is computed here.  The kernels below could be called one by one, but Python in between would have to be
!> fetched from memory again after each, since kernels that work on large models empty the caches.
module assembly_phases
  use kinds, only: dp, i4, i8
  use local_dynamics, only: assemble_rows, assemble_laws
  use coupling_blocks, only: assemble_matrix
  implicit none
  private
  public :: assemble

  integer(i4), parameter :: rows_stage = 1, pattern_stage = 2, laws_stage = 3, blocks_stage = 4
  !> Status besides those of `assemble_rows` and `assemble_laws`.
  integer(i4), parameter :: blocks_lack = 4, rows_lack = 5

  real(dp), parameter :: full_rows = 300.0_dp       !< off-diagonal blocks per row
  real(dp), parameter :: small_matrix = 1e6_dp      !< off-diagonal blocks that are always stored

contains

  !> Stages `from` to `to` of 1 rows and operators (`assemble_rows`), 2 the layout of off-diagonal blocks where rows are on implicit
  !> bodies (`assemble_matrix`), which then add their parts, 3 laws (`assemble_laws`), 4 off-diagonal blocks of W
  !> (`assemble_matrix`), where the arguments are described, but for
  !>
  !>   coloured_above   contacts stand by colours where there are more rows than this
  !>   form        1: W is stored in blocks; 0: it is not (velocity form); -1: as counts of stage 1 make it cheaper;
  !>               -2: W is stored unless it is large and its rows are fuller than what can be factorised
  !>   most        off-diagonal blocks per row up to which storing them is cheaper
  !>   visits      bound of off-diagonal blocks, of stage 1
  !>   known_colours, known_visits   what an interrupted call returned as `colours` and `visits`
  !>   stored      1: W is stored, as it must be where A^-1 of a body has no factor by triples
  !>   coupled     1: there are rows on implicit bodies
  !>   status      0 done; 1 `entries` entries or `attachments` attachments must have room; 2 bad kind of body and 3 singular
  !>               W_aa, in row `failed`; 4 `blocks` blocks, 5 n + 1 rows must have room.  Call again from
  !>               `stage` on.  Springs want their laws before the last stage (`assemble_springs`).
  subroutine assemble(from, to, n, users, coloured_above, bodies, triples, dynamic, epsilon, step, form, most, &
      known_colours, known_visits, &
      ncon, kind, master, slave, birth, start, master_point, slave_point, base, reaction, velocity, &
      material, point, other_point, gap, area, cohesion, length, master_primitive, slave_primitive, &
      value, element, weights, &
      nbody, body_kind, centre, conf_ptr, velo_ptr, element_ptr, implicit, nconf, conf, &
      ne, element_size, element_node, ntriple, velo, velo_prev, inverse_inertia, &
      nmat, model, friction, restitution, spring, dashpot, power, gap_aware, &
      nrow, order, chunk_ptr, row_kind, block, law, diagonal, b, speed, free, v, r, u, lost, driving, patch, entry_ptr, &
      slave_entry, &
      row_ptr, &
      ncolourptr, colour_ptr, nentry, triple, entry, factor, nbodyptr, body_ptr, nattached, attached_row, attached_entry, &
      nblock, column, off_diagonal, colours, entries, attachments, blocks, visits, stored, coupled, stage, failed, status)
    integer(i4), intent(in) :: from, to, n, users, coloured_above, bodies, triples, dynamic, form, known_colours
    integer(i8), intent(in) :: known_visits
    real(dp), intent(in) :: epsilon, step, most
    integer(i4), intent(in) :: ncon, nbody, nconf, ne, ntriple, nmat, nrow, ncolourptr, nentry, nbodyptr, nattached, nblock
    integer(i4), intent(in) :: kind(0:ncon-1), master(0:ncon-1), slave(0:ncon-1)
    integer(i8), intent(in) :: birth(0:ncon-1)
    integer(i4), intent(in) :: start(0:ncon-1)
    real(dp), intent(in) :: master_point(3,0:ncon-1), slave_point(3,0:ncon-1)
    real(dp), intent(in) :: base(3,3,0:ncon-1), reaction(3,0:ncon-1), velocity(3,0:ncon-1)
    integer(i4), intent(in) :: material(0:ncon-1), master_primitive(0:ncon-1), slave_primitive(0:ncon-1)
    real(dp), intent(in) :: point(3,0:ncon-1), other_point(3,0:ncon-1)
    real(dp), intent(in) :: gap(0:ncon-1), area(0:ncon-1), cohesion(0:ncon-1), length(0:ncon-1), value(3,0:ncon-1)
    integer(i4), intent(in) :: element(2,0:ncon-1)
    real(dp), intent(in) :: weights(8,2,0:ncon-1)
    integer(i4), intent(in) :: body_kind(0:nbody-1)
    real(dp), intent(in) :: centre(3,0:nbody-1)
    integer(i4), intent(in) :: conf_ptr(0:nbody-1), velo_ptr(0:nbody-1), element_ptr(0:nbody-1)
    integer(i4), intent(in) :: implicit(0:nbody-1)
    real(dp), intent(in) :: conf(3,0:nconf-1)
    integer(i4), intent(in) :: element_size(0:ne-1), element_node(8,0:ne-1)
    real(dp), intent(in) :: velo(3,0:ntriple-1), velo_prev(3,0:ntriple-1), inverse_inertia(3,3,0:ntriple-1)
    integer(i4), intent(in) :: model(0:nmat-1)
    real(dp), intent(in) :: friction(0:nmat-1), restitution(0:nmat-1), spring(0:nmat-1), dashpot(0:nmat-1), power(0:nmat-1)
    real(dp), intent(in) :: gap_aware(0:nmat-1)
    integer(i4), intent(inout) :: order(0:nrow-1), chunk_ptr(0:nrow-1), row_kind(0:nrow-1)
    real(dp), intent(inout) :: block(16,0:nrow-1), law(8,0:nrow-1), diagonal(3,3,0:nrow-1)
    real(dp), intent(inout) :: b(3,0:nrow-1), speed(0:nrow-1), free(3,0:nrow-1), v(3,0:nrow-1), r(3,0:nrow-1), u(3,0:nrow-1)
    integer(i4), intent(inout) :: lost(0:nrow-1), driving(0:nrow-1), patch(0:nrow-1)
    integer(i4), intent(inout) :: entry_ptr(0:nrow-1), slave_entry(0:nrow-1), row_ptr(0:nrow-1)
    integer(i4), intent(inout) :: colour_ptr(0:ncolourptr-1)
    integer(i4), intent(inout) :: triple(0:nentry-1)
    real(dp), intent(inout) :: entry(3,3,0:nentry-1), factor(3,3,0:ntriple-1)
    integer(i4), intent(inout) :: body_ptr(0:nbodyptr-1)
    integer(i4), intent(inout) :: attached_row(0:nattached-1), attached_entry(0:nattached-1)
    integer(i4), intent(inout) :: column(0:nblock-1)
    real(dp), intent(inout) :: off_diagonal(3,3,0:nblock-1)
    integer(i4), intent(out) :: colours, entries, attachments, blocks, stored, coupled, stage, failed, status
    integer(i8), intent(out) :: visits

    colours = known_colours
    entries = 0
    attachments = 0
    blocks = 0
    visits = known_visits
    stored = max(form, 0_i4)
    coupled = 0
    if (from > rows_stage) coupled = on_implicit()
    failed = -1
    status = 0
    do stage = from, to
      select case (stage)
      case (rows_stage)
        if (n >= nrow) then
          status = rows_lack
          exit
        end if
        call assemble_rows(n, users, merge(1_i4, 0_i4, n > coloured_above), bodies, triples, step, ncon, kind, master, slave, &
          birth, master_point, &
          slave_point, base, reaction, velocity, nbody, body_kind, centre, conf_ptr, velo_ptr, element_ptr, implicit, nconf, &
          conf, element, weights, ne, element_size, element_node, ntriple, velo, velo_prev, inverse_inertia, nrow, order, &
          chunk_ptr, ncolourptr, colour_ptr, diagonal, b, speed, v, r, u, lost, driving, entry_ptr, slave_entry, &
          nentry, triple, entry, factor, &
          nbodyptr, body_ptr, nattached, attached_row, attached_entry, colours, entries, attachments, visits, failed, status)
        if (form == -1) stored = merge(1_i4, 0_i4, real(visits, dp) <= most*n)
        if (form == -2) stored = merge(1_i4, 0_i4, real(visits, dp) <= max(full_rows*n, small_matrix))
        if (status == 0) coupled = on_implicit()
        stored = max(stored, coupled)
      case (pattern_stage)
        if (coupled == 0) cycle
        call assemble_blocks(.true., .false.)
      case (laws_stage)
        call assemble_laws(n, dynamic, epsilon, step, nbody, body_kind, ncon, kind, master, slave, start, material, point, &
          other_point, base, gap, area, cohesion, length, &
          master_primitive, slave_primitive, value, nmat, model, friction, restitution, spring, dashpot, power, gap_aware, &
          nrow, order, row_kind, block, law, &
          diagonal, b, free, v, r, patch, failed, status)
      case (blocks_stage)
        if (stored == 0) cycle
        call assemble_blocks(coupled == 0, .true.)
      end select
      if (status /= 0) exit
    end do

  contains

    subroutine assemble_blocks(laying_out, adding)
      logical, intent(in) :: laying_out, adding

      call assemble_matrix(n, laying_out, adding, ncon, master, slave, nbody, body_kind, implicit, nrow, order, row_kind, &
        entry_ptr, slave_entry, nentry, triple, entry, nbodyptr, body_ptr, nattached, attached_row, attached_entry, &
        row_ptr, nblock, column, off_diagonal, blocks, status)
      if (status /= 0) status = blocks_lack
    end subroutine assemble_blocks

    !> Whether there are rows on implicit bodies.
    pure integer(i4) function on_implicit()
      integer :: k

      on_implicit = 0
      do k = 0, bodies - 1
        if (implicit(k) <= 0 .or. body_ptr(k+1) == body_ptr(k)) cycle
        on_implicit = 1
        exit
      end do
    end function on_implicit
  end subroutine assemble
end module assembly_phases
