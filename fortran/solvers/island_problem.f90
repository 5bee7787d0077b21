!> One island of the contact problem, packed and scaled: u = W r + q with r in the cones of the rows.
!>
!> Each row is scaled by one number, d = 1/sqrt(mean of its diagonal): r = d r', u = u'/d.  A scalar leaves the cone as
!> it is, and the blocks of the scaled matrix d_a W_ab d_b are of order one whatever the masses.
module island_problem
  use kinds, only: dp, i4
  use kind_numbers, only: cone_contact, cone_fixed, cone_normal, cone_none
  use contact_iterations, only: contact_map, project_on_cone
  use diagonal_block, only: block_size, b_friction, b_rho
  implicit none
  private
  public :: island, pack_island, pack_operators, take_reactions, put_reactions, island_product
  public :: project_row, island_residual, add_row_measure
  public :: cone_contact, cone_fixed, cone_normal, cone_none

  !> Sets of reactions of a row: the friction cone; all; those along the normal; zero.

  real(dp), parameter :: rounding = 1e-12_dp   !< round-off of a diagonal block from its operators

  type :: island
    integer(i4) :: n = 0                             !< rows
    integer(i4), allocatable :: row(:)               !< (0:n-1) rows of the whole problem
    integer(i4), allocatable :: kind(:)              !< (0:n-1) cones
    integer(i4), allocatable :: ptr(:), col(:)       !< (0:n), (0:blocks-1) off-diagonal blocks, local columns
    real(dp), allocatable :: w(:,:,:)                !< (3,3,0:blocks-1) scaled off-diagonal blocks
    real(dp), allocatable :: diagonal(:,:,:)         !< (3,3,0:n-1) scaled diagonal blocks
    real(dp), allocatable :: q(:,:)                  !< (3,0:n-1) scaled free velocity
    real(dp), allocatable :: mu(:), rho(:), d(:)     !< (0:n-1) friction, 1/largest eigenvalue (scaled), scale
    integer(i4) :: nodes = 0                         !< velocity triples that rows act on, 0 if operators are not known
    integer(i4), allocatable :: entry_ptr(:), node(:)   !< (0:n), (0:entries-1) their numbers in the island
    real(dp), allocatable :: h(:,:,:)                !< (3,3,0:entries-1) scaled operators, W_ab = sum of H_a H_b^T
    logical :: yields = .false.                      !< whether rows have compliance, an addition to their diagonal blocks:
    real(dp), allocatable :: extra(:,:,:)            !< (3,3,0:n-1) W_aa - sum of H_a H_a^T, where they do
  end type island

contains

  !> Packs rows(0:n-1) of the problem; local(0:*) is work space over all rows (each island touches its own rows only).
  subroutine pack_island(n, rows, kind, block, diagonal, q, row_ptr, column, off_diagonal, local, part)
    integer(i4), intent(in) :: n
    integer(i4), intent(in) :: rows(0:n-1), kind(0:*), row_ptr(0:*), column(0:*)
    real(dp), intent(in) :: block(block_size,0:*), diagonal(3,3,0:*), q(3,0:*), off_diagonal(3,3,0:*)
    integer(i4), intent(inout) :: local(0:*)
    type(island), intent(out) :: part
    integer(i4) :: i, a, k, blocks, c

    blocks = 0
    do i = 0, n - 1
      a = rows(i)
      local(a) = i
      blocks = blocks + row_ptr(a+1) - row_ptr(a)
    end do
    part%n = n
    allocate(part%row(0:n-1), part%kind(0:n-1), part%ptr(0:n), part%col(0:blocks-1), part%w(3,3,0:blocks-1))
    allocate(part%diagonal(3,3,0:n-1), part%q(3,0:n-1), part%mu(0:n-1), part%rho(0:n-1), part%d(0:n-1))
    do i = 0, n - 1
      a = rows(i)
      part%row(i) = a
      part%kind(i) = kind(a)
      part%d(i) = sqrt(3.0_dp/(diagonal(1,1,a) + diagonal(2,2,a) + diagonal(3,3,a)))
      part%mu(i) = block(b_friction,a)
      part%rho(i) = block(b_rho,a)/part%d(i)**2
      part%diagonal(:,:,i) = diagonal(:,:,a)*part%d(i)**2
      part%q(:,i) = q(:,a)*part%d(i)
    end do
    k = 0
    do i = 0, n - 1
      a = rows(i)
      part%ptr(i) = k
      do c = row_ptr(a), row_ptr(a+1) - 1
        part%col(k) = local(column(c))
        part%w(:,:,k) = off_diagonal(:,:,c)*(part%d(i)*part%d(part%col(k)))
        k = k + 1
      end do
    end do
    part%ptr(n) = k
  end subroutine pack_island

  !> Operators of the island's rows: entries first_entry(a) to first_entry(a+1)-1 of row a, on triples triple(e); local_triple is
  !> work space over all triples (each island touches its own only).
  subroutine pack_operators(first_entry, triple, operator, yields, local_triple, part)
    integer(i4), intent(in) :: first_entry(0:*), triple(0:*)
    logical, intent(in) :: yields                    !< diagonal blocks may be larger than their operators give
    real(dp), intent(in) :: operator(3,3,0:*)
    integer(i4), intent(inout) :: local_triple(0:*)
    type(island), intent(inout) :: part
    integer(i4) :: i, a, e, count

    allocate(part%entry_ptr(0:part%n))
    count = 0
    do i = 0, part%n - 1
      a = part%row(i)
      part%entry_ptr(i) = count
      count = count + first_entry(a+1) - first_entry(a)
      do e = first_entry(a), first_entry(a+1) - 1
        local_triple(triple(e)) = -1
      end do
    end do
    part%entry_ptr(part%n) = count
    allocate(part%node(0:max(count, 1)-1), part%h(3,3,0:max(count, 1)-1))
    count = 0
    do i = 0, part%n - 1
      a = part%row(i)
      do e = first_entry(a), first_entry(a+1) - 1
        if (local_triple(triple(e)) < 0) then
          local_triple(triple(e)) = part%nodes
          part%nodes = part%nodes + 1
        end if
        part%node(count) = local_triple(triple(e))
        part%h(:,:,count) = operator(:,:,e)*part%d(i)
        count = count + 1
      end do
    end do
    if (yields) call find_extra(part)
  end subroutine pack_operators

  !> Computes the compliance of springs and dashpots: diagonal blocks less the products of their operators.
  subroutine find_extra(part)
    type(island), intent(inout) :: part
    real(dp) :: known(3,3)
    integer(i4) :: i, e, f

    allocate(part%extra(3,3,0:part%n-1))
    do i = 0, part%n - 1
      known = 0.0_dp
      do e = part%entry_ptr(i), part%entry_ptr(i+1) - 1
        do f = part%entry_ptr(i), part%entry_ptr(i+1) - 1
          if (part%node(e) == part%node(f)) known = known + matmul(part%h(:,:,e), transpose(part%h(:,:,f)))
        end do
      end do
      part%extra(:,:,i) = part%diagonal(:,:,i) - known
      if (maxval(abs(part%extra(:,:,i))) <= rounding*maxval(abs(known))) part%extra(:,:,i) = 0.0_dp
    end do
    part%yields = any(part%extra /= 0.0_dp)
  end subroutine find_extra

  !> Computes u = W r + q.
  subroutine island_product(part, r, u)
    type(island), intent(in) :: part
    real(dp), intent(in) :: r(3,0:*)
    real(dp), intent(inout) :: u(3,0:*)

    call add_product(part%n, part%ptr, part%col, part%diagonal, part%w, part%q, r, u)
  end subroutine island_product

  !> Computes u = W r + q; in arrays of explicit shape the strides of blocks are constants.
  pure subroutine add_product(n, ptr, col, diagonal, w, q, r, u)
    integer(i4), intent(in) :: n, ptr(0:*), col(0:*)
    real(dp), intent(in) :: diagonal(3,3,0:*), w(3,3,0:*), q(3,0:*), r(3,0:*)
    real(dp), intent(inout) :: u(3,0:*)
    real(dp) :: x1(3), x2(3), x3(3)
    integer(i4) :: i, k, c

    do i = 0, n - 1
      x1 = q(:,i) + diagonal(:,1,i)*r(1,i)
      x2 = diagonal(:,2,i)*r(2,i)
      x3 = diagonal(:,3,i)*r(3,i)
      do k = ptr(i), ptr(i+1) - 1
        c = col(k)
        x1 = x1 + w(:,1,k)*r(1,c)
        x2 = x2 + w(:,2,k)*r(2,c)
        x3 = x3 + w(:,3,k)*r(3,c)
      end do
      u(:,i) = x1 + (x2 + x3)
    end do
  end subroutine add_product

  !> Nearest admissible reaction of a row.
  pure function project_row(kind, mu, s) result(p)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: mu, s(3)
    real(dp) :: p(3)

    select case (kind)
    case (cone_contact)
      p = project_on_cone(mu, s)
    case (cone_fixed)
      p = s
    case (cone_normal)
      p = [0.0_dp, 0.0_dp, s(3)]
    case default
      p = 0.0_dp
    end select
  end function project_row

  !> Adds the squares of the residual of a row in velocity units, (r - P(r - rho F))/rho, and of its unscaled natural map.
  pure subroutine add_row_measure(kind, mu, rho, u, r, scaled, unscaled)
    integer(i4), intent(in) :: kind
    real(dp), intent(in) :: mu, rho, u(3), r(3)
    real(dp), intent(inout) :: scaled, unscaled
    real(dp) :: residual, map

    select case (kind)
    case (cone_contact)
      residual = sum(contact_map(mu, rho, u, r)**2)/rho**2
      map = sum(contact_map(mu, 1.0_dp, u, r)**2)
    case (cone_fixed)
      residual = sum(u**2)
      map = residual
    case (cone_normal)
      residual = u(3)**2
      map = residual
    case default
      ! a row without reaction may have no law, and no rho
      map = sum(r**2)
      residual = map
      if (rho > 0.0_dp) residual = map/rho**2
    end select
    scaled = scaled + residual
    unscaled = unscaled + map
  end subroutine add_row_measure

  !> Takes an island's scaled reactions, R/d, from those of all rows.
  pure subroutine take_reactions(part, r, x)
    type(island), intent(in) :: part
    real(dp), intent(in) :: r(3,0:*)
    real(dp), intent(inout) :: x(3,0:part%n-1)
    integer(i4) :: i

    do i = 0, part%n - 1
      x(:,i) = r(:,part%row(i))/part%d(i)
    end do
  end subroutine take_reactions

  !> Puts an island's scaled reactions back among those of all rows.
  pure subroutine put_reactions(part, x, r)
    type(island), intent(in) :: part
    real(dp), intent(in) :: x(3,0:part%n-1)
    real(dp), intent(inout) :: r(3,0:*)
    integer(i4) :: i

    do i = 0, part%n - 1
      r(:,part%row(i)) = x(:,i)*part%d(i)
    end do
  end subroutine put_reactions

  !> Residual of scaled reactions r with u = W r + q (both scaled), in the problem's own units; with `unscaled` the larger
  !> of the residual and the unscaled natural map.
  pure function island_residual(part, unscaled, r, u) result(residual)
    type(island), intent(in) :: part
    logical, intent(in) :: unscaled
    real(dp), intent(in) :: r(3,0:*), u(3,0:*)
    real(dp) :: residual, total, other
    integer(i4) :: i

    total = 0.0_dp
    other = 0.0_dp
    do i = 0, part%n - 1
      call add_row_measure(part%kind(i), part%mu(i), part%rho(i)*part%d(i)**2, u(:,i)/part%d(i), r(:,i)*part%d(i), total, other)
    end do
    if (unscaled) total = max(total, other)
    residual = sqrt(total)
  end function island_residual
end module island_problem
