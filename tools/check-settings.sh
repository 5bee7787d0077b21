#!/bin/sh
# Refuses settings of Config.mak, or words of the command line, that the build would not obey.  They come as NAME=VALUE.
complain() { echo "Config.mak: $1" >&2; exit 1; }
python= version= flags= debug=

for setting; do
  name=${setting%%=*} value=${setting#*=}
  case $name in
    DEBUG | OPENMP | SICONOS | MPI)
      case $value in yes | no) ;; *) complain "$name = $value: yes or no is expected" ;; esac ;;
  esac
  case $name in
    BLAS | LAPACK) [ -z "$value" ] || complain "$name = $value: no kernel calls it, and numpy and scipy bring their own; leave it empty" ;;
    HDF5) [ "$value" = package ] || complain "HDF5 = $value: results are written by the h5py package, which brings its own HDF5; set it to package" ;;
    THREADS) case $value in *[!0-9]* | 0 | 0*) complain "THREADS = $value: a positive whole number is expected, or nothing" ;; esac ;;
    FFLAGS) flags=$value ;;
    DEBUG) [ "$value" = no ] || debug=yes ;;
    FC)
      command -v "${value%% *}" >/dev/null 2>&1 || [ "${value%% *}" = gfortran ] || complain "FC = $value: there is no such Fortran compiler" ;;
    PYTHON)
      command -v "$value" >/dev/null 2>&1 || [ "$value" = python3 ] || complain "PYTHON = $value: there is no such Python"
      python=$value ;;
  esac
done
[ -z "$debug" ] || [ -z "$flags" ] || complain "DEBUG = yes has flags of its own; leave FFLAGS empty"

if command -v "$python" >/dev/null 2>&1; then
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2] if sys.version_info >= (3, 11) else "old")' 2>/dev/null)
  case $version in
    '') complain "PYTHON = $python does not run" ;;
    old) complain "PYTHON = $python: Python 3.11 or newer is needed, this is $("$python" --version 2>&1)" ;;
  esac
fi
[ -e .venv/.place ] || exit 0
[ "$(cat .venv/.place)" = "$(pwd -P)" ] || complain ".venv was made in $(cat .venv/.place) and does not work elsewhere; run make clean first"
there=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
[ -n "$there" ] || complain "the Python that .venv was made with is gone; run make clean first"
[ "${version:-$there}" = "$there" ] || complain "PYTHON = $python is Python $version, but .venv was made with $there; run make clean first"
