!> Rows of tables that move up when others are removed.
module row_moves
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_null_ptr
  use kinds, only: i1, i4, i8
  implicit none
  private
  public :: close_rows

  integer, parameter :: address = 1, item = 2, width = 3, filling = 4   !< numbers about a column

contains

  !> Lets rows of columns move up into gaps, and fills the rows that get free.
  !>
  !>   column        (4,:) of each column its address, the bytes of a number and of a row, and the bits of the fill value
  !>   moves         (:) 0: all rows that would move are alike, so they need not
  !>   shift         (gaps,:) of each column what is taken from its numbers, integers of four bytes, behind each gap and before the next one
  !>   start, stop   (:) first row of each gap, and the row behind it, ascending
  !>   n             rows in use
  subroutine close_rows(column, moves, shift, start, stop, n, gaps, columns)
    integer(i4), intent(in) :: gaps, columns
    integer(i8), intent(in) :: column(4,columns), shift(gaps,columns), start(gaps), stop(gaps), n
    integer(i4), intent(in) :: moves(columns)
    integer(i1), pointer :: byte(:)
    integer(i4), pointer :: word(:)
    integer(i8) :: count, free, way, w
    integer :: c, k

    do c = 1, columns
      w = column(width,c)
      call c_f_pointer(transfer(column(address,c), c_null_ptr), byte, [w*n])
      call c_f_pointer(transfer(column(address,c), c_null_ptr), word, [w*n/4])
      free = start(1)
      do k = 1, gaps
        count = n - stop(k)
        if (k < gaps) count = start(k+1) - stop(k)
        way = stop(k) - free
        if (shift(k,c) /= 0) then
          call shift_up(w*way/4, w*count/4, int(shift(k,c), i4), word(w*free/4+1:))
        else if (moves(c) == 1 .and. way > 0) then
          call move_up(w*way, w*count, byte(w*free+1:))
        end if
        free = free + count
      end do
      call fill(w*(n - free), column(item,c), column(filling,c), byte(w*free+1:))
    end do
  end subroutine close_rows

  pure subroutine move_up(way, count, byte)
    integer(i8), intent(in) :: way, count
    integer(i1), intent(inout) :: byte(0:*)
    integer(i8) :: i

    !$omp simd
    do i = 0, count - 1
      byte(i) = byte(i+way)
    end do
  end subroutine move_up

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
    do i = 0, count - 1
      byte(i) = pattern(mod(i, size))
    end do
  end subroutine fill
end module row_moves
