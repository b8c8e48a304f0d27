#!/usr/bin/env bash
# `biogpu infer relax` and `md`: convergence, energy conservation, restarting and resuming with the same bytes.
# shellcheck disable=SC2016  # awk and inner shells expand their own
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

molecules=$source_dir/tests/data/models/tensornet/o3
crystals=$source_dir/tests/data/models/tensornet/matgl
frames() { python3 "$source_dir/tests/support/potential_frames.py" "$@"; }
frames write "$molecules" two.extxyz 1 0 || exit 1
frames write "$molecules" one.extxyz 1 || exit 1
frames write "$crystals" crystal.extxyz 1 || exit 1

# Relaxing: forces fall below the threshold, energies fall, the last frames are those of the table.
relax() { run infer relax -q --device cpu --model "$molecules" "$@"; }
for optimizer in lbfgs fire; do
  relax --optimizer $optimizer --fmax 0.05 --steps 2000 two.extxyz -o steps.extxyz --table table.tsv
  check "$optimizer" rc_is 0
  check "both converged" bash -c '[ "$(cut -f 4 table.tsv | grep -c yes)" -eq 2 ]'
  check "below the threshold" bash -c 'awk "NR > 1 && \$6 > 0.05 { exit 1 }" table.tsv'
  relax --optimizer $optimizer --fmax 0.05 --steps 2000 --keep last --batch 1 two.extxyz -o last.extxyz
  check "the last frames of any batch" bash -c 'cmp <(grep converged=T -A 9 steps.extxyz | head -10) <(sed -n 2,11p last.extxyz)'
  run infer energy -q --device cpu --model "$molecules" --forces last.extxyz
  check "the energies of the table" cmp <(cut -f 3,4 out.txt) <(cut -f 5,6 table.tsv)
  check "lower than at the start" python3 -c "
import re
first = [float(x) for x in re.findall(r' energy=(\S+) .* step=0 ', open('steps.extxyz').read())]
last = [float(line.split('\t')[4]) for line in list(open('table.tsv'))[1:]]
assert len(first) == 2 and all(x > y + 1e-4 for x, y in zip(first, last)), (first, last)"
done
run infer relax --device cpu --model "$molecules" --fmax 0.0001 --steps 2 one.extxyz -o short.extxyz --table short.tsv
check "too few steps are no failure" rc_is 0
check "but a warning" err_has "one.extxyz: frame 1: not converged in 2 steps"
check "three frames" bash -c '[ "$(grep -c step= short.extxyz)" -eq 3 ]'
run infer relax -q --device cpu --model "$crystals" --cell --fmax 0.5 --smax 0.05 --steps 300 crystal.extxyz -o cell.extxyz
check "a box" rc_is 0
check "converged" bash -c '[ "$(grep -c converged=T cell.extxyz)" -eq 1 ]'
check "has its stress" grep -q "stress_unit=eV/A^3" cell.extxyz
check "and moves" bash -c '[ "$(grep -o "Lattice=\"[^\"]*\"" cell.extxyz | sort -u | wc -l)" -gt 1 ]'
relax --optimizer fire --fmax 0.05 --steps 4000000 two.extxyz -o small.extxyz
check "passes of one molecule where more steps may be kept" same_files small.extxyz steps.extxyz
fails 2 "--smax needs --cell too" infer relax -q --device cpu --model "$molecules" --smax 0.1 one.extxyz
fails 2 "no suffix of frames" infer relax -q --device cpu --model "$molecules" one.extxyz -o out.tsv

# Constant energy.
md() { run infer md -q --device cpu --model "$molecules" "$@"; }
md --temperature 20 --timestep 0.1 --steps 200 --every 10 one.extxyz -o nve.extxyz --table nve.tsv
check "nve" rc_is 0
check "frames of step 0 to the last" n_lines_is nve.tsv 22
check "energy is conserved" python3 -c "
rows = [line.split('\t') for line in open('nve.tsv')][1:]
total, kinetic = [float(r[5]) for r in rows], [float(r[4]) for r in rows]
assert max(kinetic) - min(kinetic) > 10 * (max(total) - min(total)) > 0, (total, kinetic)"
check "units in frames" grep -q "energy_unit=eV force_unit=eV/A velocity_unit=A/fs" nve.extxyz
md --temperature 20 --timestep 0.1 --steps 95 --every 10 one.extxyz
check "the last step is written, too" out_has " step=95 "

# Langevin dynamics: seeds, threads, restart from any frame.
nvt() { md --ensemble nvt --temperature 300 --timestep 0.2 --skin 0.1 "$@"; }
nvt --steps 60 --every 10 two.extxyz -o whole.extxyz --table whole.tsv
check "nvt" rc_is 0
nvt -t 1 --steps 60 --every 10 two.extxyz -o other.extxyz
check "the same with one thread" same_files whole.extxyz other.extxyz
nvt --seed 2 --steps 60 --every 10 two.extxyz -o other.extxyz
check "another seed is another trajectory" bash -c '! cmp -s whole.extxyz other.extxyz'
nvt --steps 60 --every 10 --restart 3 whole.extxyz -o tail.extxyz --table tail.tsv
check "restart" rc_is 0
check "gives the rest of the trajectory" cmp tail.extxyz <(sed -n "$((3 * 11 + 1)),$((7 * 11))p" whole.extxyz)
check "in the table too" cmp <(tail -n +2 tail.tsv) <(sed -n 5,8p whole.tsv)
nvt --steps 60 --every 10 --restart 11 whole.extxyz -o tail.extxyz
check "of the second trajectory" cmp tail.extxyz <(tail -n "$((3 * 14))" whole.extxyz)
nvt --steps 70 --every 10 --restart last whole.extxyz -o tail.extxyz
check "beyond the end" grep -q "trajectory=2 step=70 " tail.extxyz
fails 2 "is not beyond it" infer md -q --device cpu --model "$molecules" --restart last --steps 60 whole.extxyz
fails 2 "the input has 14 frames" infer md -q --device cpu --model "$molecules" --restart 15 whole.extxyz
fails 3 "has no velocities" infer md -q --device cpu --model "$molecules" --restart 1 one.extxyz
fails 2 "expected the number of a frame" infer md -q --device cpu --model "$molecules" --restart x one.extxyz
fails 2 "needs --temperature" infer md -q --device cpu --model "$molecules" --ensemble nvt one.extxyz
fails 2 "exclude each other" infer md -q --device cpu --model "$molecules" --restart 1 --shard 1/2 whole.extxyz
sed 's/trajectory=1 /trajectory=2147483648 /' whole.extxyz >far.extxyz
fails 3 "trajectory='2147483648' is no number of it" infer md -q --device cpu --model "$molecules" --restart 1 far.extxyz
sed 's/trajectory=1 /trajectory=2147483647 /' whole.extxyz >far.extxyz
nvt --steps 11 --restart 2 far.extxyz
check "the largest number of a trajectory" out_has "trajectory=2147483647 step=11 "
fails 2 "friction is for --ensemble nvt" infer md -q --device cpu --model "$molecules" --friction 0.1 one.extxyz
fails 2 "temperature with --restart" infer md -q --device cpu --model "$molecules" --temperature 9 --restart 1 whole.extxyz
fails 2 "whole.extxyz: frame 1: has velocities" infer md -q --device cpu --model "$molecules" --temperature 9 whole.extxyz

# A killed run goes on in the middle of a trajectory.
long="--device cpu --ensemble nvt --temperature 300 --timestep 0.2 --steps 400 --every 2"
# shellcheck disable=SC2086
run infer md -q $long --model "$molecules" two.extxyz -o whole.extxyz --table whole.tsv
# shellcheck disable=SC2086
"$biogpu" infer md -q $long --resume --model "$molecules" two.extxyz -o resumed.extxyz --table resumed.tsv &
pid=$!
for _ in $(seq 600); do
  [ "$(stat -c %s resumed.extxyz.partial 2>/dev/null || echo 0)" -gt 20000 ] && break
  sleep 0.05
done
kill -9 $pid
wait $pid 2>/dev/null
check "was killed before its end" exists resumed.extxyz.partial
# shellcheck disable=SC2086
run infer md $long --resume --model "$molecules" two.extxyz -o resumed.extxyz --table resumed.tsv
check "goes on" rc_is 0
check "with frames that were there" err_has "records were there already"
check "to the same trajectory" same_files resumed.extxyz whole.extxyz
check "and the same table" same_files resumed.tsv whole.tsv
finish
