#!/usr/bin/env bash
# Static analysis of the product's C++ sources with clang-tidy, within a time budget.
#
# usage: scripts/dev/tidy.sh [SECONDS] [FILE ...]     default: 300 s, all of apps/, lib/ and gpu/
#
# Reads build/emulated/compile_commands.json, which holds the GPU's host code too (BIOGPU_BUILD names
# another build). A file that was clean is not analysed again until it, one of its headers, its
# command or the configuration changes: build/tidy remembers. What changed goes first, the others begin further
# on with each commit, so that every one has its turn (scripts/dev/affected.py); those for which no time is left
# are counted, with the word SKIPPED. Exit status 1 when a file has findings.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
root=$PWD
budget=${1:-300}
[ $# -eq 0 ] || shift
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "tidy: no clang-tidy" >&2; exit 1; }
database=${BIOGPU_BUILD:-build/emulated}
[ -f "$database/compile_commands.json" ] || { echo "tidy: no $database; scripts/test.sh builds it" >&2; exit 1; }
jobs=${BIOGPU_JOBS:-$(nproc)}
clean=build/tidy
# clang 14 cannot read gemmi's headers as C++20 (a vector of a type that is declared later).
unreadable=lib/structure/read_
mkdir -p $clean
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/findings"

if [ $# -gt 0 ]; then
  files=("$@")
else
  scripts/dev/affected.py sources "$database" >"$work/list"
  mapfile -t files < <(cut -d' ' -f2 "$work/list")
  [ ${#files[@]} -gt 0 ] || { echo "tidy: no sources in $database" >&2; exit 1; }
fi

"$tidy" --version >"$work/common"
cat .clang-tidy scripts/dev/tidy.sh >>"$work/common"
# Which of the repository's files each object was built from, as ninja noted it: "FILE HEADER ...".
ninja -C "$database" -t deps 2>/dev/null |
  awk -v root="$root/" '
    /^[^ ]/ { if (line != "") print line; line = "" }
    /^ / {
      sub(/^ +/, ""); sub(/^(\.\.\/)+/, ""); if (index($0, root) == 1) $0 = substr($0, length(root) + 1)
      if ($0 !~ /^\//) line = line == "" ? $0 : line " " $0
    }
    END { if (line != "") print line }' >"$work/deps"

# key FILE: names what the analysis of a file depends on; nothing where that is not known.
key() {
  local headers
  headers=$(awk -v file="$1" '$1 == file { print; exit }' "$work/deps")
  [ -n "$headers" ] || return 1
  # shellcheck disable=SC2086  # one word a header; generated ones have no path from the root
  { cat "$work/common"; grep -F "/$1\"" "$database/compile_commands.json"; cat $headers; } 2>/dev/null |
    sha256sum | cut -c1-64
}

# analyse FILE NUMBER
analyse() {
  # g++ knows warning flags that clang does not; SIMD sources need one instruction set, not all.
  if "$tidy" -p "$database" --quiet --extra-arg=-Wno-unknown-warning-option \
    --extra-arg=-DHWY_COMPILE_ONLY_STATIC "$1" >"$work/$2.log" 2>"$work/$2.err"; then
    local name
    if name=$(key "$1"); then touch "$clean/$name"; fi
  else
    echo "$1" >>"$work/findings"
  fi
}

n_checked=0
n_known=0
left=()
for file in "${files[@]}"; do
  # Only what the build compiles has a command line.
  if [ ! -f "$file" ] || [[ $file == "$unreadable"* ]] || ! grep -q "/$file\"" "$database/compile_commands.json"; then continue; fi
  if name=$(key "$file") && [ -e "$clean/$name" ]; then
    n_known=$((n_known + 1))
    continue
  fi
  if [ "$SECONDS" -ge "$budget" ]; then left+=("$file"); continue; fi
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  n_checked=$((n_checked + 1))
  analyse "$file" $n_checked &
done
wait
if [ -s "$work/findings" ]; then
  cat "$work"/*.log
  grep -h 'error:' "$work"/*.err | sort -u | head -n 20
fi
if [ ${#left[@]} -gt 0 ]; then
  n_touched=$(printf '%s\n' "${left[@]}" | grep -cxFf <(grep -v '^rest' "$work/list" 2>/dev/null | cut -d' ' -f2))
  echo "tidy: SKIPPED, no time for ${#left[@]} files, of which $n_touched changed or include what did"
fi
n_findings=$(wc -l <"$work/findings")
echo "tidy: $n_checked files analysed, $n_known known to be clean, $n_findings with findings, $SECONDS s"
[ "$n_findings" = 0 ]
