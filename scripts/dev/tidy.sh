#!/usr/bin/env bash
# Static analysis of the product's C++ sources with clang-tidy, within a time budget.
#
# usage: scripts/dev/tidy.sh [SECONDS] [FILE ...]     default: 300 s, all of apps/ and lib/
#
# Reads build/cpu/compile_commands.json. Recently changed files go first; those for which no time
# is left are named. Exit status 1 when a file has findings.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
budget=${1:-300}
[ $# -eq 0 ] || shift
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "tidy: no clang-tidy" >&2; exit 1; }
database=build/cpu
[ -f $database/compile_commands.json ] || { echo "tidy: build the preset cpu first" >&2; exit 1; }
jobs=${BIOGPU_JOBS:-$(nproc)}
work=$(mktemp -d)
touch "$work/findings"
trap 'rm -rf "$work"' EXIT

if [ $# -gt 0 ]; then
  files=("$@")
else
  mapfile -t files < <({
    git log --format= --name-only -n 200 -- 'apps/*.cpp' 'lib/*.cpp'
    git ls-files 'apps/*.cpp' 'lib/*.cpp'
  } | awk '!seen[$0]++')
fi

n_checked=0
left=()
for file in "${files[@]}"; do
  # Only what the build compiles has a command line.
  if [ ! -f "$file" ] || ! grep -q "/$file\"" $database/compile_commands.json; then continue; fi
  if [ "$SECONDS" -ge "$budget" ]; then left+=("$file"); continue; fi
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  n_checked=$((n_checked + 1))
  {
    # g++ knows warning flags that clang does not; SIMD sources need one instruction set, not all.
    "$tidy" -p $database --quiet --extra-arg=-Wno-unknown-warning-option \
      --extra-arg=-DHWY_COMPILE_ONLY_STATIC "$file" \
      >"$work/$n_checked.log" 2>"$work/$n_checked.err" || echo "$file" >>"$work/findings"
  } &
done
wait
if [ -s "$work/findings" ]; then
  cat "$work"/*.log
  grep -h 'error:' "$work"/*.err | sort -u | head -n 20
fi
[ ${#left[@]} -eq 0 ] || echo "tidy: no time left for ${#left[@]} files: ${left[*]}"
n_findings=$(wc -l <"$work/findings")
echo "tidy: $n_checked files, $n_findings with findings, $SECONDS s"
[ "$n_findings" = 0 ]
