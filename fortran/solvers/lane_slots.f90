!> Slots of contacts in lanes, filled from the tables of rows (solfec/solvers/rows_in_lanes.py).
module lane_slots
  use kinds, only: dp, i4
  use contact_lanes, only: lanes, numbers, c_lambda, c_opening
  use diagonal_block, only: b_lambda, b_opening
  use state_tables, only: entry_table, lane_tables, row_table
  implicit none
  private
  public :: fill_slot, give_back_slot, most_entries, unpack_slots

  integer, parameter :: most_entries = 32   !< of a row; rows that have more are visited one by one

contains

  !> Copies the rows of one slot.
  pure subroutine fill_slot(rows, entries, used, width, row, triple, operator, c, free, reaction)
    type(row_table), intent(in) :: rows
    type(entry_table), intent(in) :: entries
    integer(i4), intent(in) :: used, width, row(lanes)
    integer(i4), intent(out) :: triple(lanes,width)
    real(dp), intent(out) :: operator(lanes,3,3,width), c(lanes,numbers), free(lanes,3), reaction(lanes,3)
    integer(i4) :: first(lanes), own(lanes), l, a, e, i, j, k

    do l = 1, used
      a = row(l)
      first(l) = rows%entry_ptr(a)
      own(l) = rows%entry_ptr(a+1) - first(l)
      c(l,1:c_lambda-1) = rows%block(1:c_lambda-1,a)
      c(l,c_lambda) = rows%block(b_lambda,a)
      c(l,c_opening) = rows%block(b_opening,a)
      free(l,:) = rows%free(:,a)
      reaction(l,:) = rows%r(:,a)
    end do
    c(used+1:,:) = 0.0_dp
    free(used+1:,:) = 0.0_dp
    reaction(used+1:,:) = 0.0_dp
    do e = 1, width
      do l = 1, used
        k = first(l) + min(e, own(l)) - 1   ! behind the last entry any triple of the row will do
        triple(l,e) = entries%triple(k)
        do j = 1, 3
          do i = 1, 3
            operator(l,i,j,e) = entries%operator(i,j,k)
          end do
        end do
        if (e > own(l)) operator(l,:,:,e) = 0.0_dp
      end do
      triple(used+1:,e) = triple(1,e)
      operator(used+1:,:,:,e) = 0.0_dp
    end do
  end subroutine fill_slot

  !> Writes what visits of one slot have changed to its rows.
  pure subroutine give_back_slot(rows, used, row, c, reaction)
    type(row_table), intent(inout) :: rows
    integer(i4), intent(in) :: used, row(lanes)
    real(dp), intent(in) :: c(lanes,numbers), reaction(lanes,3)
    integer(i4) :: l

    do l = 1, used
      rows%r(:,row(l)) = reaction(l,:)
      rows%block(b_lambda,row(l)) = c(l,c_lambda)
      rows%block(b_opening,row(l)) = c(l,c_opening)
    end do
  end subroutine give_back_slot

  !> Writes reactions, and what block solvers remember, from all slots to the rows.
  subroutine unpack_slots(rows, from)
    type(row_table), intent(inout) :: rows
    type(lane_tables), intent(in) :: from
    integer(i4) :: s

    do s = 0, from%chunks%slots - 1
      call give_back_slot(rows, from%slots%used(s), from%slots%row(:,s), from%values%numbers(:,:,s), from%values%r(:,:,s))
    end do
  end subroutine unpack_slots
end module lane_slots
