!> Number of threads of kernels, and properties of the build.
module threads
  use, intrinsic :: iso_fortran_env, only: compiler_options
  use, intrinsic :: ieee_exceptions, only: ieee_get_flag, ieee_set_flag, ieee_usual
  use kinds, only: i4
!$ use omp_lib, only: omp_set_num_threads, omp_get_max_threads
  implicit none
  private
  public :: set_threads, get_threads, has_checks, take_exceptions

contains

  !> Sets the number of OpenMP threads of the calling process (ignored by builds without OpenMP).
  subroutine set_threads(count)
    integer(i4), intent(in) :: count   !< number of threads, at least 1
!$  call omp_set_num_threads(max(1, count))
    if (count < 0) return
  end subroutine set_threads

  !> Number of OpenMP threads in use (1 in builds without OpenMP).
  subroutine get_threads(count)
    integer(i4), intent(out) :: count  !< number of threads
    count = 1
!$  count = omp_get_max_threads()
  end subroutine get_threads

  !> Whether the kernels were compiled with bounds and floating-point checks (DEBUG = yes).
  subroutine has_checks(flag)
    integer(i4), intent(out) :: flag  !< 1: yes
    flag = merge(1, 0, index(compiler_options(), '-fcheck=all') > 0)
  end subroutine has_checks

  !> Returns the floating-point exceptions of this thread since the last call, and clears them.
  subroutine take_exceptions(signalled)
    integer(i4), intent(out) :: signalled(3)  !< overflow, division by zero, invalid operation: 1 if signalled
    logical :: flags(3)

    call ieee_get_flag(ieee_usual, flags)
    call ieee_set_flag(ieee_usual, .false.)
    signalled = merge(1, 0, flags)
  end subroutine take_exceptions
end module threads
