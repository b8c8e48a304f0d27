#!/usr/bin/env bash
# Converters of weights without the packages that they need: one line that says which, and how to get it.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

for package in numpy safetensors torch; do
  mkdir -p "hidden/$package"
  [ $package = torch ] || touch "hidden/$package/__init__.py"
done
echo 'raise ModuleNotFoundError("No module named torch", name="torch")' >hidden/torch/__init__.py
for program in "$source_dir"/scripts/convert/*.py; do
  grep -q '^import needed_packages' "$program" || continue
  name=$(basename "$program")
  last_command=$name
  PYTHONPATH=hidden PYTHONDONTWRITEBYTECODE=1 python3 "$program" in out >out.txt 2>err.txt
  rc=$?
  check "exit code 1 of $name" rc_is 1
  check "one line" n_lines_is err.txt 1
  check "the package" err_has "^$name: the Python package torch cannot be imported; python3 -m pip install -r .*/requirements.txt$"
done
# shellcheck disable=SC2046
check "all converters with torch say so" test -z "$(grep -L '^import needed_packages' $(grep -l '^import argparse' \
  $(grep -l '^import torch' "$source_dir"/scripts/convert/*.py)))"

finish
