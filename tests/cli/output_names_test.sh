#!/usr/bin/env bash
# Outputs under other names: a file that the shell connected to a standard stream or a descriptor,
# an input's index, a link whose target does not exist.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_random 6 20 90 ACGT q >q.fa
write_random 7 20 90 ACGT t >t.fa
awk '/^>/ { sub(">", "@"); print; next } { q = $0; gsub(/./, "I", q); print $0 "\n+\n" q }' q.fa >q.fq
models=$source_dir/tests/data/models
cp "$models"/enformer_tiny/genome.fa "$models"/enformer_tiny/variants.vcf .
printf '>p\nMKVLAAGIVG\n' >p.fa
works bwt index -q t.fa -p g
works bwt index -q --format bwa t.fa -p g
works kmer count -q -m 7 -o k.jf q.fa

# stdout_is FILE MODE ARGUMENTS...: a run whose standard output is FILE, opened with > or >>.
stdout_is() {
  local file=$1 mode=$2
  shift 2
  last_command="biogpu $* $mode$file"
  case $mode in
    '>') "$biogpu" "$@" >"$file" 2>err.txt ;;
    '>>') "$biogpu" "$@" >>"$file" 2>err.txt ;;
  esac
  rc=$?
}
refused() {
  check "exit code 2" rc_is 2
  check "one error line" one_error_line
  check "the error names the file twice" err_has "$1"
}

# A second output is the file that standard output goes to, by its name or a descriptor's.
while read -r line; do
  for name in "$work/both.txt" ./both.txt; do
    # shellcheck disable=SC2086
    stdout_is both.txt '>' ${line//FILE/$name}
    refused "name the same file"
  done
  for name in /dev/fd/1 /proc/self/fd/1 /dev/stdout; do
    # shellcheck disable=SC2086
    stdout_is both.txt '>' ${line//FILE/$name}
    refused "both go to standard output"
  done
done <<E2
align -q --mode sg q.fa t.fa --json FILE
bwt count -q -x g q.fa --json FILE
bwt locate -q -x g q.fa --json FILE
bwt smem -q -x g q.fa --json FILE
bwt stats -q g --json FILE
bwt transform -q t.fa --json FILE
kmer histo k.jf --plot FILE
qc --quiet -i q.fq --stdout -j FILE -h r.html
qc --quiet -i q.fq --stdout -j r.json -h FILE
infer variants -q --device cpu --model $models/enformer_tiny --genome genome.fa --head human variants.vcf --json FILE
infer score -q --device cpu --model $models/esm2_head16 p.fa --json FILE
devices --json FILE
E2

# An input that standard output is appended to, or that standard input is read from.
cp q.fa kept.fa
while read -r line; do
  # shellcheck disable=SC2086
  stdout_is q.fa '>>' $line
  refused "name the same file"
  check "the input is what it was" same_files q.fa kept.fa
done <<E2
align -q --mode sg q.fa t.fa
bwt count -q -x g q.fa
bwt transform -q q.fa
kmer dist q.fa t.fa
kmer query -s q.fa k.jf
gather q.fa t.fa
E2
cp k.jf kept.jf
cp q.fa q  # the name of an output of any format
for command in "dump" "info" "stats" "histo"; do
  stdout_is k.jf '>>' kmer $command k.jf
  refused "name the same file"
  check "the database is what it was" same_files k.jf kept.jf
done
while read -r line; do
  last_command="biogpu $line <q"
  # shellcheck disable=SC2086
  "$biogpu" $line <q >out.txt 2>err.txt
  rc=$?
  refused "name the same file"
  check "standard input's file is what it was" same_files q kept.fa
done <<E2
align -q --mode sg - t.fa -o q
align -q --mode sg t.fa /dev/stdin -o q
align -q --mode sg t.fa /dev/fd/0 -o ./q
bwt transform -q - -o q
bwt count -q -x g - -o q
kmer count -q -m 5 -o q -
kmer sketch -o q -
qc --quiet --stdin -o q -j r.json -h r.html
E2
cp q.fa q.tsv
for input in "" - /dev/fd/0; do
  last_command="biogpu infer embed $input -o q.tsv <q.tsv"
  # shellcheck disable=SC2086
  "$biogpu" infer embed -q --device cpu --model "$models/esm2_head16" $input -o ./q.tsv <q.tsv >out.txt 2>err.txt
  rc=$?
  refused "name the same file"
  check "standard input's file is what it was" same_files q.tsv kept.fa
done
# What a replaced output would take with it: the messages.
# shellcheck disable=SC2094  # on purpose
"$biogpu" align --mode sg q.fa t.fa -o log.txt 2>log.txt
rc=$?
check "standard error's file: exit code 2" rc_is 2
check "standard error's file holds the reason" grep -q "standard error and --output name the same file" log.txt
works align -q --mode sg q.fa t.fa -o right.txt
"$biogpu" align -q --mode sg q.fa t.fa >log.txt 2>&1
check "one file for output and messages" same_files right.txt log.txt

# The index of a genome, there or not, under any option that writes.
variants=(infer variants -q --device cpu --model "$models/enformer_tiny" --genome genome.fa --head human variants.vcf)
fails 2 "expected a name that ends in" "${variants[@]}" -o genome.fa.fai
check "no index is made of it" absent genome.fa.fai
works "${variants[@]}" -o right.tsv
cp genome.fa.fai kept.fai
ln -s genome.fa.fai link.tsv
for name in genome.fa.fai ./genome.fa.fai link.tsv genome.fa.gzi; do
  fails 2 "the index of --genome\|expected a name that ends in" "${variants[@]}" -o $name
  fails 2 "the index of --genome" "${variants[@]}" -o x.tsv --json $name
done
check "the index is what it was" same_files genome.fa.fai kept.fai
fails 2 "the index of TARGET" align -q --mode sg q.fa genome.fa --format paf -o genome.fa.fai

# Descriptors are written where they stand.
exec 7>third.txt
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1 /proc/thread-self/fd/1 named_link; do
  ln -sfn /dev/fd/1 named_link
  echo before >log.txt
  stdout_is log.txt '>>' align -q --mode sg q.fa t.fa -o $name
  check "$name: exit code 0" rc_is 0
  check "$name: appended" cmp log.txt <(echo before && cat right.txt)
  { echo before && "$biogpu" align -q --mode sg q.fa t.fa -o $name && echo behind; } >log.txt
  check "$name: written where it stands" cmp log.txt <(echo before && cat right.txt && echo behind)
done
echo before >&7
"$biogpu" align -q --mode sg q.fa t.fa -o /dev/fd/7
echo behind >&7
check "descriptor 7: written where it stands" cmp third.txt <(echo before && cat right.txt && echo behind)
fails 2 "both go to descriptor 7" align -q --mode sg q.fa t.fa -o /dev/fd/7 --json /proc/self/fd/7
fails 2 "name the same file" align -q --mode sg q.fa t.fa -o /dev/fd/7 --json third.txt
exec 7>&-
exec 3>&- 4>&- 5>&- 9>&-  # of whoever runs the test
# Numbers of descriptors that this run opened itself are none of the caller's.
for n in 3 4 5 7 9; do
  fails 1 "cannot be opened: Bad file descriptor" align -q --mode sg q.fa t.fa -o x.tsv --json /dev/fd/$n
  check "/dev/fd/$n: no rows either" absent x.tsv
done
# A format that is written at its beginning again does not go where other text may stand.
for suffix in npy h5 safetensors; do
  ln -s /dev/fd/1 "stream.$suffix"
  echo before >log.txt
  stdout_is log.txt '>>' infer embed -q --device cpu --model "$models/esm2_head16" p.fa -o "stream.$suffix"
  check "$suffix: exit code 2" rc_is 2
  check "$suffix: the line says why" err_has "needs a file"
  check "$suffix: nothing is lost" cmp log.txt <(echo before)
done
ln -s /dev/stdout stream.tsv
fails 2 "needs an output file" infer score -q --device cpu --model "$models/esm2_head16" p.fa --resume -o stream.tsv

# A link whose target does not exist yet stays, and its target is made.
mkdir far
for target in new.tsv far/new.tsv "$work/far/whole.tsv"; do
  ln -sfn "$target" dangling.tsv
  works align -q --mode sg q.fa t.fa -o dangling.tsv
  check "$target: the link stays" test -h dangling.tsv
  check "$target: its target is made" same_files right.txt "$target"
done
ln -s second.tsv first.tsv
ln -s ../third.tsv far/second.tsv
ln -s far/second.tsv second.tsv
works align -q --mode sg q.fa t.fa -o first.tsv
check "a link to a link: both stay" test -h first.tsv -a -h far/second.tsv
check "a link to a link: the last target is made" test -s third.tsv
rm -f third.tsv
fails 2 "name the same file" align -q --mode sg q.fa t.fa -o first.tsv --json third.tsv
ln -s nowhere/x.tsv lost.tsv
fails 1 "lost.tsv: cannot be written: No such file" align -q --mode sg q.fa t.fa -o lost.tsv
ln -s circle.tsv circle.tsv
fails 1 "circle.tsv: cannot be written: Too many levels" align -q --mode sg q.fa t.fa -o circle.tsv
finish
