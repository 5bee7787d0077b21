# What a user may want to set before `make all`.  Every value can also be given on the command line,
# e.g. `make all DEBUG=yes`.

# Python 3.11 or newer that makes the virtual environment
PYTHON = python3

# Fortran compiler
FC = gfortran

# Optimisation flags of the kernels (empty: -O3 -march=native -funroll-loops -fno-math-errno)
FFLAGS =

# Bounds and floating-point checks in the kernels (yes/no); slower, for hunting errors
DEBUG = no

# Several threads in the kernels (yes/no)
OPENMP = yes

# Number of threads (empty: all cores)
THREADS =

# BLAS and LAPACK: no kernel needs them yet (blocks are at most 12x12); numpy and scipy bring their own
BLAS =
LAPACK =

# HDF5 comes with the h5py package; no system library is needed
HDF5 = package

# Siconos' library for SICONOS_SOLVER (yes/no): `yes` installs it or names the line that does; it is used whenever it is there
SICONOS = no

# Runs of one input in several processes (yes/no): `yes` installs mpi4py and MPICH, with mpiexec, from PyPI; `make mpi` does so at any time
MPI = no
