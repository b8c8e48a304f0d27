#!/usr/bin/env bash
# Writes the result and the benchmark table of README.md between their markers.
#
# usage: scripts/dev/readme_tables.sh BIOGPU [PARASAIL_DRIVER]
#   BIOGPU           the program
#   PARASAIL_DRIVER  the built target parasail_driver; without it the benchmark stays as it is
set -euo pipefail

[ $# -ge 1 ] || { sed -n '4,6p' "$0" | cut -c3- >&2; exit 2; }
biogpu=$(readlink -f "$1")
driver=${2:+$(readlink -f "$2")}
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

if [ -n "$driver" ]; then
  {
    echo "Alignment on one thread of $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), against"
    echo "Parasail $(pkg-config --modversion parasail-1) as the distribution packages it."
    echo
    python3 scripts/compare/parasail.py --driver "$driver"
  } >"$work/benchmark.md"
  fill benchmark "$work/benchmark.md"
fi
