#!/usr/bin/env bash
# `biogpu infer`: which tensors of a checkpoint are read, ignored or refused, and those that a model has once.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

data=$source_dir/tests/data/models
esm=$data/esm2_head16
bert=$data/protbert_head16
proteins=$data/proteins.fa
copy_tensor=$source_dir/tests/support/copy_tensor.py
set_tensor=$source_dir/tests/support/set_tensor.py
printf '>p\nMKTAY\n' >p.fa

# A tensor that the model does not read is refused, but for those that published files carry without a use.
# extra MODEL TENSOR COPY: a folder `extra` of the model with a copy of a tensor.
extra() {
  rm -rf extra && mkdir extra
  cp "$data/$1/config.json" extra
  python3 "$copy_tensor" "$data/$1/model.safetensors" extra/model.safetensors "$2" "$3"
}
for name in esm.pooler.dense.weight esm.embeddings.position_embeddings.weight; do
  extra esm2_head16 esm.embeddings.word_embeddings.weight $name
  works infer info extra
done
for name in lm_head.decoder.bias esm.pooler.bias esm.embeddings.position_scale esm.encoder.layer.0.adapter.weight; do
  extra esm2_head16 lm_head.bias $name
  fails 3 "1 are unknown: ${name#esm.}" infer info extra
done
extra esm2_head16 lm_head.bias embeddings.word_embeddings.weight
fails 3 "1 are there under another name, too: esm.embeddings.word_embeddings.weight" infer info extra
extra protbert_head16 cls.predictions.bias cls.seq_relationship.bias
works infer info extra
for name in cls.seq_relationship.scale cls.predictions.decoder.scale bert.pooler.activation; do
  extra protbert_head16 cls.predictions.bias $name
  fails 3 "1 are unknown: ${name#bert.}" infer info extra
done
# Rotary frequencies of every layer are the same.
frequencies=esm.encoder.layer.1.attention.self.rotary_embeddings.inv_freq
python3 "$set_tensor" "$esm/model.safetensors" extra/model.safetensors $frequencies 0.5
cp "$esm/config.json" extra
fails 3 "differ from the first of their kind, which the model has once: ${frequencies#esm.}" infer info extra

# The bias of an untied head of BERT is the decoder's own; of a tied one there is one.
bias=cls.predictions.bias own_bias=cls.predictions.decoder.bias words=cls.predictions.decoder.weight
rm -rf own && mkdir own
python3 "$copy_tensor" "$bert/model.safetensors" 1.safetensors bert.embeddings.word_embeddings.weight $words
python3 "$copy_tensor" 1.safetensors 2.safetensors $bias $own_bias
python3 "$set_tensor" 2.safetensors own/model.safetensors $own_bias 3 11
sed '1s/{/{"tie_word_embeddings": false,/' "$bert/config.json" >own/config.json
works infer logits -q --device cpu --model own p.fa
cp out.txt own.tsv
python3 "$set_tensor" "$bert/model.safetensors" 3.safetensors $bias 3 11
rm -rf tied && mkdir tied
cp "$bert/config.json" tied
cp 3.safetensors tied/model.safetensors
works infer logits -q --device cpu --model tied p.fa
check "the decoder's bias" same_files out.txt own.tsv
works infer logits -q --device cpu --model "$bert" p.fa
check "which is another one" bash -c '! cmp -s out.txt own.tsv'
cp "$bert/config.json" own
fails 3 "differ from the first of their kind, which the model has once: $own_bias" infer info own

# Words of the head: the embedding's, or its own where config.json says so.
for model in esm2_head16 protbert_head16; do
  name=lm_head.decoder.weight words=esm.embeddings.word_embeddings.weight vector=lm_head.bias
  if [ $model = protbert_head16 ]; then
    name=cls.predictions.decoder.weight words=bert.embeddings.word_embeddings.weight vector=cls.predictions.bias
  fi
  rm -rf own && mkdir own
  sed '1s/{/{"tie_word_embeddings": false,/' "$data/$model/config.json" >own/config.json
  cp "$data/$model/model.safetensors" own
  fails 3 "tensors are missing: $name" infer logits --device cpu --model own "$proteins" -o never.npz
  python3 "$copy_tensor" "$data/$model/model.safetensors" both.safetensors $words $name
  cp both.safetensors own/model.safetensors
  works infer logits -q --device cpu --model "$data/$model" "$proteins" -o tied.npz
  works infer logits -q --device cpu --model own "$proteins" -o own.npz
  check "$model: equal words of its own" same_files own.npz tied.npz
  python3 "$set_tensor" both.safetensors own/model.safetensors $name 0
  works infer logits -q --device cpu --model own p.fa
  check "$model: no words leave the bias, the same at every residue" \
    [ "$(cut -f 3- out.txt | sort -u | wc -l)" -eq 1 ]
  cp "$data/$model/config.json" own
  fails 3 "differ from the words of the embedding, .*: $name" infer logits --device cpu --model own p.fa -o never.npz
  python3 "$copy_tensor" "$data/$model/model.safetensors" own/model.safetensors $vector $name
  fails 3 "have another shape or type: $name" infer info own
done

finish
