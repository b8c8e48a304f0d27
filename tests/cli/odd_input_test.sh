#!/usr/bin/env bash
# Inputs from which hardly anything comes, as empty files and proteins in the place of DNA: a warning, and exit code 0.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

for i in $(seq 20); do printf '>p%s\nMKLVINGKTYWEEHFMKLPQ\n' "$i"; done >proteins.fa
works kmer count -q -m 9 -o p.jf proteins.fa
check "a warning" err_has "warning: 20 records have 0 k-mers; are they DNA, and longer than k?"
# A few records may be short.
head -8 proteins.fa >few.fa
works kmer count -q -m 9 -o p.jf few.fa
check "no warning" err_is_empty

works kmer count -q -m 9 -o p.jf /dev/null
check "a warning of nothing" err_has "warning: the input has no records; the database has no k-mers"
works bwt index -q -p p /dev/null
check "a warning of an empty genome" err_has "warning: the genome has no bases; nothing can be found in it"
works infer embed -q --model "$source_dir/tests/data/models/esm2_head16" -o p.npy /dev/null
check "a warning of no proteins" err_has "warning: the input has no sequences; the output has no results"

finish
