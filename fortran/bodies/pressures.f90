!> Pressures on surfaces of meshes as generalised forces of their bodies (manual, PRESSURE; pressure.py).
module pressures
  use kinds, only: dp, i4
  use matrix3, only: cofactors, multiply
  use velocity_operator, only: rigid_kind, pseudo_rigid_kind, finite_element_kind
  implicit none
  private
  public :: add_pressures

contains

  !> Adds every pressure p, in its order, to `force` at the present configuration: cof F sum(a0) p on the centre of rigid and
  !> pseudo-rigid bodies, cof F sum(a0 A^T) p on the rate of F, or its moment; p times `weight` on the nodes of finite elements.
  subroutine add_pressures(n, series_values, body, value, series, area, moment, first, count, node, weight, &
                           kind, centre, conf_ptr, velo_ptr, conf, force, nl, ns, nn, nb, nconf, nvelo)
    integer(i4), intent(in) :: n                  !< pressures in use
    integer(i4), intent(in) :: nl, ns, nn, nb, nconf, nvelo
    real(dp), intent(in) :: series_values(0:ns-1) !< series at the present time
    integer(i4), intent(in) :: body(0:nl-1)       !< rows of bodies
    real(dp), intent(in) :: value(0:nl-1)         !< [pressure], used where there is no series
    integer(i4), intent(in) :: series(0:nl-1)     !< rows of time series, -1: none
    real(dp), intent(in) :: area(3,0:nl-1)        !< sum of a0, the referential area vectors [length**2]
    real(dp), intent(in) :: moment(3,3,0:nl-1)    !< sum of a0 X^T about the origin [length**3]
    integer(i4), intent(in) :: first(0:nl-1), count(0:nl-1) !< nodes of finite elements
    integer(i4), intent(in) :: node(0:nn-1)       !< numbers within their bodies
    real(dp), intent(in) :: weight(3,0:nn-1)      !< integrals of N_a n0 dA0 [length**2]
    integer(i4), intent(in) :: kind(0:nb-1), conf_ptr(0:nb-1), velo_ptr(0:nb-1)
    real(dp), intent(in) :: centre(3,0:nb-1)      !< referential mass centres
    real(dp), intent(in) :: conf(3,0:nconf-1)
    real(dp), intent(inout) :: force(3,0:nvelo-1)
    real(dp) :: p, pull(3), m(3,3), cofactor(3,3)
    integer(i4) :: b, c, k, v
    integer :: i, j

    do k = 0, n - 1
      b = body(k)
      v = velo_ptr(b)
      p = value(k)
      if (series(k) >= 0) p = series_values(series(k))
      if (kind(b) == finite_element_kind) then
        do j = first(k), first(k) + count(k) - 1
          force(:,v+node(j)) = force(:,v+node(j)) + p*weight(:,j)
        end do
        cycle
      end if
      c = conf_ptr(b)
      pull = p*area(:,k)
      do j = 1, 3
        m(:,j) = p*moment(:,j,k) - pull*centre(j,b)
      end do
      if (kind(b) == rigid_kind) then
        cofactor = cofactors(conf(:,c:c+2))
        force(:,v+1) = force(:,v+1) + multiply(cofactor, pull)
        ! of A x a0, in the body's frame
        force(:,v) = force(:,v) + [m(3,2) - m(2,3), m(1,3) - m(3,1), m(2,1) - m(1,2)]
      else if (kind(b) == pseudo_rigid_kind) then
        cofactor = cofactors(transpose(conf(:,c:c+2)))   ! the configuration triples are the rows of F
        force(:,v+3) = force(:,v+3) + multiply(cofactor, pull)
        do j = 1, 3
          do i = 1, 3
            force(j,v+i-1) = force(j,v+i-1) + sum(cofactor(i,:)*m(:,j))
          end do
        end do
      end if
    end do
  end subroutine add_pressures

end module pressures
