!> The number of threads kernels may use; the only switch that crosses into the compiled module.
module threads
  use kinds, only: i4
!$ use omp_lib, only: omp_set_num_threads, omp_get_max_threads
  implicit none
  private
  public :: set_threads, get_threads

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
end module threads
