#!/usr/bin/env bash
# Writes the result and the benchmark table of README.md between their markers.
#
# usage: scripts/dev/readme_tables.sh BIOGPU [BENCHMARK.md]
#   BIOGPU        the program
#   BENCHMARK.md  the table that scripts/compare wrote; without it that part stays as it is
set -euo pipefail

[ $# -ge 1 ] || { sed -n '4,6p' "$0" | cut -c3- >&2; exit 2; }
biogpu=$(readlink -f "$1")
benchmark=${2:+$(readlink -f "$2")}
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fill NAME FILE: puts FILE between the two markers of NAME.
fill() {
  awk -v name="$1" -v file="$2" '
    $0 ~ "^<!-- " name " begin" { print; print ""; while ((getline line < file) > 0) print line; print ""; inside = 1 }
    $0 ~ "^<!-- " name " end" { inside = 0 }
    !inside || $0 ~ "^<!-- " name " end" { if ($0 !~ "^<!-- " name " begin") print }
  ' README.md >"$work/README.md"
  cp "$work/README.md" README.md
}

"$biogpu" align --quiet --device cpu --mode sw --matrix blosum62 \
  data/protein_queries.fa data/proteins.fa -o "$work/proteins.tsv"
{
  echo '```'
  scripts/show_alignments.awk -v best=1 "$work/proteins.tsv"
  echo '```'
} >"$work/result.md"
fill result "$work/result.md"
[ -z "$benchmark" ] || fill benchmark "$benchmark"
