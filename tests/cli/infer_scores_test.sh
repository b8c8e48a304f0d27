#!/usr/bin/env bash
# `biogpu infer score` and `fill-mask` beside transformers in double precision
# (scripts/reference/make_scores.py).
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$source_dir/tests/data/infer
proteins=$data/proteins.fa
same_scores=$source_dir/tests/support/same_scores.py

# compare MODEL BOUND OPTIONS...: all kinds of scores.
compare() {
  local model=$data/$1 bound=$2
  shift 2
  local expected=$model/scores.json
  python3 "$same_scores" "$expected" --variants >variants.tsv
  works infer score -q "$@" --model "$model" "$proteins" -o likelihood.tsv
  check "likelihoods" python3 "$same_scores" "$expected" likelihood likelihood.tsv "$bound"
  for method in masked-marginal wt-marginal; do
    works infer score -q "$@" --model "$model" --method "$method" --variants variants.tsv "$proteins" -o variants.out.tsv
    check "variants by $method" python3 "$same_scores" "$expected" "$method" variants.out.tsv "$bound"
  done
  works infer fill-mask -q "$@" --model "$model" --top 3 "$proteins" -o filled.tsv
  check "likely words" python3 "$same_scores" "$expected" fill-mask filled.tsv "$bound"
}

# In fp32. A score is a difference of logits, whose size is some ten here: 5e-5 are some fifty of their roundings,
# and perplexity is as far away as its exponent.
for model in esm2_head16 protbert_head16; do
  compare "$model" 5e-5 --device cpu
  compare "$model" 5e-5 --device cpu --batch 40
done
if [ "$backend" = emulated ]; then
  for model in esm2_head16 protbert_head16; do compare "$model" 5e-5 --device gpu --precision fp32; done
fi
check "another number is found" bash -c "! python3 '$same_scores' '$data/esm2_head16/scores.json' fill-mask filled.tsv 5e-5 2>err.txt"

finish
