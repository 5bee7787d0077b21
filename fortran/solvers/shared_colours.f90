!> Colours of groups of rows in a model of which a process holds a part (solfec/parallel/colours.py).
module shared_colours
  use kinds, only: i4, i8
  implicit none
  private
  public :: colour_next_groups

  integer, parameter :: word_bits = 62   !< colours in one word of the masks of used colours

contains

  !> Colours as many groups as can be coloured before processes exchange the colours of their bodies.
  !>
  !> A group takes the lowest colour that is free on both of its bodies, after all groups with higher hashes on them.  The owner of
  !> both bodies knows these groups.  The two owners of a group on bodies of both choose from what they have exchanged, so that they agree.
  !>
  !>   groups   one, two: (0:groups-1) bodies, -1: none, groups on no body get the first colour; hash: their order, the highest first; sorted: groups in this order
  !>   mine     (0:bodies-1) 1: this process owns the body
  !>   known    (0:words,0:bodies-1) highest hash of the groups of a body that have no colour, 0: none; then the mask of its colours
  !>   colour   (0:groups-1) colours, -1: none yet
  !>   left     out: groups without a colour
  !>   full     out: 1: colours of a body fill all words
  subroutine colour_next_groups(groups, one, two, hash, sorted, bodies, mine, words, known, colour, left, full)
    integer(i4), intent(in) :: groups, bodies, words
    integer(i4), intent(in) :: one(0:groups-1), two(0:groups-1), sorted(0:groups-1)
    integer(i8), intent(in) :: hash(0:groups-1)
    integer(i4), intent(in) :: mine(0:bodies-1)
    integer(i8), intent(inout) :: known(0:words,0:bodies-1)
    integer(i4), intent(inout) :: colour(0:groups-1)
    integer(i4), intent(out) :: left, full
    integer(i8), allocatable :: waits(:)   !< highest hash of the groups of each body that have to wait
    integer(i4) :: side(2), k, g, found
    logical :: known_here

    allocate (waits(0:bodies-1), source=0_i8)
    left = 0
    full = 0
    do k = 0, groups - 1
      g = sorted(k)
      if (colour(g) >= 0) cycle
      side = [one(g), two(g)]
      if (all(side < 0)) then
        colour(g) = 0
        cycle
      end if
      where (side < 0) side = maxval(side)
      known_here = all(mine(side) /= 0)
      found = -1
      if (all(waits(side) == 0) .and. (known_here .or. all(known(0,side) <= hash(g)))) then
        found = lowest_free(known(1:words,side(1)), known(1:words,side(2)))
        if (found < 0) full = 1
      end if
      if (found < 0) then
        left = left + 1
        waits(side) = max(waits(side), hash(g))
        cycle
      end if
      colour(g) = found
      known(1+found/word_bits,side) = ibset(known(1+found/word_bits,side), mod(found, word_bits))
    end do
    where (mine /= 0) known(0,:) = waits
  end subroutine colour_next_groups

  !> Lowest colour in neither of two masks, -1: none.
  pure integer(i4) function lowest_free(first, second)
    integer(i8), intent(in) :: first(:), second(:)
    integer :: word, bit

    do word = 1, size(first)
      bit = trailz(not(ior(first(word), second(word))))
      lowest_free = int((word - 1)*word_bits + bit, i4)
      if (bit < word_bits) return
    end do
    lowest_free = -1
  end function lowest_free
end module shared_colours
