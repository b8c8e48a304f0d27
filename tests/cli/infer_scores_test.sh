#!/usr/bin/env bash
# `biogpu infer score` and `fill-mask` beside transformers in double precision
# (scripts/reference/make_scores.py).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$source_dir/tests/data/models
proteins=$data/proteins.fa
same_scores=$source_dir/tests/support/same_scores.py

# In fp32. A score is a difference of logits, whose size is some ten here: 5e-5 are some fifty of their roundings,
# and perplexity is as far away as its exponent.
bound=5e-5

# compare MODEL OPTIONS...: scores of variants and likely words, for which few passes are made.
compare() {
  local model=$data/$1 method
  shift
  python3 "$same_scores" "$model/scores.json" --variants >variants.tsv
  for method in masked-marginal wt-marginal; do
    works infer score -q "$@" --model "$model" --method "$method" --variants variants.tsv "$proteins" -o scores.tsv
    check "variants by $method" python3 "$same_scores" "$model/scores.json" "$method" scores.tsv "$bound"
  done
  works infer fill-mask -q "$@" --model "$model" --top 3 "$proteins" -o filled.tsv
  check "likely words" python3 "$same_scores" "$model/scores.json" fill-mask filled.tsv "$bound"
}
# compare_likelihoods MODEL OPTIONS...: a pass a residue.
compare_likelihoods() {
  local model=$data/$1
  shift
  works infer score -q "$@" --model "$model" "$proteins" -o likelihood.tsv
  check "likelihoods" python3 "$same_scores" "$model/scores.json" likelihood likelihood.tsv "$bound"
}

for model in esm2_head16 protbert_head16; do
  for batch in 40 8192; do
    compare "$model" --device cpu --batch "$batch"
    compare_likelihoods "$model" --device cpu --batch "$batch"
  done
  if [ "$backend" = emulated ]; then compare "$model" --device gpu --precision fp32; fi
done
# A number of the last model's table that is another one.
awk -F'\t' -v OFS='\t' 'NR == 2 { $NF += 0.1 } 1' likelihood.tsv >changed.tsv
python3 "$same_scores" "$data/protbert_head16/scores.json" likelihood changed.tsv "$bound" 2>err.txt
check "another number is found" err_has 'line 2: .* instead of '

finish
