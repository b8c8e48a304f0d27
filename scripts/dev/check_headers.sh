#!/usr/bin/env bash
# Compiles every header on its own: each includes what it uses.
#
# usage: scripts/dev/check_headers.sh BUILD_FOLDER [HEADER ...]
#   BUILD_FOLDER  a configured build, from which the include folders come; the emulated one knows the
#                 kernels' headers too
#   HEADER        default: every tracked .hpp of lib/ and gpu/ that no source of the build includes first:
#                 that source has shown it
#
# Left out are *-inl.hpp, which Highway includes once for each instruction set.
set -euo pipefail

cd "$(dirname "$0")/../.."
build=${1:?usage: scripts/dev/check_headers.sh BUILD_FOLDER [HEADER ...]}
shift
mapfile -t folders < <(grep -ohE -e '-(I|isystem )[^ "]+' "$build/compile_commands.json" |
  tr ' ' '\n' | sort -u | sed 's/^-I\(.*\)/-I\n\1/' | grep -v '^-' | sort -u)
flags=(-std=c++20 -fsyntax-only -Wall -Wextra -Werror -Wno-unknown-pragmas -I . -DBIOGPU_GPU_EMULATED=1)
for folder in "${folders[@]}"; do flags+=(-isystem "$folder"); done

# included_first: the headers that a source of the build includes before anything else.
included_first() {
  python3 -c '
import json, os, re, sys
files = {entry["file"] for entry in json.load(open(sys.argv[1]))}
for source in filter(os.path.exists, files):  # one that the build makes may not be there yet
    directive = next((line for line in open(source) if line.startswith("#")), "")
    if header := re.match("#include \"([^\"]+)\"", directive):
        print(header.group(1))' "$build/compile_commands.json"
}

headers=("$@")
if [ ${#headers[@]} = 0 ]; then
  shown=$(included_first)
  mapfile -t headers < <(git ls-files 'lib/*.hpp' 'gpu/*.hpp' | grep -v -e '-inl\.hpp$' | grep -vxFf <(echo "$shown"))
fi
# shellcheck disable=SC2016  # the inner shell expands its own arguments
printf '%s\0' "${headers[@]}" | xargs -0 -P "${BIOGPU_JOBS:-$(nproc)}" -I '{}' \
  bash -c 'header=$1; shift; "${CXX:-c++}" "$@" -x c++ -include "./$header" /dev/null 2>&1 ||
    { echo "$header does not compile on its own"; exit 1; }' _ '{}' "${flags[@]}" &&
  echo "check_headers: ${#headers[@]} headers compile on their own"
