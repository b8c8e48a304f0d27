#!/usr/bin/env bash
# --device: what it accepts, how it fails, and equal bytes on every device of an emulated build.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
write_example

works align --mode sw --device cpu q.fa t.fa
check "cpu is used" err_has '^\[biogpu align .*\] cpu .*asked for'
works align --mode sw q.fa t.fa
if [ "$backend" = none ]; then
  check "a build for the CPU names itself as the reason" err_has 'cpu.*(this build has no GPU backend)'
else
  check "small input stays on the cpu" err_has 'too small to pay for a GPU'
fi
for command in "bwt index t.fa -p small" "bwt count -x small q.fa" "kmer count -m 4 -v -o small.jf q.fa"; do
  # shellcheck disable=SC2086
  works $command
  if [ "$backend" = none ]; then
    check "no command speaks of a GPU that the build has not" bash -c '! grep -q "too small" err.txt'
  fi
done
for wrong in tpu '0,' -1 0,0 0,x ''; do
  fails 2 "--device" align --mode sw --device "$wrong" q.fa t.fa
done
export BIOGPU_DEVICE=tpu
fails 2 "tpu" align --mode sw q.fa t.fa
export BIOGPU_DEVICE=cpu
works align --mode sw q.fa t.fa
check "BIOGPU_DEVICE is used" err_has 'asked for'
unset BIOGPU_DEVICE
fails 4 "device" align --mode sw --device 200 q.fa t.fa -o rows.tsv
check "no output without the device" absent rows.tsv

if [ "$backend" = none ]; then
  fails 4 "no GPU" align --mode sw --device gpu q.fa t.fa -o rows.tsv
  works devices
  check "devices says why there is none" out_has '^no GPU: this build'
fi

if [ "$backend" = emulated ]; then
  write_random 21 60 90 ACGTN q >dna_q.fa
  write_random 22 60 130 ACGTN t >dna_t.fa
  write_random 23 12 80 ARNDCQEGHILKMFPSTWYV q >protein_q.fa
  write_random 24 12 90 ARNDCQEGHILKMFPSTWYVX t >protein_t.fa
  write_random 27 40 80 ARNDCQEGHILKMFPSTWYV q >search_q.fa
  for wave in 32 64; do
    export BIOGPU_EMULATED_WAVE=$wave BIOGPU_EMULATED_DEVICES=2
    works devices
    check "two devices of wave $wave" [ "$(awk -F'\t' -v wave=$wave '$7 == wave' out.txt | wc -l)" -eq 2 ]
    for mode in nw sg sw sg_qx; do
      for output in score ends cigar; do
        works align --mode $mode --pairs --output $output -q --device cpu dna_q.fa dna_t.fa
        cp out.txt expected.tsv
        for options in "--device gpu" "--device 1" "--device 0,1 --batch 7"; do
          # shellcheck disable=SC2086
          works align --mode $mode --pairs --output $output -q $options dna_q.fa dna_t.fa
          check "wave $wave $mode $output $options" same_files out.txt expected.tsv
        done
        works align --mode $mode --output $output -q --device cpu protein_q.fa protein_t.fa
        cp out.txt expected.tsv
        works align --mode $mode --output $output -q --device gpu protein_q.fa protein_t.fa
        check "wave $wave $mode $output all with all" same_files out.txt expected.tsv
      done
    done
    # Searchers of both devices side by side, call by call: enough calls that they ask for the errors
    # of their threads at the same time.
    works align --mode sw --top 3 -q --device cpu search_q.fa protein_t.fa
    cp out.txt expected.tsv
    works align --mode sw --top 3 -q --device gpu --threads 4 --batch 1 search_q.fa protein_t.fa
    check "wave $wave search by two devices" same_files out.txt expected.tsv
    # Passes of a few sequences in turn by two devices, each with weights of its own.
    for model in esm2_head16 protbert_head16; do
      model=$source_dir/tests/data/models/$model proteins=$source_dir/tests/data/models/proteins.fa
      works infer embed -q --model "$model" --include residues --batch 20 --device 0 "$proteins" -o one.npz
      for devices in 0,1 1; do
        works infer embed -q --model "$model" --include residues --batch 20 --device $devices "$proteins" -o some.npz
        check "wave $wave embeddings by devices $devices" same_files some.npz one.npz
      done
    done
    works align --mode sw --device gpu dna_q.fa dna_t.fa -o rows.tsv --json -
    check "JSON names the devices" out_has '"used": "gpu:0,1"'
    check "no fall-back" bash -c '! grep -q warning err.txt'
  done

  # Two users share a device's memory; what they cannot do, one can with all of it.
  write_random 25 1 17000 ACGT q >long_q.fa
  write_random 26 1 17000 ACGT t >long_t.fa
  unset BIOGPU_EMULATED_DEVICES
  works align --mode sw --pairs --output cigar -q --device cpu long_q.fa long_t.fa
  cp out.txt expected.tsv
  works align --mode sw --pairs --output cigar -q --device gpu --max-device-memory 6M long_q.fa long_t.fa
  check "a pair that needs a device for itself" same_files out.txt expected.tsv
  fails 5 "device memory" align --mode sw --pairs --output cigar -q --device gpu --max-device-memory 1 \
    long_q.fa long_t.fa -o rows.tsv
  # What scores and what aligns share it, too.
  works align --mode sw --output cigar -q --min-score 20 --device gpu --threads 1 --max-device-memory 1M \
    "$source_dir/data/protein_queries.fa" "$source_dir/data/proteins.fa" -o rows.tsv --json run.json
  peak=$(sed -n 's/.*"peak_device_bytes": \([0-9]*\).*/\1/p' run.json)
  check "memory of the device is told" [ "$peak" -gt 0 ]
  check "memory of the device: $peak of 1048576 bytes" [ "$peak" -le 1048576 ]
fi

finish
