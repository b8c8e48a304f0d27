#!/usr/bin/env bash
# `biogpu infer variants`: scores of VCF and BCF, tables and annotated files, windows, reuse, resuming, refusals.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/enformer_tiny
same=$source_dir/tests/support/same_effects.py
cp "$model/genome.fa" "$model/variants.vcf" .
vcf=variants.vcf
variants() { run infer variants -q --device cpu --model "$model" --genome genome.fa "$@"; }
every="--head human --scores REF,ALT,SAD,SAR --bins all,centre"

# As enformer-pytorch predicts REF and ALT of windows made by another program.
for kind in forward both shifts; do
  options=$every
  [ $kind = both ] && options="$every --strands both"
  [ $kind = shifts ] && options="$every --shifts 0,-1,3"
  # shellcheck disable=SC2086
  variants $options $vcf -o $kind.tsv
  check "$kind" rc_is 0
  check "$kind: equal to enformer-pytorch" python3 "$same" $kind.tsv "$model/variants.tsv" $kind 2e-4
done
# shellcheck disable=SC2086
variants $every --reduce sum $vcf -o sum.tsv
check "sums over 16 bins" python3 "$same" sum.tsv "$model/variants.tsv" forward 2e-4 16

# The same bytes without reuse, for any batch, any number of threads, from a pipe.
for options in --no-reuse "--batch 1" "--batch 3" "-t 1"; do
  # shellcheck disable=SC2086
  variants $every $options $vcf -o other.tsv
  check "the same with $options" same_files other.tsv forward.tsv
done
# shellcheck disable=SC2086
"$biogpu" infer variants -q --device cpu --model "$model" --genome genome.fa $every <$vcf >piped.tsv
check "the same from a pipe" same_files piped.tsv forward.tsv

finish
