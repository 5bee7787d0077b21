#!/bin/sh
# Makes sure that the compilers and the python venv module are there: installs them as root on Debian and its
# relatives, otherwise prints the line to run and stops.  With a third argument `yes` Siconos' library has to be there, too,
# with a fourth one OpenGL, for the viewer.
python=$1
fortran=$2
siconos=${3:-no}
viewer=${4:-no}
missing=
case $(basename "$python") in python3.*) debian=$(basename "$python") ;; *) debian=python3 ;; esac  # what Debian calls its packages
command -v "$fortran" >/dev/null 2>&1 || missing="$missing gfortran"
command -v gcc >/dev/null 2>&1 || missing="$missing gcc"
command -v "$python" >/dev/null 2>&1 || missing="$missing $debian"
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing $debian-venv"
header=$("$python" -c 'import sysconfig, os; print(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2>/dev/null)
[ -n "$header" ] && [ -e "$header" ] || missing="$missing $debian-dev"
if [ "$siconos" = yes ]; then
  "$python" -c 'import ctypes; ctypes.CDLL("libsiconos_numerics.so.7")' >/dev/null 2>&1 || missing="$missing libsiconos-numerics7"
fi
if [ "$viewer" = yes ]; then
  "$python" -c 'import ctypes; ctypes.CDLL("libEGL.so.1"); ctypes.CDLL("libGL.so.1")' >/dev/null 2>&1 || missing="$missing libegl1 libgl1 libgl1-mesa-dri"
fi
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing system packages:$missing"
  apt-get update -q >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null && exit 0
  echo "could not install:$missing" >&2
  exit 1
fi
echo "missing system packages; run once:" >&2
echo "  sudo apt-get update && sudo apt-get install -y$missing" >&2
exit 1
