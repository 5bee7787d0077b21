!> Rows of tables that move up when others are removed.
module row_moves
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc, c_null_ptr, c_ptr, c_size_t
  use kinds, only: i1, i4, i8
  implicit none
  private
  public :: close_rows

  integer, parameter :: address = 1, item = 2, width = 3, filling = 4   !< numbers about a column

  interface
    !> Moves bytes of memory that may overlap; C's library takes two thirds of the time of a loop.
    function memmove(to, from, count) bind(c) result(moved)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: to, from
      integer(c_size_t), value :: count
      type(c_ptr) :: moved
    end function memmove
  end interface

contains

  !> Lets rows of columns move into gaps.
  !>
  !> Rows behind a gap move up, and the rows that get free at the end are filled. Or those before the only gap move down; the columns then
  !> begin behind the rows that get free. In both cases numbers of the rows behind a gap are shifted.
  !>
  !>   column        (4,:) of each column its address, the bytes of a number and of a row, and the bits of the fill value
  !>   moves         (:) 0: all rows that would move are alike, so they need not
  !>   shift         (gaps,:) of each column what is taken from its numbers, integers of four bytes, behind each gap and before the next one
  !>   start, stop   (:) first row of each gap, and the row behind it, ascending
  !>   n             rows in use
  !>   down          1: the rows before the only gap move down
  subroutine close_rows(column, moves, shift, start, stop, n, down, gaps, columns)
    integer(i4), intent(in) :: gaps, columns, down
    integer(i8), intent(in) :: column(4,columns), shift(gaps,columns), start(gaps), stop(gaps), n
    integer(i4), intent(in) :: moves(columns)
    integer(i1), pointer, contiguous :: byte(:)
    integer(i4), pointer, contiguous :: word(:)
    integer(i8) :: count, free, w
    integer :: c, k

    do c = 1, columns
      w = column(width,c)
      call c_f_pointer(transfer(column(address,c), c_null_ptr), byte, [w*n])
      call c_f_pointer(transfer(column(address,c), c_null_ptr), word, [w*n/4])
      if (down == 1) then
        if (moves(c) == 1) call move(byte, w*(stop(1) - start(1)), 0_i8, w*start(1))
        if (shift(1,c) /= 0) call shift_up(0_i8, w*(n - stop(1))/4, int(shift(1,c), i4), word(w*stop(1)/4+1:))
        cycle
      end if
      free = start(1)
      do k = 1, gaps
        count = n - stop(k)
        if (k < gaps) count = start(k+1) - stop(k)
        if (shift(k,c) /= 0) then
          call shift_up(w*(stop(k) - free)/4, w*count/4, int(shift(k,c), i4), word(w*free/4+1:))
        else if (moves(c) == 1) then
          call move(byte, w*free, w*stop(k), w*count)
        end if
        free = free + count
      end do
      call fill(w*(n - free), column(item,c), column(filling,c), byte(w*free+1:))
    end do
  end subroutine close_rows

  !> Moves `count` bytes, whose old and new places may overlap.
  subroutine move(byte, to, from, count)
    integer(i1), intent(inout), target, contiguous :: byte(0:)
    integer(i8), intent(in) :: to, from, count
    type(c_ptr) :: moved

    if (count > 0 .and. to /= from) moved = memmove(c_loc(byte(to)), c_loc(byte(from)), count)
  end subroutine move

  pure subroutine shift_up(way, count, shift, word)
    integer(i8), intent(in) :: way, count
    integer(i4), intent(in) :: shift
    integer(i4), intent(inout) :: word(0:*)
    integer(i8) :: i

    !$omp simd
    do i = 0, count - 1
      word(i) = word(i+way) - shift
    end do
  end subroutine shift_up

  !> Fills numbers of `size` bytes, in the order of bytes of small-endian machines.
  pure subroutine fill(count, size, bits, byte)
    integer(i8), intent(in) :: count, size, bits
    integer(i1), intent(inout) :: byte(0:*)
    integer(i1) :: pattern(0:7)
    integer(i8) :: i

    pattern = transfer(bits, pattern)
    do i = 0, count - 1, size
      byte(i:i+size-1) = pattern(0:size-1)
    end do
  end subroutine fill
end module row_moves
