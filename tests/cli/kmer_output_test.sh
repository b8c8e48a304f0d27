#!/usr/bin/env bash
# Outputs of `biogpu kmer` that fail: full disk, closed pipe, interruption. Nothing half-written may be
# left under a final name.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/cli/outputs.sh
. "$source_dir/tests/cli/outputs.sh"
write_random 3 40 8000 ACGT c >genome.fa
works kmer count -q -m 21 -C -s 100k -o g.jf genome.fa
works kmer count -q -m 21 -C -o g.bgk genome.fa
works kmer sketch -o g.json genome.fa

# Every subcommand that writes a text, to standard output by default.
texts=("dump g.jf" "dump -c g.bgk" "histo g.jf" "stats g.jf" "query -s genome.fa g.jf"
  "query -s genome.fa g.bgk" "info g.jf" "info -j g.jf" "info -s g.jf" "dist g.json genome.fa"
  "count -q -m 21 genome.fa -o -" "merge g.jf g.jf -o -" "set union g.jf g.bgk -o -" "sketch genome.fa -o -"
  "bc -m 21 -s 100k genome.fa -o -")
for line in "${texts[@]}"; do
  read -ra words <<<"$line"
  stdout_full kmer "${words[@]}"
  closed_pipe kmer "${words[@]}"
done

# Every subcommand that writes a file.
files=("count -q -m 21 -C genome.fa" "count -q -m 21 --text genome.fa" "count -q -m 55 genome.fa" "bc -m 21 -s 100k genome.fa"
  "merge g.jf g.jf" "merge -j g.jf g.jf" "set union g.jf g.bgk" "set filter g.jf -L 2" "sketch genome.fa"
  "dump g.jf" "histo g.jf" "query -s genome.fa g.jf")
for line in "${files[@]}"; do
  read -ra words <<<"$line"
  [ -w /dev/full ] && fails 1 "No space left" kmer "${words[@]}" -o /dev/full
  no_folder kmer "${words[@]}" -o nowhere/out
done
no_folder kmer histo --plot nowhere/g.svg g.jf

for name in x.jf x.bgk x.kff; do
  interrupt_reading genome.fa kmer count -q -m 21 -C --max-memory 1 --tmp-dir results -o results/$name -
done
interrupt_reading genome.fa kmer count -q -m 21 --text -o results/x.txt -
interrupt_reading genome.fa kmer bc -m 21 -s 100k -o results/x.bc -
interrupt_reading genome.fa kmer query -s - -o results/x.txt g.jf
interrupt_reading genome.fa kmer sketch -o results/x.json -

finish
