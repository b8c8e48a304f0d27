#!/usr/bin/env bash
# A build for AMD where AMD's runtime is and no card: the module opens, devices says why there is none, every
# command with a GPU part works on the CPU and ends with 4 where a GPU is asked for.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"
if [ -e /dev/kfd ]; then
  echo "a card may be here: nothing to test"
  exit 77
fi
write_example
models=$source_dir/tests/data/models
reads=$source_dir/data/lambda_reads.fq.gz

module=$(dirname "$biogpu")/libbiogpu_rocm.so
check "the module" exists "$module"
check "the program does not need AMD's runtime" bash -c "! ldd '$biogpu' | grep amdhip64"
check "the module does" bash -c "ldd '$module' | grep -q 'libamdhip64.*=> /'"
check "every symbol is found" bash -c "ldd -r '$module' >symbols.txt 2>&1; ! grep undefined symbols.txt"

works devices
check "why there is none" out_has '^no GPU: no GPU found: .'
cp out.txt with_module.txt
works version
check "the version names the backend" out_has rocm

# falls_back ARGUMENTS...: works with no device named, and on the CPU; ends with 4 where one is asked for.
falls_back() {
  works "$@"
  works "$@" --device auto
  fails 4 "no GPU" "$@" --device gpu
  fails 4 "." "$@" --device 0
}
falls_back align --mode sw q.fa t.fa
falls_back align --mode sw --top 1 q.fa t.fa
falls_back align --mode nw --output cigar --pairs q.fa t.fa
falls_back kmer count -m 4 -o counts.jf q.fa
falls_back kmer query counts.jf -s q.fa
falls_back bwt index t.fa -p small
falls_back bwt count -x small q.fa
falls_back bwt locate -x small q.fa
works bwt index --format bwa t.fa -p bwa
falls_back bwt smem -x bwa q.fa
falls_back bwt transform t.fa -o transformed.txt
falls_back qc -i "$reads" -o clean.fq

protein=$models/esm2_head16
falls_back infer embed --model "$protein" "$models/proteins.fa" -o embeddings.npz
falls_back infer logits --model "$protein" "$models/proteins.fa" -o logits.npz
falls_back infer contacts --model "$protein" "$models/proteins.fa" -o contacts.npz
falls_back infer score --model "$protein" "$models/proteins.fa"
printf '>masked\nMKT<mask>AYI\n' >masked.fa
falls_back infer fill-mask --model "$protein" masked.fa
falls_back infer embed --model "$models/protbert_head16" "$models/proteins.fa" -o embeddings.npz
dna=$models/enformer_tiny
cp "$dna/genome.fa" .  # its index is written to the same folder
falls_back infer tracks --model "$dna" "$dna/windows.fa" -o tracks.npz
falls_back infer variants --model "$dna" --genome genome.fa "$dna/variants.vcf"
falls_back infer mutagenesis --model "$dna" --genome genome.fa --region chr1:501-502 -o effects.npz
falls_back infer tracks --model "$models/borzoi_tiny" "$models/borzoi_tiny/windows.fa" -o tracks.npz
python3 "$source_dir/tests/support/random_proteinmpnn.py" model
falls_back infer design --model model "$models/proteinmpnn/edited.pdb"
atoms=$models/tensornet/o3
python3 "$source_dir/tests/support/potential_frames.py" write "$atoms" one.extxyz 1
falls_back infer energy --model "$atoms" one.extxyz
falls_back infer relax --model "$atoms" --steps 2 one.extxyz -o relaxed.extxyz
falls_back infer md --model "$atoms" --steps 2 one.extxyz -o moved.extxyz

# Without the module, and with one that is no library.
mkdir apart
cp "$biogpu" apart/biogpu
biogpu=$work/apart/biogpu
works devices
check "a program without its module" out_has '^no GPU: this build has no GPU backend'
fails 4 "no GPU" align --mode sw --device gpu q.fa t.fa
echo "not a library" >apart/libbiogpu_rocm.so
works devices
check "a module that does not open" out_has '^no GPU: cannot open the GPU backend: .*libbiogpu_rocm.so'
works align --mode sw q.fa t.fa
fails 4 "cannot open" align --mode sw --device gpu q.fa t.fa

finish
