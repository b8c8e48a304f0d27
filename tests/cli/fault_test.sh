#!/usr/bin/env bash
# Makes every write, read, close, link, rename and allocation of a small run fail, one a run: each must end
# with a clear error and leave nothing under the output's name nor a temporary file. BIOGPU_FAULT_SHIM is
# the library that injects the fault (tests/support/fault_shim.cpp).
#
# CRAM input is left out of the allocations: htslib 1.16 reads on after one of its own fails, and may end
# the process.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
shim=${BIOGPU_FAULT_SHIM:?}
write_random 2 6 60 ACGT q >queries.fa
write_random 3 6 60 ACGT t >targets.fa
gzip -k targets.fa
to_sam() { awk '/^>/ { name = substr($1, 2); next } { print name "\t4\t*\t0\t0\t*\t*\t0\t0\t" $0 "\t*" }' "$1"; }
have_samtools=0
if command -v samtools >/dev/null; then
  have_samtools=1
  { printf '@HD\tVN:1.6\n' && to_sam targets.fa; } >targets.sam
  samtools view --no-PG -b -o targets.bam targets.sam
  samtools view --no-PG -C -o targets.cram targets.sam
fi
max_faults=20000
input=/dev/null

# inject KIND N ARGUMENTS...: a run in which the N-th call of KIND fails. Leaves hit when there was one.
inject() {
  local fault=$1:$2
  shift 2
  rm -rf results hit && mkdir results
  last_command="biogpu align $*, $fault failing"
  BIOGPU_FAULT=$fault BIOGPU_FAULT_AFTER=queries.fa BIOGPU_FAULT_HIT=hit LD_PRELOAD=$shim \
    timeout 60 "$biogpu" align "$@" <"$input" >out.txt 2>err.txt
  rc=$?
}

# sweep KIND OUTPUT ARGUMENTS...: runs align with the n-th call of KIND failing, for n = 1, 2, ... until a
# run makes fewer calls.
sweep() {
  local kind=$1 output=results/$2 n
  shift 2
  inject "$kind" 0 "$@" -o "$output"
  check "$kind: the run works without a fault" rc_is 0
  cp "$output" whole
  for ((n = 1; n < max_faults; ++n)); do
    inject "$kind" $n "$@" -o "$output"
    [ -e hit ] || break
    if [ "$kind" = malloc ] && [ "$rc" = 0 ]; then
      # A library may do without the memory that it did not get; the result must be the same.
      check "$kind $n: same result" cmp whole "$output"
      continue
    fi
    case $kind in
      malloc) check "$kind $n: exit code 137 or 1" grep -qx '137\|1' <<<"$rc" ;;
      *) check "$kind $n: exit code 1" rc_is 1 ;;
    esac
    check "$kind $n: one error line" one_error_line
    check "$kind $n: no file is left" rmdir results
  done
  check "$kind: the last run works" rc_is 0
  check "$kind: the sweep ends" [ "$n" -lt "$max_faults" ]
  check "$kind: some fault was injected" [ "$n" -gt 1 ]
  echo "$kind, $output: $((n - 1)) faults"
}

common=(--mode sw --pairs --threads 2 --device cpu --quiet)
for output in rows.tsv rows.tsv.gz rows.sam rows.bam; do
  sweep write $output "${common[@]}" queries.fa targets.fa
done
sweep read rows.tsv "${common[@]}" queries.fa targets.fa
sweep read rows.tsv "${common[@]}" queries.fa targets.fa.gz
input=targets.fa
sweep read rows.tsv "${common[@]}" queries.fa -
input=/dev/null
sweep write rows.tsv "${common[@]}" --json results/summary.json queries.fa targets.fa
sweep write rows.cram "${common[@]}" queries.fa targets.fa
for output in rows.tsv rows.tsv.gz rows.bam rows.cram; do
  sweep close $output "${common[@]}" queries.fa targets.fa
  sweep link $output "${common[@]}" queries.fa targets.fa
  # As on a file system where every file has a name from its beginning on.
  export BIOGPU_NAMED_FILES=1
  sweep close $output "${common[@]}" queries.fa targets.fa
  sweep rename $output "${common[@]}" queries.fa targets.fa
  unset BIOGPU_NAMED_FILES
done
if [ $have_samtools = 1 ]; then
  sweep read rows.tsv "${common[@]}" queries.fa targets.bam
  sweep read rows.tsv "${common[@]}" queries.fa targets.cram
  sweep malloc rows.tsv "${common[@]}" queries.fa targets.bam
fi
sweep malloc rows.tsv "${common[@]}" queries.fa targets.fa.gz
sweep malloc rows.tsv.gz "${common[@]}" queries.fa targets.fa
sweep malloc rows.bam "${common[@]}" queries.fa targets.fa

# A file system that cannot swap names: the output takes the place of the one before by a rename.
rm -f hit
echo before >before.tsv
BIOGPU_FAULT=exchange:1 BIOGPU_FAULT_AFTER=queries.fa BIOGPU_FAULT_HIT=hit LD_PRELOAD=$shim \
  "$biogpu" align "${common[@]}" -o before.tsv queries.fa targets.fa
rc=$?
check "no swap of names: exit code 0" rc_is 0
check "no swap of names: it was asked for" [ -e hit ]
"$biogpu" align "${common[@]}" -o whole queries.fa targets.fa
check "no swap of names: the output is whole" cmp whole before.tsv
check "no swap of names: no temporary file is left" [ -z "$(find . -name '.*tmp*')" ]
finish
