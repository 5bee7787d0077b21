#!/bin/sh
# Makes sure that the compilers and the python venv module are there: installs them as root on Debian and its
# relatives, otherwise prints the line to run and stops.
python=$1
fortran=$2
missing=
command -v "$fortran" >/dev/null 2>&1 || missing="$missing gfortran"
command -v gcc >/dev/null 2>&1 || missing="$missing gcc"
command -v "$python" >/dev/null 2>&1 || missing="$missing python3"
"$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
header=$("$python" -c 'import sysconfig, os; print(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2>/dev/null)
[ -n "$header" ] && [ -e "$header" ] || missing="$missing python3-dev"
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
