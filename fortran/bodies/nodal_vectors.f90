!> Vectors at the nodes of some finite element bodies as the unknowns of their solvers, and back (docs/theory.md, Time integration).
!>
!>   count, which     these bodies (0:count-1): their numbers among those with nodes; first (0:nfirst-1) their first nodes
!>   velo_row         (0:nnode-1) rows of nodes in tables of velocity triples
!>   turned           1: unknowns are in the bodies' rotated frames (3,3,0:count-1)
!>   unknown          (3,0:nunknown-1) nodes of these bodies, one body after another
module nodal_vectors
  use kinds, only: dp, i4
  implicit none
  private
  public :: collect, add_unknowns, any_marked, take_nodes, take_rotations

contains

  !> Collects unknowns from source (3,0:nsource-1), which is indexed by rows of triples (by_row 1) or by nodes (0); `nonzero` 1: some are
  !> not zero.
  subroutine collect(by_row, turned, count, which, rotation, nfirst, first, nnode, velo_row, nsource, source, nunknown, unknown, &
                     nonzero)
    integer(i4), intent(in) :: by_row, turned, count, nfirst, nnode, nsource, nunknown
    integer(i4), intent(in) :: which(0:count-1), first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:count-1), source(3,0:nsource-1)
    real(dp), intent(inout) :: unknown(3,0:nunknown-1)
    integer(i4), intent(out) :: nonzero
    real(dp) :: x(3)
    integer :: at, b, n

    at = 0
    nonzero = 0
    do b = 0, count - 1
      do n = first(which(b)), first(which(b)+1) - 1
        x = source(:,merge(velo_row(n), int(n, i4), by_row == 1))
        if (any(x /= 0)) nonzero = 1
        if (turned == 1) x = matmul(x, rotation(:,:,b))
        unknown(:,at) = x
        at = at + 1
      end do
    end do
  end subroutine collect

  !> Adds step times the unknowns, in space, to velo (3,0:nvelo-1).
  subroutine add_unknowns(step, turned, count, which, rotation, nfirst, first, nnode, velo_row, nunknown, unknown, nvelo, velo)
    real(dp), intent(in) :: step
    integer(i4), intent(in) :: turned, count, nfirst, nnode, nunknown, nvelo
    integer(i4), intent(in) :: which(0:count-1), first(0:nfirst-1), velo_row(0:nnode-1)
    real(dp), intent(in) :: rotation(3,3,0:count-1), unknown(3,0:nunknown-1)
    real(dp), intent(inout) :: velo(3,0:nvelo-1)
    real(dp) :: x(3)
    integer :: at, b, n

    at = 0
    do b = 0, count - 1
      do n = first(which(b)), first(which(b)+1) - 1
        x = unknown(:,at)
        if (turned == 1) x = matmul(rotation(:,:,b), x)
        velo(:,velo_row(n)) = velo(:,velo_row(n)) + step*x
        at = at + 1
      end do
    end do
  end subroutine add_unknowns

  !> Sets `found` to 1 if the option `mark` (0:nb-1) of the body table is set for any of the `rows`.
  subroutine any_marked(count, rows, nb, mark, found)
    integer(i4), intent(in) :: count, nb
    integer(i4), intent(in) :: rows(0:count-1), mark(0:nb-1)
    integer(i4), intent(out) :: found
    integer :: i

    found = 0
    do i = 0, count - 1
      if (mark(rows(i)) == 1) found = 1
    end do
  end subroutine any_marked

  !> Takes vectors (3,0:count-1) of some nodes from those of all nodes, (3,0:nnode-1).
  subroutine take_nodes(count, nodes, nnode, all, some)
    integer(i4), intent(in) :: count, nnode
    integer(i4), intent(in) :: nodes(0:count-1)
    real(dp), intent(in) :: all(3,0:nnode-1)
    real(dp), intent(inout) :: some(3,0:count-1)
    integer :: n

    do n = 0, count - 1
      some(:,n) = all(:,nodes(n))
    end do
  end subroutine take_nodes

  !> Takes rotations (3,3,0:count-1) of some bodies from those of all bodies, (3,3,0:nbody-1).
  subroutine take_rotations(count, which, nbody, all, rotation)
    integer(i4), intent(in) :: count, nbody
    integer(i4), intent(in) :: which(0:count-1)
    real(dp), intent(in) :: all(3,3,0:nbody-1)
    real(dp), intent(inout) :: rotation(3,3,0:count-1)
    integer :: b

    do b = 0, count - 1
      rotation(:,:,b) = all(:,:,which(b))
    end do
  end subroutine take_rotations

end module nodal_vectors
