!> Motion of primitives within a step, predicted without contacts.
module primitive_motion
  use kinds, only: dp, i4
  use body_state, only: bodies_and_triples
  use polyhedra, only: shape_tables
  use velocity_operator, only: pseudo_rigid_kind, finite_element_kind
  use matrix3, only: multiply, inverse, positive_definite
  use thread_work, only: pays
  implicit none
  private
  public :: predict_motion

  real(dp), parameter :: part_of_margin = 0.5_dp  !< motions shorter than this part of a margin are ignored
  real(dp), parameter :: still = 1.0e-3_dp        !< bodies that move by less than this part of a margin rest
  real(dp), parameter :: longest = 1.0e3_dp       !< limit of motions, in sizes of the primitive

contains

  !> Computes the motion of every primitive within the step, and the reach within which it can come into contact.
  !>
  !> Reads velocities u* and configurations of bodies, and current boxes and margins; writes `reach` and `drift` of primitives:
  !>
  !>   reach   margin + 2 w, where w bounds the motion of the primitive's points; w = 0 for slow primitives
  !>   drift   motion of a point at x: drift(:,4) + drift(:,1:3) (x - centre of the box); of slow primitives without what loads add
  !>   push    what the loads of the step add to drift(:,4)
  subroutine predict_motion(state, shapes, step)
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    real(dp), intent(in) :: step                    !< its length
    real(dp) :: way(3,4), before(3,4), furthest, size(3)
    integer :: i, b

    !$omp parallel do if (pays(shapes%primitives, 25)) schedule(static) private(way, before, furthest, size, b)
    do i = 0, shapes%primitives - 1
      b = shapes%body(i)
      associate (box => shapes%box(:,i), margin => shapes%margin(i))
        size = box(4:6) - box(1:3)
        if (state%bodies%kind(b) == finite_element_kind) then
          call way_of_element(shapes%vertex_count(i), shapes%vertex_list(shapes%vertex_ptr(i):), shapes%vertex_node, &
                              state%bodies%node_count(b), state%triples%velo(:,state%bodies%velo_ptr(b):), way, furthest)
        else
          way = way_of_body(state, state%triples%velo, b, 0.5_dp*(box(1:3) + box(4:6)))
          furthest = norm2(way(:,4)) + norm2(way(:,1:3))*0.5_dp*norm2(size)
        end if
        if (step*furthest > part_of_margin*margin) then
          shapes%reach(i) = margin + 2*min(step*furthest, longest*maxval(size))
          if (state%bodies%kind(b) == finite_element_kind) then
            call turn_element(shapes%vertex_count(i), shapes%vertex_list(shapes%vertex_ptr(i):), shapes%vertex_node, &
                              state%triples%velo(:,state%bodies%velo_ptr(b):), shapes%current, 0.5_dp*(box(1:3) + box(4:6)), way)
            call way_of_element(shapes%vertex_count(i), shapes%vertex_list(shapes%vertex_ptr(i):), shapes%vertex_node, &
                                state%bodies%node_count(b), state%triples%velo_prev(:,state%bodies%velo_ptr(b):), before, furthest)
          else
            before = way_of_body(state, state%triples%velo_prev, b, 0.5_dp*(box(1:3) + box(4:6)))
          end if
          shapes%drift(:,:,i) = step*way
          shapes%push(:,i) = step*(way(:,4) - before(:,4))
        else
          shapes%reach(i) = margin
          shapes%drift(:,:,i) = 0
          shapes%push(:,i) = 0
          call take_way_before(state, shapes, step, i, b)
        end if
      end associate
    end do
    !$omp end parallel do
  end subroutine predict_motion

  !> Sets `drift` of a slow primitive: it matters beside smaller bodies, whose margins are smaller.  Bodies that rest begin the step without
  !> velocity, whatever loads add.
  subroutine take_way_before(state, shapes, step, i, b)
    type(bodies_and_triples), intent(in) :: state
    type(shape_tables), intent(in) :: shapes
    real(dp), intent(in) :: step
    integer, intent(in) :: i, b             !< primitive and its body
    real(dp) :: way(3,4), furthest, size(3), centre(3)

    associate (velo => state%triples%velo_prev(:,state%bodies%velo_ptr(b):), box => shapes%box(:,i), &
               count => shapes%vertex_count(i), vertex => shapes%vertex_list(shapes%vertex_ptr(i):))
      size = box(4:6) - box(1:3)
      centre = 0.5_dp*(box(1:3) + box(4:6))
      if (state%bodies%kind(b) == finite_element_kind) then
        call way_of_element(count, vertex, shapes%vertex_node, state%bodies%node_count(b), velo, way, furthest)
      else if (state%bodies%kind(b) == pseudo_rigid_kind) then
        way = way_of_body(state, state%triples%velo_prev, b, centre)
        furthest = norm2(way(:,4)) + norm2(way(:,1:3))*0.5_dp*norm2(size)
      else
        furthest = norm2(velo(:,1))*norm2(size) + norm2(velo(:,2))
      end if
      if (.not. step*furthest > still*shapes%margin(i)) return
      if (state%bodies%kind(b) == finite_element_kind) then
        call turn_element(count, vertex, shapes%vertex_node, velo, shapes%current, centre, way)
      else
        way = way_of_body(state, state%triples%velo_prev, b, centre)
      end if
      shapes%drift(:,:,i) = step*way
    end associate
  end subroutine take_way_before

  !> Velocity of a rigid or pseudo-rigid body as a function of place about a point, v = way(:,4) + way(:,1:3) (x - point).
  pure function way_of_body(state, velo, b, point) result(way)
    type(bodies_and_triples), intent(in) :: state
    integer, intent(in) :: b
    real(dp), intent(in) :: velo(3,0:*), point(3)
    real(dp) :: way(3,4), spin(3)
    integer :: c, v

    c = state%bodies%conf_ptr(b)
    v = state%bodies%velo_ptr(b)
    associate (conf => state%configurations%conf)
      if (state%bodies%kind(b) == pseudo_rigid_kind) then
        way(:,1:3) = transpose(matmul(inverse(conf(:,c:c+2)), velo(:,v:v+2)))
        way(:,4) = velo(:,v+3)
      else
        spin = multiply(conf(:,c:c+2), velo(:,v))
        way(:,1) = [0.0_dp, spin(3), -spin(2)]
        way(:,2) = [-spin(3), 0.0_dp, spin(1)]
        way(:,3) = [spin(2), -spin(1), 0.0_dp]
        way(:,4) = velo(:,v+1)
      end if
      way(:,4) = way(:,4) + matmul(way(:,1:3), point - conf(:,c+3))
    end associate
  end function way_of_body

  !> Mean and largest velocity of an element's nodes, or of all nodes of its body if it is part of a shape within a mesh.
  subroutine way_of_element(count, vertex, vertex_node, nodes, velo, way, furthest)
    integer(i4), intent(in) :: count, vertex(count), vertex_node(0:*), nodes
    real(dp), intent(in) :: velo(3,0:*)             !< of the body's nodes
    real(dp), intent(out) :: way(3,4), furthest
    integer :: k

    way = 0
    furthest = 0
    if (any(vertex_node(vertex) < 0)) then
      do k = 0, nodes - 1
        call take(velo(:,k), nodes)
      end do
    else
      do k = 1, count
        call take(velo(:,vertex_node(vertex(k))), count)
      end do
    end if
    furthest = sqrt(furthest)

  contains

    subroutine take(v, all)
      real(dp), intent(in) :: v(3)
      integer(i4), intent(in) :: all
      way(:,4) = way(:,4) + v/all
      furthest = max(furthest, v(1)**2 + v(2)**2 + v(3)**2)
    end subroutine take
  end subroutine way_of_element

  !> Lets the velocity of an element vary with place as its nodes' do, by least squares; `way` is their mean before, and about
  !> `point` then.  Parts of a shape within a mesh keep their mean.
  pure subroutine turn_element(count, vertex, vertex_node, velo, current, point, way)
    integer(i4), intent(in) :: count, vertex(count), vertex_node(0:*)
    real(dp), intent(in) :: velo(3,0:*), current(3,0:*), point(3)
    real(dp), intent(inout) :: way(3,4)
    real(dp) :: middle(3), arm(3), change(3), moments(3,3), products(3,3)
    integer :: k, j

    if (any(vertex_node(vertex) < 0)) return
    middle = sum(current(:,vertex), 2)/count
    moments = 0
    products = 0
    do k = 1, count
      arm = current(:,vertex(k)) - middle
      change = velo(:,vertex_node(vertex(k))) - way(:,4)
      do j = 1, 3
        moments(:,j) = moments(:,j) + arm*arm(j)
        products(:,j) = products(:,j) + change*arm(j)
      end do
    end do
    if (.not. positive_definite(moments)) return
    way(:,1:3) = matmul(products, inverse(moments))
    way(:,4) = way(:,4) + matmul(way(:,1:3), point - middle)
  end subroutine turn_element

end module primitive_motion
