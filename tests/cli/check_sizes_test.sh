#!/usr/bin/env bash
# scripts/dev/check_sizes.py finds a file and a folder that are too large in a small project.
# shellcheck disable=SC2317  # a function that check() calls
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir -p p/scripts/dev p/lib/io
cp "$source_dir"/scripts/dev/check_{sizes,layers}.py p/scripts/dev
cd p || exit 1
git init -q .
check_sizes() { git add . && PYTHONDONTWRITEBYTECODE=1 python3 scripts/dev/check_sizes.py >../out.txt 2>&1; }
# breach TEXT: the check fails and prints this line.
breach() { ! check_sizes && grep -qx "$1" ../out.txt; }

for i in {1..20}; do echo "int a;" | tee "lib/io/file$i.hpp" "lib/io/file${i}_cpu.cpp" >"lib/io/file$i.cpp"; done
seq 400 >lib/io/file1.cpp
check "sizes at the limits" check_sizes
seq 401 >lib/io/file1.cpp
check "a file" breach 'lib/io/file1.cpp: 401 lines, more than 400'
seq 10 >lib/io/file1.cpp
touch lib/io/file21.cpp
check "a folder" breach 'lib/io: 21 stems, more than 20'

cd "$work" || exit 1
finish
