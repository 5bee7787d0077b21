!> Starts and completes persistent requests of MPI.
!>
!> Python makes the requests and finds the two functions in the library that mpi4py uses, so the module of kernels is linked with no MPI,
!> and one build serves all of them.  Handles are `words` integers of four bytes each: MPICH has numbers, Open MPI addresses.
module persistent_requests
  use, intrinsic :: iso_c_binding, only: c_f_procpointer, c_int, c_loc, c_null_funptr, c_ptr
  use kinds, only: i4, i8
  implicit none
  private
  public :: request_functions, start_requests, completed

  integer(i8), parameter :: naps_from = 10000    !< part of a second from which on a process that waits sleeps between two looks
  integer(c_int), parameter :: nap = 20          !< sleep [microseconds]
  integer(i8), parameter :: answers_in = 20      !< part of a second after which a wait ends, so that Python can answer signals

  !> Addresses of MPI_Startall and MPI_Testall.
  type :: request_functions
    integer(i8) :: start_all, test_all
  end type request_functions

  abstract interface
    function start_all(count, requests) bind(c) result(error)
      import :: c_int, c_ptr
      integer(c_int), value :: count
      type(c_ptr), value :: requests
      integer(c_int) :: error
    end function start_all

    function test_all(count, requests, flag, statuses) bind(c) result(error)
      import :: c_int, c_ptr
      integer(c_int), value :: count
      type(c_ptr), value :: requests, statuses
      integer(c_int) :: flag, error
    end function test_all
  end interface

  interface
    function usleep(microseconds) bind(c) result(error)
      import :: c_int
      integer(c_int), value :: microseconds
      integer(c_int) :: error
    end function usleep
  end interface

contains

  !> Starts requests.
  !>
  !>   count     of requests
  !>   request   their handles, one after another
  !>   error     of MPI, 0: none
  subroutine start_requests(functions, count, request, error)
    type(request_functions), intent(in) :: functions
    integer(i4), intent(in) :: count
    integer(i4), intent(inout), target, contiguous :: request(:)
    integer(i4), intent(out) :: error
    procedure(start_all), pointer :: start

    call c_f_procpointer(transfer(functions%start_all, c_null_funptr), start)
    error = start(count, c_loc(request))
  end subroutine start_requests

  !> Waits until requests are complete, for a twentieth of a second at most; returns whether they are.
  !>
  !> A process that waits leaves the core to others, such as the one for which it waits.
  !>
  !>   status    memory for statuses of MPI, which are not read
  !>   error     of MPI, 0: none
  logical function completed(functions, count, request, status, error)
    type(request_functions), intent(in) :: functions
    integer(i4), intent(in) :: count
    integer(i4), intent(inout), target, contiguous :: request(:), status(:)
    integer(i4), intent(out) :: error
    procedure(test_all), pointer :: test
    integer(c_int) :: flag, ignored
    integer(i8) :: began, now, rate

    call c_f_procpointer(transfer(functions%test_all, c_null_funptr), test)
    call system_clock(began, rate)
    do
      error = test(count, c_loc(request), flag, c_loc(status))
      completed = flag /= 0
      if (completed .or. error /= 0) return
      call system_clock(now)
      if ((now - began)*answers_in > rate) return
      if ((now - began)*naps_from > rate) ignored = usleep(nap)
    end do
  end function completed
end module persistent_requests
