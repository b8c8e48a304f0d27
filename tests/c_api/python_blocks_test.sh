#!/usr/bin/env bash
# The Python package biogpu_blocks compared with PyTorch in double precision, and patched models.
# usage: python_blocks_test.sh LIBRARY SOURCE_DIR
python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import numpy, torch' 2>/dev/null; then
  echo "SKIPPED: no torch and numpy here; BIOGPU_TORCH_PYTHON names a python that has them"
  exit 77
fi
set -e
export BIOGPU_BLOCK_LIBRARY PYTHONPATH=$2/scripts/python PYTHONDONTWRITEBYTECODE=1
BIOGPU_BLOCK_LIBRARY=$(realpath "$1")
for check in blocks kinds; do
  "$python" "$2/tests/c_api/python_${check}_check.py"
done
