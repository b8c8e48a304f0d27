#!/usr/bin/env bash
# Configures and builds one preset and runs its tests.
#
# usage: scripts/dev/test_preset.sh PRESET [CTEST OPTION ...]
#
# CTest's output goes to the screen and to build/PRESET/ctest.log, which test_summary.sh reads. With
# BIOGPU_RECORD=1 what passed is recorded for docs/platforms.md (scripts/measure/platforms.py).
set -euo pipefail

root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
[ $# -ge 1 ] || { sed -n '4p' "$0" | cut -c3- >&2; exit 2; }
preset=$1
shift
jobs=$(nproc)
# shellcheck source=scripts/dev/gpu_toolkit.sh
. scripts/dev/gpu_toolkit.sh
use_toolkit_of "$preset"

started=$SECONDS
mkdir -p "build/$preset"
rm -f "build/$preset/ctest.log"
echo "== $preset: build"
if ! { cmake --preset "$preset" && cmake --build --preset "$preset" -j "$jobs"; } \
  >"build/$preset/build.log" 2>&1; then
  grep -E -A 12 'error|FAILED|Error' "build/$preset/build.log" | head -n 80 >&2
  echo "$preset: the build failed; the whole output is in build/$preset/build.log" >&2
  exit 1
fi
echo "== $preset: built in $((SECONDS - started)) s; tests"
status=0
ctest --preset "$preset" -j "$jobs" --no-tests=error "$@" 2>&1 |
  tee "build/$preset/ctest.log" || status=$?

# passed PATTERN: the tests of that name that passed.
passed() { grep -cE "Test +#[0-9]+: [^ ]*($1)[^ ]* \.+ +Passed" "build/$preset/ctest.log" || true; }

# system: this one, as platforms.py names it.
system() {
  if [ "$(uname -m)" = aarch64 ]; then
    echo arm64
  else
    # shellcheck source=/dev/null
    (. /etc/os-release && echo "x86-64 ${ID^} $VERSION_ID")
  fi
}

# rows: what these tests show, one platform a line.
rows() {
  local architecture compiler detail version wave
  case $preset in
    cpu)
      compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "build/$preset/CMakeCache.txt")
      detail="$(passed '') tests, $("$compiler" --version | head -n 1)"
      printf '%s\tall\trun\t%s\n' "$(system)" "$detail"
      version=$("$compiler" -dumpversion | cut -d. -f1)
      if [ "$(uname -m)" = x86_64 ] && [[ ${detail#* tests, } == *'++ ('* && " 12 13 14 " == *" $version "* ]]; then
        printf 'x86-64 GCC %s\tall\trun\t%s on %s\n' "$version" "$detail" "$(system)"
      fi
      ;;
    emulated)
      for wave in 32 64; do
        printf 'emulated waves of %s\tall\tsource emulated\t%s test programs\n' $wave "$(passed wave$wave)"
      done
      ;;
    cuda | rocm)
      architecture=$("build/$preset/apps/biogpu/biogpu" devices | grep -oE '(sm|gfx)_?[0-9a-f]+' | head -n 1)
      [[ $architecture != sm_* ]] || architecture="NVIDIA $architecture"
      printf '%s\tall\trun\t%s tests\n' "${architecture/#gfx/AMD gfx}" "$(passed '')"
      ;;
  esac
}
# Chosen tests show little; those of a GPU are chosen by scripts/test.sh.
if [ "${BIOGPU_RECORD:-0}" = 1 ] && [ $status = 0 ] && [[ "$*" == "" || "$*" == "-LE ^host$" || "$*" == "-L gpu" ]]; then
  rows | python3 scripts/measure/platforms.py "scripts/dev/test_preset.sh $preset"
fi
exit $status
