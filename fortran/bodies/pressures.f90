!> Pressures on surfaces of meshes as generalised forces of their bodies (docs/language-running.md, PRESSURE; pressure.py).
module pressures
  use kinds, only: dp, i4, i8
  use body_state, only: bodies_and_triples, open_bodies
  use state_tables, only: pressure_table, pressure_node_table, series_table, open_table
  use table_registry, only: table_open
  use matrix3, only: cofactors, multiply
  use velocity_operator, only: rigid_kind, pseudo_rigid_kind, finite_element_kind
  implicit none
  private
  public :: add_pressures

contains

  !> Adds every pressure p, in its order, to `force` at the present configuration: cof F sum(a0) p on the centre of rigid and
  !> pseudo-rigid bodies, cof F sum(a0 A^T) p on the rate of F, or its moment; p times `weight` on the nodes of finite elements.
  !>
  !> Reads all columns of pressures and their nodes, the values of series at the present time, kind, centre, pointers and conf of bodies;
  !> writes force.
  subroutine add_pressures(handles, table, nodes, series, status)
    integer(i8), intent(in) :: handles(3)         !< BodyTable.handles
    integer(i8), intent(in) :: table, nodes, series   !< PressureTable, PressureNodeTable, SeriesTable
    integer(i4), intent(out) :: status            !< `table_unknown`: a handle is not that of such a table
    type(bodies_and_triples) :: state
    type(pressure_table) :: load
    type(pressure_node_table) :: loaded
    type(series_table) :: known
    real(dp) :: p, pull(3), m(3,3), cofactor(3,3)
    integer(i4) :: b, c, k, v
    integer :: i, j

    call open_bodies(handles, state, status)
    if (status == table_open) call open_table(table, load, status)
    if (status == table_open) call open_table(nodes, loaded, status)
    if (status == table_open) call open_table(series, known, status)
    if (status /= table_open) return
    associate (kind => state%bodies%kind, centre => state%bodies%centre, conf => state%configurations%conf, &
               force => state%triples%force, first => load%node_ptr, node => loaded%node, weight => loaded%weight)
    do k = 0, int(load%rows, i4) - 1
      b = load%body(k)
      v = state%bodies%velo_ptr(b)
      p = load%value(k)
      if (load%series(k) >= 0) p = known%result(load%series(k))
      if (kind(b) == finite_element_kind) then
        do j = first(k), first(k) + load%node_count(k) - 1
          force(:,v+node(j)) = force(:,v+node(j)) + p*weight(:,j)
        end do
        cycle
      end if
      c = state%bodies%conf_ptr(b)
      pull = p*load%area(:,k)
      do j = 1, 3
        m(:,j) = p*load%moment(:,j,k) - pull*centre(j,b)
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
    end associate
  end subroutine add_pressures

end module pressures
