#!/usr/bin/env bash
# `biogpu infer` with models of DNA and potentials on emulated devices: the CPU's numbers within the sums of both's
# bounds (docs/models/enformer.md, tests/models/tensornet/gpu_test.cpp), and the same bytes from one device and from two.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

support=$source_dir/tests/support
enformer=$source_dir/tests/data/models/enformer_tiny
tensornet=$source_dir/tests/data/models/tensornet/o3
cp "$enformer/genome.fa" .
grep -e '^#' -e v2 -e v5 "$enformer/variants.vcf" >two.vcf # a substitution and an insertion
python3 "$support/potential_frames.py" write "$tensornet" molecules.extxyz || exit 1
python3 "$support/potential_frames.py" write "$tensornet" two.extxyz 1 0 || exit 1
sed '/^>two/,$d' "$enformer/windows.fa" >one.fa
regions=(chr1:1041-1041 chr1:2001-2001)

# Batches of one record, so that two devices take turns.
# dna COMMAND OPTIONS...
dna() {
  local command=$1
  shift
  works infer "$command" -q --device "$devices" --batch 1 --model "$enformer" --head human --tracks 0,1 "$@"
  check "no fall-back" bash -c '! grep -q warning err.txt'
}
# potential COMMAND OPTIONS...: in the unit of the model
potential() {
  local command=$1
  shift
  works infer "$command" -q --device "$devices" --units kcal/mol --model "$tensornet" "$@"
  check "no fall-back" bash -c '! grep -q "CPU is used" err.txt'
}
# Both waves have the same kernels of both models; one is enough for what only chooses windows.
tracks() { dna tracks "${1:-$enformer/windows.fa}" -o "tracks.$devices.safetensors"; }
effects() {
  dna variants --wide --genome genome.fa two.vcf -o "variants.$devices.tsv"
  dna mutagenesis --genome genome.fa --region "${regions[0]}" --region "${regions[1]}" -o "mutations.$devices.safetensors"
}
energies() { potential energy --batch 1 --forces molecules.extxyz -o "energy.$devices.tsv"; }
# Each frame is a trajectory, and dynamics uses one device.
move() {
  potential relax --steps 3 two.extxyz -o frames.extxyz --table "relax.$devices.tsv"
  potential md --temperature 300 --steps 1 two.extxyz -o frames.extxyz --table "md.$devices.tsv"
}
# shellcheck disable=SC2317  # called by check
near() { python3 "$support/near_tables.py" "$@"; }
# shellcheck disable=SC2317
tensors() { python3 "$support/same_tensors.py" "$@"; }

devices=cpu
tracks; effects; energies; move
export BIOGPU_EMULATED_DEVICES=2
for wave in 64 32; do
  export BIOGPU_EMULATED_WAVE=$wave
  devices=0
  if [ $wave = 64 ]; then tracks one.fa; else tracks; fi
  energies; move
  check "wave $wave: tracks" tensors tracks.0.safetensors tracks.cpu.safetensors 3e-4 one=one
  check "wave $wave: energies" near energy.0.tsv energy.cpu.tsv energy=2e-5:atoms fmax=4e-5:row
  check "wave $wave: relaxation" near relax.0.tsv relax.cpu.tsv energy=2e-5:atoms fmax=4e-5:row
  check "wave $wave: dynamics" near md.0.tsv md.cpu.tsv potential=2e-5:row kinetic=4e-5:row total=2e-5:row \
    temperature_K=4e-5:row
done
effects
check "tracks of both windows" tensors tracks.0.safetensors tracks.cpu.safetensors 3e-4 one=one two=two
check "variants" near variants.0.tsv variants.cpu.tsv 0=4e-4:spread 1=4e-4:spread
for region in "${regions[@]}"; do
  check "mutagenesis" tensors mutations.0.safetensors mutations.cpu.safetensors 4e-4 "$region=$region"
done
devices=0,1
tracks; effects; energies
for output in tracks.%.safetensors variants.%.tsv mutations.%.safetensors energy.%.tsv; do
  check "the same by two devices" same_files "${output/\%/0,1}" "${output/\%/0}"
done

# Groups of heads, of which none needs the decoder: a window has its device until it is written.
alphagenome=$source_dir/tests/data/models/alphagenome_tiny
cat "$alphagenome/windows.fa" <(sed 's/^>/>again_/' "$alphagenome/windows.fa") >four.fa
for devices in 0 0,1; do
  works infer tracks -q --device "$devices" --max-memory 1K --model "$alphagenome" --head chip_tf/128,dnase/128,contact_maps \
    four.fa -o "groups.$devices.npz"
done
check "groups of heads by two devices" same_files groups.0,1.npz groups.0.npz
finish
