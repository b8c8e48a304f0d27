#!/usr/bin/env bash
# `biogpu infer relax`: convergence, optimizers, boxes, formats, frames that are kept, resuming, refusals.
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
check "what converged" err_has '0 of 1 molecule converged; the longest took 2 steps$'
check "three frames" bash -c '[ "$(grep -c step= short.extxyz)" -eq 3 ]'
run infer relax -q --device cpu --model "$crystals" --cell --fmax 0.5 --smax 0.05 --steps 300 crystal.extxyz -o cell.extxyz
check "a box" rc_is 0
check "converged" bash -c '[ "$(grep -c converged=T cell.extxyz)" -eq 1 ]'
check "has its stress" grep -q "stress_unit=eV/A^3" cell.extxyz
check "and moves" bash -c '[ "$(grep -o "Lattice=\"[^\"]*\"" cell.extxyz | sort -u | wc -l)" -gt 1 ]'
relax --optimizer fire --fmax 0.05 --steps 4000000 two.extxyz -o small.extxyz
check "passes of one molecule where more steps may be kept" same_files small.extxyz steps.extxyz
fails 2 "--smax needs --cell too" infer relax -q --device cpu --model "$molecules" --smax 0.1 one.extxyz
fails 2 "--output: 'out.tsv'; expected a name that ends in .extxyz" infer relax -q --device cpu --model "$molecules" one.extxyz -o out.tsv

# Moved off a minimum, a molecule comes back to it with both optimizers. Curvatures of this model go down to 0.01
# eV/A^2, so that forces below 0.001 eV/A leave up to 5e-5 eV and 0.1 A.
cat >compare.py <<'END'
# usage: compare.py MINIMUM START RELAXED ENERGY_BOUND DISTANCE_BOUND: of each frame, START being far from MINIMUM.
import itertools, math, re, sys
def frames(path):
    lines = open(path).read().splitlines()
    while lines:
        n = 2 + int(lines[0])
        box = re.search(r'Lattice="([^"]*)"', lines[1])
        vectors = [list(map(float, box[1].split()))[i:i + 3] for i in (0, 3, 6)] if box else []
        atoms = [list(map(float, line.split()[1:4])) for line in lines[2:n]]
        # Turning and moving the whole changes neither.
        sizes = [math.dist(a, b) for a, b in itertools.combinations(atoms, 2)]
        sizes += [math.dist(a, b) for a, b in itertools.combinations_with_replacement([[0, 0, 0], *vectors], 2)]
        yield float(re.search(r" energy=(\S+)", lines[1])[1]), sizes
        lines = lines[n:]
minimum, start, relaxed = (list(frames(path)) for path in sys.argv[1:4])
energy_bound, distance_bound = map(float, sys.argv[4:])
assert len(minimum) == len(start) == len(relaxed) > 0
for (energy, sizes), (before, _), (after, others) in zip(minimum, start, relaxed):
    assert before > energy + 10 * energy_bound, (energy, before)
    assert abs(after - energy) < energy_bound, (energy, after)
    assert all(abs(x - y) < distance_bound for x, y in zip(sizes, others)), (sizes, others)
END
# move FRAMES OUT: atoms by some 0.03 A; nothing else of the frames but charge and box.
move() {
  awk '/=/ { charge = match($0, / charge=[-0-9]+/) ? substr($0, RSTART, RLENGTH) : ""
             box = match($0, /Lattice="[^"]*"/) ? " " substr($0, RSTART, RLENGTH) : ""
             print "Properties=species:S:1:pos:R:3" charge box; next }
       NF >= 7 { print $1, $2 + 0.03 * sin(NR * 7), $3 + 0.03 * sin(NR * 7 + 2), $4 + 0.03 * sin(NR * 7 + 4); next }
       { print }' "$1" >"$2"
}
frames write "$molecules" deep.extxyz 0 || exit 1
relax --fmax 0.0002 --steps 3000 --keep last deep.extxyz -o minimum.extxyz
check "a minimum" grep -q converged=T minimum.extxyz
move minimum.extxyz moved.extxyz
run infer energy -q --device cpu --model "$molecules" --forces moved.extxyz -o start.extxyz
for optimizer in lbfgs fire; do
  relax --optimizer $optimizer --fmax 0.001 --steps 3000 --keep last moved.extxyz -o back.extxyz
  check "a molecule comes back with $optimizer" python3 compare.py minimum.extxyz start.extxyz back.extxyz 1e-4 0.1
done
cell() { run infer relax -q --device cpu --model "$crystals" --precision fp64 --cell --keep last --steps 3000 "$@"; }
cell --fmax 0.0005 --smax 0.0001 crystal.extxyz -o minimum.extxyz
move minimum.extxyz moved.extxyz
run infer energy -q --device cpu --model "$crystals" --precision fp64 --forces moved.extxyz -o start.extxyz
for optimizer in lbfgs fire; do
  cell --optimizer $optimizer --fmax 0.005 --smax 0.0005 moved.extxyz -o back.extxyz
  check "a crystal and its box come back with $optimizer" python3 compare.py minimum.extxyz start.extxyz back.extxyz 1e-4 0.05
done

# Formats: the same molecule gives the same table; frames to files of either suffix, gzip and standard output.
printf 'methane\n  x                 3D\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n' >m.sdf
printf '%10.4f%10.4f%10.4f %-3s 0  0\n' 0 0 0 C 1.09 0 0 H >>m.sdf
printf '  1  2  1  0\nM  CHG  1   1   1\nM  END\n$$$$\n' >>m.sdf
printf '2\ncharge=1\nC 0 0 0\nH 1.09 0 0\n' >m.xyz
printf 'HETATM    1  C   MET A   1       0.000   0.000   0.000  1.00  0.00           C1+\n' >m.pdb
printf 'HETATM    2  H   MET A   1       1.090   0.000   0.000  1.00  0.00           H  \n' >>m.pdb
gzip -k m.xyz
relax m.xyz -o m.extxyz --table m.tsv
check "a molecule moves" bash -c '[ "$(cut -f 3 m.tsv | tail -1)" -gt 0 ]'
for input in m.sdf m.pdb m.xyz.gz -; do
  relax $input -o other.extxyz --table other.tsv <m.xyz
  check "$input is the same molecule" same_files other.tsv m.tsv
done
for output in other.xyz other.extxyz.gz; do
  relax m.xyz -o $output
  check "$output" cmp m.extxyz <(gzip -cdf $output)
done
relax m.xyz
check "standard output" same_files m.extxyz out.txt
relax --units kcal/mol m.xyz -o kcal.extxyz --table kcal.tsv
check "other units" grep -q "energy_unit=kcal/mol force_unit=kcal/mol/A" kcal.extxyz
check "the same steps, energies and forces in them" python3 -c '
a, b = (open(name).readlines()[1].split("\t") for name in ("m.tsv", "kcal.tsv"))
assert a[:4] == b[:4] and b[6] == "kcal/mol,kcal/mol/A\n", (a, b)
assert all(abs(float(a[i]) * 23.06054783 - float(b[i])) < 1e-6 for i in (4, 5)), (a, b)'

# Frames that are kept: without --keep all those of each molecule, one after the other, in any batch.
relax two.extxyz -o all.extxyz --table all.tsv
relax --keep all --batch 1 -t 1 two.extxyz -o other.extxyz
check "--keep all is what it does" same_files other.extxyz all.extxyz
relax --keep last two.extxyz -o last.extxyz --table last.tsv
check "with the same table" same_files last.tsv all.tsv
check "every step of every molecule" cmp <(grep -o " step=[0-9]* converged=[TF]" all.extxyz) <(awk -F '\t' 'NR > 1 {
  for (i = 0; i <= $3; ++i) print " step=" i " converged=" (i == $3 && $4 == "yes" ? "T" : "F") }' all.tsv)
fails 2 "keep" infer relax -q --device cpu --model "$molecules" --keep first two.extxyz

# Resuming: a run that stops at a bad molecule goes on once that is corrected. The file keeps its size and time, by
# which it is known.
{ cat two.extxyz && printf '2\ncharge=0\nU 0 0 0\nC 1.2 0 0\n'; } >stops.xyz
cp -p stops.xyz original.xyz
for keep in all last; do
  relax --keep $keep --resume --batch 1 stops.xyz -o resumed.extxyz --table resumed.tsv
  check "stops at an unknown element" rc_is 3
  check "and keeps what was done" exists resumed.extxyz.partial
  check "but names no output" absent resumed.extxyz
  sed -i 's/^U/C/' stops.xyz
  touch -r original.xyz stops.xyz
  run infer relax --device cpu --model "$molecules" --keep $keep --resume --batch 1 stops.xyz -o resumed.extxyz --table resumed.tsv
  check "goes on" rc_is 0
  check "with the molecules that were there" err_has "\(1 record was\|2 records were\) there already"
  relax --keep $keep stops.xyz -o whole.extxyz --table whole.tsv
  check "to the same frames" same_files resumed.extxyz whole.extxyz
  check "and the same table" same_files resumed.tsv whole.tsv
  check "no log is left" absent resumed.extxyz.partial
  rm resumed.extxyz resumed.tsv
  cp -p original.xyz stops.xyz
done

# --skip-bad: a bad molecule ends none of the others, neither one that is bad at first nor one that becomes so. The box
# of narrow.xyz is only just wide enough, and shrinks.
printf '3\nLattice="7.05 0 0 0 7.05 0 0 0 7.05" charge=0\nO 1.708 1.309 2.188\nH 1.465 1.2 2.205\nH 3.754 3.401 3.295\n' >narrow.xyz
{ printf '2\ncharge=0\nU 0 0 0\nC 1.2 0 0\n' && cat m.xyz narrow.xyz && printf '1\n\nQq 0 0 0\n' && cat m.xyz &&
  printf '2\n\nC 0 0 0\nH 0 0 0\n'; } >mixed.xyz
cell="--cell --fmax 0.001 --smax 0.00001 --steps 40"
for keep in all last; do
  # shellcheck disable=SC2086
  fails 3 "mixed.xyz: skipped: 4 frames that are bad; the output has the others" infer relax -q --device cpu --model "$molecules" \
    $cell --keep $keep --skip-bad --json skip.json mixed.xyz -o skipped.$keep.extxyz --table skipped.$keep.tsv
  check "a line for each" bash -c '[ "$(grep -c "warning: skipped: mixed.xyz: frame" err.txt)" -eq 4 ]'
  check "that says why" err_has "skipped: mixed.xyz: frame 4 (line [0-9]*): .Qq. is no element"
  check "on the way, too" err_has "skipped: mixed.xyz: frame 3: step [1-9][0-9]*: the box is 6[.][0-9]* A wide; the model needs"
  # shellcheck disable=SC2086
  relax $cell --keep $keep m.xyz -o alone.extxyz --table alone.tsv
  check "the others are as they are alone" cmp skipped.$keep.extxyz <(cat alone.extxyz alone.extxyz)
  check "and their lines" cmp skipped.$keep.tsv <(sed 's/^1/2/' alone.tsv && sed -n 's/^1/5/p' alone.tsv)
  check "counted in the summary" python3 -c "
import json
result = json.load(open('skip.json'))['result']
assert result['frames'] == 2 and result['atoms'] == 4 and result['skipped']['frames'] == 4, result"
done
# shellcheck disable=SC2086
relax $cell mixed.xyz -o no.extxyz
check "without it the run ends" rc_is 3
# shellcheck disable=SC2086
relax $cell narrow.xyz -o no.extxyz
check "with the first of them" rc_is 3
check "and names no output" absent no.extxyz
# What was left out stays so where a run goes on. A last frame without an end stops it.
{ cat mixed.xyz && printf 'x\n'; } >resume.xyz
cp -p resume.xyz original.xyz
for i in 1 2; do
  # shellcheck disable=SC2086
  relax $cell --skip-bad --resume --batch 1 resume.xyz -o resumed.extxyz --table resumed.tsv
  check "frames that are bad" rc_is 3
  [ $i = 1 ] && check "what was done is kept" exists resumed.extxyz.partial
  sed -i 's/^x$/ /' resume.xyz
  touch -r original.xyz resume.xyz
done
check "with those of the first run" err_has "resume.xyz: skipped: 4 frames that are bad"
check "the same frames" same_files resumed.extxyz skipped.all.extxyz
check "and lines" same_files resumed.tsv skipped.all.tsv

# Fixed atoms, as ASE writes them, keep their place, and their forces are not in the criterion.
printf '3\nProperties=species:S:1:pos:R:3:move_mask:L:1 charge=0\nC 0 0 0 F\nO 1.3 0 0 F\nH -0.6 0.9 0 T\n' >fixed.extxyz
works infer relax -q --device cpu --model "$molecules" --fmax 0.001 --steps 300 --keep last fixed.extxyz -o fixed_out.extxyz --table fixed.tsv
check "converged" bash -c 'tail -1 fixed.tsv | cut -f 4 | grep -qx yes'
check "fixed atoms keep their places" [ "$(awk 'NR > 2 && $5 == "F" { print $1, $2, $3, $4 }' fixed_out.extxyz)" = "$(printf 'C 0 0 0\nO 1.3 0 0')" ]
check "and the other one has moved" bash -c '! grep -q "^H -0.6 0.9 0 T" fixed_out.extxyz'
check "the largest force is one of atoms that move" awk -F'\t' 'NR == 2 { exit !($6 <= 0.001) }' fixed.tsv
works infer md -q --device cpu --model "$molecules" --ensemble nvt --temperature 400 --steps 20 --every 20 fixed.extxyz -o fixed_md.extxyz
check "nor in md" [ "$(tail -3 fixed_md.extxyz | awk '$5 == "F" { print $1, $2, $3, $4 }')" = "$(printf 'C 0 0 0\nO 1.3 0 0')" ]

# Refusals: one line with file and frame, no output.
bad() {
  fails 3 "^biogpu infer: bad.xyz: frame $1" infer relax -q --device cpu --model "$molecules" --charge 0 bad.xyz -o bad.extxyz --table bad.tsv
  check "no frames" absent bad.extxyz
  check "no table" absent bad.tsv
}
printf '1\n\nC 0 0 0\n1\n\nC 0 nan 0\n' >bad.xyz
bad "2 (line 6): coordinate 'nan' is no number"
printf '1\n\nC 0 0 0\n2\n\nC 0 0 0\n' >bad.xyz
bad "2 (line 6): cut short: 1 of 2 atoms are there"
printf '1\n\nC 0 0 0\n1\n\nQq 0 0 0\n' >bad.xyz
bad "2 (line 6): 'Qq' is no element"
printf '1\n\nU 0 0 0\n' >bad.xyz
bad "1: atom 1 is U; the model knows"
printf '2\n\nC 0 0 0\nH 0 0 0\n' >bad.xyz
bad "1: atoms 1 (C) and 2 (H) are at one place"
: >empty.xyz
works infer relax -q --device cpu --model "$molecules" empty.xyz -o empty.extxyz --table empty.tsv
check "no molecules, no frames" n_lines_is empty.extxyz 0
check "and the header of the table" n_lines_is empty.tsv 1
check "and a warning" err_has "warning: the input has no frames; the output has no results"
fails 1 "absent.xyz: cannot be opened" infer relax -q --device cpu --model "$molecules" absent.xyz
fails 2 "the same file\|is also\|takes the place of" infer relax -q --device cpu --model "$molecules" m.extxyz -o m.extxyz
finish
