#!/usr/bin/env bash
# Makes a wheel for the CPU: the command biogpu and the packages biogpu and biogpu_blocks, for every Python from 3.9 on.
#
# usage: scripts/packaging/wheel.sh [--build FOLDER] [FOLDER]      [build/packages]
#   --build FOLDER   packs this build, else the preset cpu is built in build/release
#
# auditwheel, of PyPI, checks that the wheel carries what it needs and gives the tag of the C library that it runs
# with: manylinux_2_36 where it is made on Debian 12. try_wheel.sh tries it on bare systems.
set -euo pipefail

cd "$(dirname "$0")/../.."
# shellcheck source=scripts/packaging/project.sh
. scripts/packaging/project.sh
# shellcheck source=scripts/packaging/installed_tree.sh
. scripts/packaging/installed_tree.sh
take_build_and_out "$@"

audit=build/wheel-venv/bin/auditwheel
if [ ! -x "$audit" ]; then
  python3 -m venv build/wheel-venv
  build/wheel-venv/bin/pip install -q auditwheel
fi
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
installed_tree "$stage/prefix" "$build"
plain=$(python3 scripts/packaging/make_wheel.py "$stage/prefix" "$BIOGPU_VERSION" "linux_$(uname -m)" "$stage" "$BIOGPU_HOME")
tag=manylinux_$(glibc_of "$stage/prefix" | tr . _)_$(uname -m)
PATH=$PWD/build/wheel-venv/bin:$PATH "$audit" show "$plain" >"$stage/show.txt"
grep -q "\"$tag\"" <(tr -d '\n' <"$stage/show.txt") || { cat "$stage/show.txt" >&2; echo "wheel: not $tag" >&2; exit 1; }
python3 scripts/packaging/make_wheel.py "$stage/prefix" "$BIOGPU_VERSION" "$tag" "$out" "$BIOGPU_HOME"
