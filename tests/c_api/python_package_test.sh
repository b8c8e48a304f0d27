#!/usr/bin/env bash
# The Python package biogpu of the source folder with a program and a library.
# usage: python_package_test.sh PROGRAM LIBRARY SOURCE_DIR
for python in python3 /usr/bin/python3 "${BIOGPU_TORCH_PYTHON:-}" ''; do
  [ -z "$python" ] || ! "$python" -c 'import numpy' 2>/dev/null || break
done
if [ -z "$python" ]; then
  echo "SKIPPED: no numpy here; BIOGPU_TORCH_PYTHON names a python that has it"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$(realpath "$1") library=$(realpath "$2") source=$(realpath "$3")
cd "$work" && env BIOGPU="$program" BIOGPU_POTENTIAL_LIBRARY="$library" PYTHONPATH="$source/scripts/python" \
  PYTHONDONTWRITEBYTECODE=1 BIOGPU_DEVICE=cpu XDG_CACHE_HOME="$work/cache" \
  "$python" "$source/tests/c_api/python_package_check.py" "$source"
