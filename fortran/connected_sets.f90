!> Sets of items that are connected: each item leads to an earlier one of its set, the first one to itself.
module connected_sets
  use kinds, only: i4
  implicit none
  private
  public :: connect, root_of

contains

  !> Unites the sets of two items.
  subroutine connect(parent, one, two)
    integer(i4), intent(inout) :: parent(0:)         !< items to which items lead; at first each to itself
    integer(i4), intent(in) :: one, two
    integer(i4) :: a, b

    a = root_of(parent, one)
    b = root_of(parent, two)
    parent(max(a, b)) = min(a, b)
  end subroutine connect

  !> First item of an item's set; shortens the way to it.
  integer(i4) function root_of(parent, item) result(root)
    integer(i4), intent(inout) :: parent(0:)
    integer(i4), intent(in) :: item

    root = item
    do while (parent(root) /= root)
      parent(root) = parent(parent(root))
      root = parent(root)
    end do
  end function root_of
end module connected_sets
