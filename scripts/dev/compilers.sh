#!/usr/bin/env bash
# Checks that compilers other than the one that builds it accept the CPU program without warnings.
#
# usage: scripts/dev/compilers.sh [COMPILER ...]
#
# Default: those of g++-12 to g++-14 and clang++-16 to clang++-19 that are installed. Every translation unit of lib and
# apps in the preset cpu is parsed with the preset's warnings as errors, and no code is made (-fsyntax-only): warnings
# that a compiler finds when it optimises are not among them, nor those of the standard library. Another system's compilers are checked by running
# this there: scripts/dev/rocm_root.sh scripts/dev/compilers.sh
#
# One line a compiler. Exit status: 0 when all accept it, 1 when one does not, 3 when none is there.
# With BIOGPU_RECORD=1 those that do are recorded for docs/platforms.md (scripts/measure/platforms.py).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

compilers=("$@")
if [ $# -eq 0 ]; then
  for compiler in g++-{12,13,14} clang++-{16,17,18,19}; do
    ! command -v "$compiler" >/dev/null || compilers+=("$compiler")
  done
fi
[ ${#compilers[@]} -gt 0 ] || { echo "compilers: SKIPPED, none of those asked for is installed"; exit 3; }

# commands FOLDER: the compiler's commands for the program, each followed by a zero byte.
commands() {
  python3 - "$1" <<'PYTHON'
import json, pathlib, shlex, sys

root = pathlib.Path.cwd()
build = root / sys.argv[1]
for entry in json.loads((build / "compile_commands.json").read_text()):
    file = pathlib.Path(entry["file"])
    if file.relative_to(build if file.is_relative_to(build) else root).parts[0] not in ("lib", "apps"):
        continue
    words = shlex.split(entry["command"])
    del words[words.index("-o"):words.index("-o") + 2]
    words = words[1:] if words[0].endswith("ccache") else words
    print(shlex.join(["cd", entry["directory"]]) + " && " + shlex.join([*words, "-fsyntax-only"]), end="\0")
PYTHON
}

# check COMPILER: its line.
check() {
  local compiler=$1 build=build/compilers/$1 started=$SECONDS n platform
  mkdir -p build/compilers
  if ! { cmake --preset cpu -B "$build" -DCMAKE_CXX_COMPILER="$compiler" -DBIOGPU_WERROR=ON &&
    cmake --build "$build" --target lib/qc/html_assets.cpp biogpu_commit; } >"$build.log" 2>&1; then
    tail -n 20 "$build.log"
    echo "$compiler: FAILED, it does not configure"
    return 1
  fi
  commands "$build" >"$build.commands"
  n=$(tr -cd '\0' <"$build.commands" | wc -c)
  if [ "$n" -lt 100 ] || ! xargs -0 -P "${BIOGPU_JOBS:-2}" -I{} bash -c '{}' <"$build.commands" >"$build.log" 2>&1 ||
    grep -q "^$PWD/.* warning:" "$build.log"; then
    grep -E -A 6 'error:|warning:' "$build.log" | head -n 60
    echo "$compiler: FAILED, see $build.log; $n translation units"
    return 1
  fi
  echo "$compiler: ok, $n translation units in $((SECONDS - started)) s"
  case $compiler in
    g++*) platform="x86-64 GCC ${compiler##*-}" ;;
    *) platform="x86-64 Clang" ;;
  esac
  [ "${BIOGPU_RECORD:-0}" != 1 ] || [ "$(uname -m)" != x86_64 ] ||
    printf '%s\tall\tparsed\t%s\n' "$platform" "$("$compiler" --version | head -n 1): $n translation units" |
    python3 scripts/measure/platforms.py "scripts/dev/compilers.sh $compiler"
}

status=0
for compiler in "${compilers[@]}"; do
  check "$compiler" || status=1
done
exit $status
