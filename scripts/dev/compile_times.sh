#!/usr/bin/env bash
# What headers cost each file that includes them, and what a precompiled header would save.
#
# usage: scripts/dev/compile_times.sh [CXX]     [g++]
#
# Prints seconds of CPU. Needs a configured build/cpu, whose generated headers the files include.
set -euo pipefail

cd "$(dirname "$0")/../.."
cxx=${1:-g++}
generated=${BIOGPU_GENERATED:-build/cpu/generated}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
options=(-std=c++20 -DNDEBUG -I . -I "$generated")

# seconds COMMAND...: user time.
seconds() { { TIMEFORMAT=%U; time "$@" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }; } 2>&1; }

echo "header alone, -O3"
for header in CLI/CLI.hpp gemmi/mmread.hpp nlohmann/json.hpp fmt/format.h; do
  echo "#include <$header>" >"$work/one.cpp"
  printf '%s\t%s\n' "$header" "$(seconds "$cxx" "${options[@]}" -O3 -c "$work/one.cpp" -o "$work/one.o")"
done
printf '#include <%s>\n' CLI/CLI.hpp fmt/format.h nlohmann/json.hpp algorithm functional memory mutex optional span \
  string thread vector >"$work/all.hpp"
"$cxx" "${options[@]}" -O1 -x c++-header "$work/all.hpp" -o "$work/all.hpp.gch"
echo "file, -O1: without and with one precompiled header of $(($(stat -c %s "$work/all.hpp.gch") / 1000000)) MB"
for file in apps/biogpu/align/options/flags.cpp lib/models/base/model_config.cpp lib/qc/run/run.cpp; do
  printf '%s\t%s\t%s\n' "$file" "$(seconds "$cxx" "${options[@]}" -O1 -c "$file" -o "$work/one.o")" \
    "$(seconds "$cxx" "${options[@]}" -O1 -include "$work/all.hpp" -c "$file" -o "$work/one.o")"
done
