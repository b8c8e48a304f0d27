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

# One output of several that cannot be written leaves none of the others under its name.
for option in --timing --json; do
  for name in x.jf x.bgk x.kff; do
    no_folder kmer count -q -m 21 -C -o results/$name "$option" nowhere/out genome.fa
    [ -w /dev/full ] && fails 1 "No space left" kmer count -q -m 21 -C -o results/$name "$option" /dev/full genome.fa
    check "count $option: no database is left" nothing_left
  done
done
no_folder kmer histo -o results/h.txt --plot nowhere/g.svg g.jf
if [ -w /dev/full ]; then
  ln -s /dev/full full.gz
  for plot in /dev/full full.gz; do
    fails 1 "No space left" kmer histo -o results/h.txt --plot $plot g.jf
    fails 1 "No space left" kmer count -q -m 21 -o results/x.jf --json $plot genome.fa
  done
fi
check "histo --plot: no histogram is left" nothing_left
fails 2 '--plot needs' kmer histo -l 2 -o results/h.txt --plot results/g.svg g.jf
check "histo -l --plot: nothing is left" nothing_left
if [ -w /dev/full ]; then
  last_command="biogpu kmer query -i >/dev/full"
  echo ACGTACGTACGTACGTACGTA | "$biogpu" kmer query -i g.jf ACGTACGTACGTACGTACGTA >/dev/full 2>err.txt
  rc=$?
  check "query -i: exit code 1" rc_is 1
  check "query -i: nothing is left" nothing_left
fi

# A folder for bins that cannot be written, buckets that do not fit: the advice names options there are.
fails 1 "--max-memory" kmer count -q -m 21 --max-memory 1 --tmp-dir nowhere -o results/x.jf genome.fa
# With a sanitizer the program does not even start there.
if (ulimit -v 8000000 && exec "$biogpu" --version) >out.txt 2>&1; then
  last_command="biogpu kmer histo -h 4000000000, with little memory"
  (ulimit -v 8000000 && exec "$biogpu" kmer histo -h 4000000000 -o results/h.txt g.jf) >out.txt 2>err.txt
  rc=$?
  check "too many buckets: exit code 137" rc_is 137
  check "too many buckets: one error line" one_error_line
  check "too many buckets: the error says what to change" err_has "smaller --high"
  check "too many buckets: nothing is left" nothing_left
fi

for name in x.jf x.bgk x.kff; do
  interrupt_reading genome.fa kmer count -q -m 21 -C --max-memory 1 --tmp-dir results -o results/$name -
done
interrupt_reading genome.fa kmer count -q -m 21 --text -o results/x.txt -
interrupt_reading genome.fa kmer bc -m 21 -s 100k -o results/x.bc -
interrupt_reading genome.fa kmer query -s - -o results/x.txt g.jf
interrupt_reading genome.fa kmer sketch -o results/x.json -

# No output is an input or another output. Names without a suffix may be those of any output.
cp genome.fa kept.fa
cp genome.fa genome
cp g.jf kept.jf
for suffix in jf bgk json; do cp g.$suffix g_$suffix; done
# clash ARGUMENTS...: the run is refused.
clash() {
  fails 2 "name the same file" kmer "$@"
}
for command in "count -q -m 5 -o - --json - genome.fa" "histo --plot - g.jf"; do
  # shellcheck disable=SC2086
  fails 2 "both go to standard output" kmer $command
done
clash count -q -m 5 -o genome genome
clash count -q -m 5 -o ./genome --sam genome
clash count -q -m 5 -o x.jf --json genome genome
clash count -q -m 5 -o x --timing ./x genome
clash count -q -m 5 -o x.jf --if genome --json genome q.fa
clash bc -m 5 -s 1k -o genome genome
clash histo -o g_jf g_jf
clash histo -o x --plot ./x g_jf
clash dump -o g_jf g_jf
clash stats -o g_jf g_jf
clash query -s genome g_jf -o g_jf
clash query -s genome g_jf -o genome
clash merge -o g.jf g.jf g.jf
clash set union -o g.jf g.jf g.bgk
clash sketch -o genome genome
clash dist -o g_json g_json genome
check "the sequences are as they were" same_files genome kept.fa
check "the database is as it was" same_files g.jf kept.jf
check "and its copy" same_files g_jf kept.jf

finish
