#!/usr/bin/env bash
# `biogpu infer variants --scorers` on an emulated device: the CPU's scores, within the model's bounds.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

support=$source_dir/tests/support
python3 "$support/alphagenome_folders.py" "$source_dir/tests/data/models/alphagenome_tiny" || exit 1
python3 "$support/scorer_check.py" make || exit 1
grep -e '^#' -e '	3004	' variants.vcf >one.vcf
# Heads that need no decoder, which takes most of an emulated pass.
scorers() {
  run infer variants -q --device "$1" --model tables --genome genome.fa --scorers CHIP_TF,CHIP_HISTONE_ACTIVE,CONTACT_MAPS \
    one.vcf -o "$1.tsv"
}
# shellcheck disable=SC2317  # called by check
near() { python3 "$support/near_tables.py" "$@"; }

scorers cpu
BIOGPU_EMULATED_WAVE=32 scorers 0
check "on a device" rc_is 0
check "no fall-back" err_is_empty
for scorer in CHIP_TF CHIP_HISTONE Contact; do
  for device in cpu 0; do grep -e '^variant_id' -e "$scorer" "$device.tsv" >"$device.$scorer.tsv"; done
  check "$scorer" near "0.$scorer.tsv" "cpu.$scorer.tsv" raw_score=1e-3:spread
done
finish
