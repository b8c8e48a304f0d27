#!/usr/bin/env bash
# Compiles the CPU program for Arm (aarch64) and tests it under qemu-user: the unit tests, and the outputs of align, kmer,
# bwt, qc and gather byte by byte with those of a build for this machine.
#
# usage: scripts/dev/arm_test.sh [BIOGPU]    BIOGPU: the build to compare with, default build/cpu's
#
# arm_root.sh says what it needs. Models differ in their last digits between processors, as sums are taken in the order
# of the vector's width; the unit tests hold them to their bounds. With BIOGPU_ARM_PART_S no command of a part begins after
# so many seconds. Exit status: 0 passed, 1 not, 3 cannot be done here. With BIOGPU_RECORD=1 what passed is recorded for docs/platforms.md.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

biogpu=$(realpath "${1:-build/cpu/apps/biogpu/biogpu}") || exit 1
root=${BIOGPU_ARM_ROOT:-/var/cache/biogpu/arm}
jobs=$(nproc)
scripts/dev/arm_root.sh bash -c "cmake --preset arm && cmake --build --preset arm -j $jobs" >build/arm.log 2>&1 ||
  { rc=$?; tail -n 30 build/arm.log; exit $((rc == 3 ? 3 : 1)); }

# qemu-user finds the interpreter and the libraries of aarch64 in the system that the build was made in.
emulator="$root/usr/bin/qemu-aarch64-static -L $root"
$emulator build/arm/apps/biogpu/biogpu version | grep -q '^backends: cpu (NEON' ||
  { echo "arm_test: the program for aarch64 does not start, or not with NEON"; exit 1; }
failed=0
scripts/dev/arm_root.sh ctest --test-dir build/arm -L unit -j "$jobs" --no-tests=error --output-on-failure |
  tee build/arm/ctest.log || failed=1
rows=()
for part in align kmer bwt qc; do
  scripts/dev/same_outputs.py --only $part --seconds "${BIOGPU_ARM_PART_S:-inf}" --emulator "$emulator" "$biogpu" build/arm/apps/biogpu/biogpu |
    tee build/arm/same_outputs.log || failed=1
  rows+=("$part"$'\t'"$(sed -nE 's/^([0-9]+) commands, [^;]*; [^;]*/\1 commands with the bytes of x86-64/p' build/arm/same_outputs.log)")
done

if [ $failed = 0 ] && [ "${BIOGPU_RECORD:-0}" = 1 ]; then
  rows+=("infer"$'\t'"$(grep -cE 'Test +#[0-9]+: .* Passed' build/arm/ctest.log) test programs of all parts")
  for row in "${rows[@]}"; do
    printf 'arm64\t%s\tmachine code emulated\t%s\n' "${row%%$'\t'*}" "${row#*$'\t'}"
  done | python3 scripts/measure/platforms.py scripts/dev/arm_test.sh
fi
exit $failed
