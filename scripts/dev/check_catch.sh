#!/usr/bin/env bash
# Whether the tests that use names which Catch2 3 moved compile with version 3's places of them too.
#
# usage: scripts/dev/check_catch.sh BUILD
#
# Ubuntu 24.04 has version 3, Debian 12 version 2: there tests/support/catch2_3 stands for the other.
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
status=0
n_checked=0
for file in "${files[@]}"; do
  # Of a unity build the file itself is not in the list: any test's options do.
  command=$(python3 -c '
import json, sys
entries = [e for e in json.load(open(sys.argv[1])) if "/tests/" in e["file"] or "/tests/" in e["command"]]
entry = next((e for e in entries if e["file"].endswith("/" + sys.argv[2])), entries[0])
print(entry["command"].split(" -o ")[0])' "$database" "$file") || exit 1
  if (cd "$1" && bash -c "${command#*ccache } -fsyntax-only -O0 -isystem '$root/tests/support/catch2_3' '$root/$file'"); then
    n_checked=$((n_checked + 1))
  else
    status=1
  fi
done
echo "check_catch: $n_checked of ${#files[@]} files compile with the places that Catch2 3 gives names"
exit $status
