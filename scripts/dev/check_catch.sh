#!/usr/bin/env bash
# Whether the tests that use names which Catch2 3 moved compile with version 3's places of them too.
#
# usage: scripts/dev/check_catch.sh BUILD
#
# Ubuntu 24.04 has version 3, Debian 12 version 2: there tests/support/catch2_3 stands for the other. BUILD is one
# that compiles file by file (no unity build). Catch2 is most of what each file includes, so it is compiled once.
set -uo pipefail

cd "$(dirname "$0")/../.." || exit 1
[ $# -eq 1 ] || { sed -n '4p' "$0" | cut -c3- >&2; exit 2; }
root=$PWD
database=$1/compile_commands.json
if ! echo '#include <catch2/catch.hpp>' | c++ -x c++ -fsyntax-only - 2>/dev/null; then
  echo "check_catch: Catch2 3 is installed, which the tests were built with"
  exit 0
fi
mapfile -t files < <(git grep -lwE "Approx|ContainsSubstring|Contains|Matchers" -- 'tests/*.cpp')
[ ${#files[@]} -gt 0 ] || { echo "check_catch: no test uses such a name" >&2; exit 1; }
# The command of each file, in their order, up to its output.
commands=$(python3 -c '
import json, sys
commands = {entry["file"]: entry["command"].split(" -o ")[0] for entry in json.load(open(sys.argv[1]))}
for file in sys.argv[2:]:
    if file not in commands:
        sys.exit(f"check_catch: {sys.argv[1]} has no command for {file}")
    print(commands[file])' "$database" "${files[@]/#/$root/}") || exit 1
mapfile -t commands <<<"$commands"

# compile COMMAND ARGUMENTS...: with a build's command for a file, which may begin with ccache.
build=$1
compile() {
  local command=${1#*ccache }
  shift
  (cd "$build" && eval "$command" -O0 -isystem "'$root/tests/support/catch2_3'" '"$@"')
}
# With the command that most files have. What is compiled serves those whose command defines no less; a compiler
# reads the text instead for the others.
precompiled=$(mktemp -d)
trap 'rm -rf "$precompiled"' EXIT
echo '#include "tests/support/catch.hpp"' >"$precompiled/catch.hpp"
command=$(printf '%s\n' "${commands[@]}" | sort | uniq -c | sort -rn | sed -n '1s/^ *[0-9]* //p')
compile "$command" -x c++-header "$precompiled/catch.hpp" -o "$precompiled/catch.hpp.gch" || exit 1

status=0
n_checked=0
for i in "${!files[@]}"; do
  if compile "${commands[$i]}" -fsyntax-only -include "$precompiled/catch.hpp" "$root/${files[$i]}"; then
    n_checked=$((n_checked + 1))
  else
    status=1
  fi
done
echo "check_catch: $n_checked of ${#files[@]} files compile with the places that Catch2 3 gives names"
exit $status
