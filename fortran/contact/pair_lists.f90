!> The sorted list of pairs of primitives that detection keeps between steps, when bodies come and go.
module pair_lists
  use kinds, only: i4, i8
  implicit none
  private
  public :: insert_pairs, close_pairs

contains

  !> Puts pairs into their places among `pairs` others; nothing is known of them yet (`apart` is -1).
  !>
  !>   new_low, new_high   the new pairs, sorted by the first row, then by the second
  !>   low, high, apart    all pairs, sorted in this way, with room for the new ones
  subroutine insert_pairs(pairs, new_low, new_high, low, high, apart, more, room)
    integer(i4), intent(in) :: pairs, more, room
    integer(i4), intent(in) :: new_low(0:more-1), new_high(0:more-1)
    integer(i4), intent(inout) :: low(0:room-1), high(0:room-1)
    integer(i8), intent(inout) :: apart(0:room-1)
    integer :: from, left, to

    from = pairs - 1
    left = more - 1
    do to = pairs + more - 1, 0, -1
      if (left < 0) exit
      if (from >= 0) then
        if (low(from) > new_low(left) .or. (low(from) == new_low(left) .and. high(from) > new_high(left))) then
          low(to) = low(from)
          high(to) = high(from)
          apart(to) = apart(from)
          from = from - 1
          cycle
        end if
      end if
      low(to) = new_low(left)
      high(to) = new_high(left)
      apart(to) = -1
      left = left - 1
    end do
  end subroutine insert_pairs

  !> Renumbers primitives, and closes up the pairs of those that are gone.
  !>
  !>   row     (0:primitives-1) new row of every primitive, -1: it is gone
  !>   left    number of pairs that stay
  subroutine close_pairs(pairs, row, low, high, apart, left, primitives, room)
    integer(i4), intent(in) :: pairs, primitives, room
    integer(i8), intent(in) :: row(0:primitives-1)
    integer(i4), intent(inout) :: low(0:room-1), high(0:room-1)
    integer(i8), intent(inout) :: apart(0:room-1)
    integer(i4), intent(out) :: left
    integer :: k

    left = 0
    do k = 0, pairs - 1
      if (row(low(k)) < 0 .or. row(high(k)) < 0) cycle
      low(left) = int(row(low(k)), i4)
      high(left) = int(row(high(k)), i4)
      apart(left) = apart(k)
      left = left + 1
    end do
  end subroutine close_pairs
end module pair_lists
