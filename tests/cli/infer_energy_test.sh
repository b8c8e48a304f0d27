#!/usr/bin/env bash
# `biogpu infer energy`: frames of several formats, forces and stresses, units, resuming, shards, refusals.
# shellcheck disable=SC2016  # awk and inner shells expand their own
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

molecules=$source_dir/tests/data/models/tensornet/o3
crystals=$source_dir/tests/data/models/tensornet/matgl
frames() { python3 "$source_dir/tests/support/potential_frames.py" "$@"; }
energy() { run infer energy -q --device cpu --model "$molecules" "$@"; }

# Molecules with charges and a box, as torchmd-net computes them; crystals, as matgl does.
frames write "$molecules" molecules.extxyz || exit 1
frames write "$crystals" crystals.extxyz || exit 1
energy --units kcal/mol --forces molecules.extxyz -o out.extxyz
check "frames" rc_is 0
check "equal to torchmd-net" frames compare "$molecules" out.extxyz 1e-4 1e-4
energy --units kcal/mol --forces --precision fp64 molecules.extxyz -o fp64.extxyz
check "equal in double precision" frames compare "$molecules" fp64.extxyz 1e-6 1e-5
run infer energy -q --device cpu --model "$crystals" --forces --stress crystals.extxyz -o crystals_out.extxyz
check "crystals" rc_is 0
check "equal to matgl" frames compare "$crystals" crystals_out.extxyz 1e-4 1e-4
check "units of frames" grep -q 'energy_unit=eV force_unit=eV/A stress_unit=eV/A^3' crystals_out.extxyz

# A table: the same numbers, for any batch and number of threads, from a pipe.
energy --forces molecules.extxyz -o table.tsv
check "columns" cmp <(head -1 table.tsv) <(printf 'index\tnatoms\tenergy\tfmax\tunits\n')
check "a line a frame" n_lines_is table.tsv 6
check "units of the table" bash -c 'tail -n +2 table.tsv | cut -f 5 | uniq | grep -qx "eV,eV/A"'
check "eV of kcal/mol" python3 - <<'END'
import re
lines = [line.split("\t") for line in open("table.tsv")][1:]
energies = [float(x) for x in re.findall(r" energy=(\S+)", open("out.extxyz").read())]
assert [int(line[0]) for line in lines] == [1, 2, 3, 4, 5]
for line, energy in zip(lines, energies):
    assert abs(float(line[2]) * 23.06054783 - energy) < 1e-6 * abs(energy) + 1e-6, (line, energy)
END
for options in "--batch 1" "-t 1" "--batch 20 -t 2"; do
  # shellcheck disable=SC2086
  energy $options --forces molecules.extxyz -o other.tsv
  check "the same with $options" same_files other.tsv table.tsv
done
"$biogpu" infer energy -q --device cpu --model "$molecules" --forces <molecules.extxyz >piped.tsv
check "the same from a pipe" same_files piped.tsv table.tsv
gzip -k molecules.extxyz
energy --forces molecules.extxyz.gz -o other.tsv
check "the same from gzip" same_files other.tsv table.tsv
run infer energy -q --device cpu --model "$crystals" --stress crystals.extxyz
check "stress of frames with a box alone" bash -c '[ "$(cut -f 4 out.txt | grep -c NA)" -eq 1 ]'
check "six columns of it" out_has "stress_xx	stress_yy	stress_zz	stress_yz	stress_xz	stress_xy	units"

# Several files, shards, resuming.
python3 - <<'END'
frames, lines = [], open("molecules.extxyz").read().splitlines(True)
while lines:
    n = 2 + int(lines[0])
    frames.append("".join(lines[:n]))
    lines = lines[n:]
open("first.xyz", "w").write("".join(frames[:2]))
open("second.xyz", "w").write("".join(frames[2:]))
END
energy --forces first.xyz second.xyz -o other.tsv
check "two files are one input" same_files other.tsv table.tsv
for i in 1 2 3; do energy --forces --shard $i/3 first.xyz second.xyz -o part$i.tsv; done
run gather part1.tsv part2.tsv part3.tsv -o gathered.tsv
check "shards joined" same_files gathered.tsv table.tsv
# A run that stops at a bad frame; once that is corrected it goes on. The file keeps its size and time, by which
# it is known.
{ cat molecules.extxyz && printf '1\ncharge=0\nU 0 0 0\n'; } >stops.xyz
cp -p stops.xyz original.xyz
energy --resume --batch 1 --forces stops.xyz -o resumed.tsv
check "stops at an unknown element" rc_is 3
check "and keeps what was done" exists resumed.tsv.partial
sed -i 's/^U/C/' stops.xyz
touch -r original.xyz stops.xyz
run infer energy --device cpu --model "$molecules" --resume --batch 1 --forces stops.xyz -o resumed.tsv
check "goes on" rc_is 0
check "with the frames that were there" err_has "[1-5] record.* there already"
energy --forces stops.xyz -o whole.tsv
check "as a run that did not stop" same_files resumed.tsv whole.tsv
check "no log is left" absent resumed.tsv.partial

# SDF, PDB.
printf 'methane\n  x                 3D\n\n  2  1  0  0  0  0  0  0  0  0999 V2000\n' >m.sdf
printf '%10.4f%10.4f%10.4f %-3s 0  0\n' 0 0 0 C 1.09 0 0 H >>m.sdf
printf '  1  2  1  0\nM  CHG  1   1   1\nM  END\n$$$$\n' >>m.sdf
printf '2\ncharge=1\nC 0 0 0\nH 1.09 0 0\n' >m.xyz
printf 'HETATM    1  C   MET A   1       0.000   0.000   0.000  1.00  0.00           C1+\n' >m.pdb
printf 'HETATM    2  H   MET A   1       1.090   0.000   0.000  1.00  0.00           H  \n' >>m.pdb
energy m.xyz -o m.tsv
for suffix in sdf pdb; do
  energy m.$suffix
  check "$suffix is the same molecule" same_files out.txt m.tsv
done
printf '2\n\nC 0 0 0\nH 1.09 0 0\n' >no_charge.xyz
energy --charge 1 no_charge.xyz
check "--charge" same_files out.txt m.tsv
energy --charge 1 m.sdf
check "--charge as the file has it" same_files out.txt m.tsv
# What a frame tells counts; --charge is for the others, in one file too.
works infer energy --device cpu --model "$molecules" --charge 0 m.sdf
check "the charge of the file counts" same_files out.txt m.tsv
check "with a warning" err_has "warning: m.sdf: frame 1: has a charge of 1; --charge 0 is for frames that tell none"
grep -v 'M  CHG' m.sdf >neutral.sdf
energy --charge 1 neutral.sdf
check "--charge of a table without charges" same_files out.txt m.tsv
{ cat no_charge.xyz && sed 's/charge=1/note=x charge = -2/' m.xyz && cat no_charge.xyz m.xyz; } >mixed_charges.xyz
energy --charge 1 mixed_charges.xyz -o mixed_charges.tsv
check "mixed frames" rc_is 0
check "each with its charge" awk 'NR > 1 { e[NR] = $3 } END { exit !(e[2] == e[4] && e[2] == e[5] && e[2] != e[3]) }' mixed_charges.tsv
fails 2 "the model does not use charges" infer energy -q --device cpu --model "$crystals" --charge 0 crystals.extxyz
for folder in "$molecules" "$crystals"; do
  for option in --atom-references --no-atom-references; do
    fails 2 "has no energies of free atoms" infer energy -q --device cpu --model "$folder" $option no_charge.xyz
  done
done
# Added as the checkpoint says, or as the option does.
references=$source_dir/tests/data/models/tensornet/so3_old_rows
works infer energy -q --device cpu --model "$references" no_charge.xyz -o as_trained.tsv
works infer energy -q --device cpu --model "$references" --no-atom-references no_charge.xyz
check "energies of free atoms count" bash -c '! cmp -s out.txt as_trained.tsv'
works infer energy -q --device cpu --model "$references" --atom-references no_charge.xyz
check "and are added without an option" same_files out.txt as_trained.tsv
works infer info "$references"
check "info says so" grep -qx "prior	Atomref" out.txt
mkdir off && cp "$references/model.safetensors" off/
sed 's/"max_z": 20,/"max_z": 20, "prior_args": {"enable": false},/' "$references/config.json" >off/config.json
works infer info off
check "info says where they are off" grep -qx "prior	Atomref, off" out.txt
works infer energy -q --device cpu --model off no_charge.xyz -o off.tsv
check "off as the checkpoint says" bash -c '! cmp -s off.tsv as_trained.tsv'
works infer energy -q --device cpu --model off --atom-references no_charge.xyz
check "on by the option" same_files out.txt as_trained.tsv
# More threads than cores: oneTBB is not asked for more, and writes nothing.
works infer energy -q --device cpu --threads 61 --model "$references" no_charge.xyz
check "the same energies" same_files out.txt as_trained.tsv
check "nothing on standard error" test ! -s err.txt
energy --charge 0 no_charge.xyz
check "charges matter" bash -c '! cmp -s out.txt m.tsv'

# PDB: a space group that is not P 1, and no atoms at all.
{ printf 'CRYST1   30.000   31.000   32.000  90.00  90.00  90.00 P 21 21 21    4\n' && cat m.pdb; } >group.pdb
works infer energy --device cpu --model "$molecules" group.pdb group.pdb
check "computed without a box" cmp <(tail -1 out.txt | cut -f 3) <(tail -1 m.tsv | cut -f 3)
check "with one warning" bash -c '[ "$(grep -c "group.pdb: frame 1: CRYST1 has the space group .P 21 21 21." err.txt)" -eq 1 ]'
: >empty.pdb
works infer energy --device cpu --model "$molecules" empty.pdb
check "an empty PDB gives a header and a warning" err_has "warning: the input has no frames"

# Empty input.
: >empty.xyz
works infer energy -q --device cpu --model "$molecules" empty.xyz
check "an empty file gives a header" n_lines_is out.txt 1
check "and a warning" err_has "warning: the input has no frames; the output has no results"

# Refusals: one line with file and frame, no output.
bad() { fails 3 "$1" infer energy -q --device cpu --model "$molecules" --charge 0 bad.xyz -o bad.tsv; check "no output" absent bad.tsv; }
printf '1\n\nC 0 0 0\n1\n\nQq 0 0 0\n' >bad.xyz
bad "^biogpu infer: bad.xyz: frame 2 (line 6): 'Qq' is no element"
printf '1\n\nC 0 0 0\n1\n\nU 0 0 0\n' >bad.xyz
bad "^biogpu infer: bad.xyz: frame 2: atom 1 is U; the model knows"
printf '1\n\nC 0 nan 0\n' >bad.xyz
bad "bad.xyz: frame 1 (line 3): coordinate 'nan' is no number"
printf '2\n\nC 0 0 0\n' >bad.xyz
bad "bad.xyz: frame 1 (line 3): cut short: 1 of 2 atoms are there"
printf '2\n\nC 0 0 0\nH 0 0 0\n' >bad.xyz
bad "bad.xyz: frame 1: atoms 1 (C) and 2 (H) are at one place"
printf '1\nLattice="6 0 0 0 9 0 0 0 9"\nC 0 0 0\n' >bad.xyz
bad "bad.xyz: frame 1: the box is 6 A wide; the model needs at least 7 A, twice its cutoff"

printf '1\nLattice= "9 0 0 0 9 0 0 0 9" pbc="x x x"\nC 0 0 0\n' >bad.xyz
bad "bad.xyz: frame 1 (line 2): pbc='x x x' is no T or F for each axis"
printf '1\npbc=T Properties=species:S:1:pos:R:3\nC 0 0 0\n' >bad.xyz
bad "bad.xyz: frame 1 (line 2): pbc='T' is periodic, but there is no Lattice"

# A box is never lost: every way of writing it gives the energy of the first.
for lattice in 'Lattice="4 0 0 0 4.5 0 0 0 5" pbc="T T T"' "Lattice= '4 0 0 0 4.5 0 0 0 5'" \
  'pbc=T Lattice =[[4,0,0], [0,4.5,0], [0,0,5]]' 'Lattice={4 0 0 0 4.5 0 0 0 5} pbc=[1,1,1]'; do
  printf '2\n%s\nSi 0 0 0\nO 1.5 0.5 0\n' "$lattice" >box.xyz
  run infer energy -q --device cpu --model "$crystals" box.xyz
  check "$lattice" rc_is 0
  tail -1 out.txt >>boxes.tsv
done
check "all are the same crystal" bash -c '[ "$(sort -u boxes.tsv | wc -l)" -eq 1 ]'
# A box far narrower than the cutoff and atoms denser than matter are bad frames like others.
python3 - <<'END'
with open("dense.xyz", "w") as file:
    for edge, n in ((4, 1), (0.025, 1), (0.09, 27), (5, 1)):
        file.write(f"{n}\nLattice=\"{edge} 0 0 0 {edge} 0 0 0 {edge}\"\n")
        for i in range(n):
            file.write(f"O {i % 3 * 0.03} {i // 3 % 3 * 0.03} {i // 9 * 0.03}\n")
END
fails 3 "dense.xyz: frame 2: the box is 0.025 A wide, much less than the cutoff" \
  infer energy -q -t 1 --device cpu --model "$crystals" dense.xyz -o dense.tsv
run infer energy --device cpu --model "$crystals" --skip-bad dense.xyz -o dense.tsv
check "left out" bash -c '[ "$(cut -f 1 dense.tsv | tail -n +2 | tr "\n" " ")" = "1 4 " ]'
check "and told" err_has "skipped: dense.xyz: frame 3: more than [0-9]* neighbours an atom within the cutoff"
run infer relax -q --device cpu --model "$crystals" --skip-bad --steps 1 dense.xyz -o dense.extxyz
check "by relax too" bash -c '[ "$(grep -c "step=0" dense.extxyz)" -eq 2 ]'
# --max-memory bounds a pass: smaller ones give the same, and a frame that does not fit is named.
energy --max-memory 20M molecules.extxyz --forces -o other.tsv
check "smaller passes" same_files other.tsv table.tsv
fails 137 "molecules.extxyz: frame 1: needs [0-9]* MB of memory at once; --max-memory allows 0" \
  infer energy -q --device cpu --model "$molecules" --max-memory 1K molecules.extxyz
# Results of the input do not stay with new ones.
printf '2\nProperties=species:S:1:pos:R:3 energy=5 free_energy=5.5 note=kept\nSi 0 0 0\nO 1.5 0.5 0\n' >stale.xyz
run infer energy -q --device cpu --model "$crystals" stale.xyz -o stale_out.extxyz
check "no free energy of the input" bash -c 'grep -q note=kept stale_out.extxyz && ! grep -q free_energy stale_out.extxyz'
cp m.xyz M.XYZ
energy M.XYZ
check "suffixes in capitals" same_files out.txt m.tsv

# --skip-bad leaves out what is malformed or does not fit, with a line for each; indexes stay those of the input.
{ printf '1\n\nU 0 0 0\n2\n\nC 0 0 0\nQq 1 0 0\n' && cat no_charge.xyz && printf '2\n\nC 0 0 0\nH 0 0 0\n' &&
  cat m.xyz && printf '3\n\nC 0 0 0\n'; } >mixed.xyz
fails 3 "mixed.xyz: skipped: 4 frames that are bad; the output has the others" \
  infer energy -q --device cpu --model "$molecules" --charge 1 --skip-bad --json skip.json mixed.xyz -o skipped.tsv
check "the good frames are there" bash -c '[ "$(cut -f 1 skipped.tsv | tail -n +2 | tr "\n" " ")" = "3 5 " ]'
check "with the energies that they have alone" cmp <(tail -n +2 skipped.tsv | cut -f 3 | sort -u) <(tail -1 m.tsv | cut -f 3)
check "a line for each" bash -c '[ "$(grep -c "warning: skipped: mixed.xyz: frame" err.txt)" -eq 4 ]'
check "that says why" err_has "skipped: mixed.xyz: frame 2 (line 7): 'Qq' is no element"
check "counted in the summary" grep -q '"frames": 4' skip.json
for i in 1 2 3; do energy --charge 1 --skip-bad --shard $i/3 mixed.xyz -o part$i.tsv; done
run gather part1.tsv part2.tsv part3.tsv -o gathered.tsv
check "shards of it joined" same_files gathered.tsv skipped.tsv
{ cat m.sdf && sed 's/ C  / Qq /' m.sdf && cat m.sdf; } >three.sdf
fails 3 "three.sdf: skipped: 1 frame that is bad" infer energy -q --device cpu --model "$molecules" --skip-bad three.sdf -o skipped.tsv
check "SDF goes on behind a bad record" bash -c '[ "$(cut -f 1 skipped.tsv | tail -n +2 | tr "\n" " ")" = "1 3 " ]'
{ cat m.xyz && printf 'two\n' && cat m.xyz; } >lost.xyz
fails 3 "lost.xyz: frame 2 (line 5): 'two' is no number of atoms" infer energy -q --device cpu --model "$molecules" --skip-bad lost.xyz -o lost.tsv
check "no output where the next frame cannot be found" absent lost.tsv
# A file that ends early is an error of the file, not a bad frame.
for format in xyz sdf; do
  for _ in $(seq 300); do cat m.$format; done | gzip -c >long.$format.gz
  head -c $(($(stat -c %s long.$format.gz) - 20)) long.$format.gz >cut.$format.gz
  fails 3 "cut.$format.gz: " infer energy -q --device cpu --model "$molecules" --skip-bad cut.$format.gz -o cut.tsv
  check "a cut gzip file is no bad frame" bash -c '! grep -q skipped err.txt'
  check "and gives no output" absent cut.tsv
done
# Resuming passes over the frames that were done, not over those that were left out.
{ cat mixed.xyz mixed.xyz | sed 's/^3$/1/' && printf 'x\n'; } >resume.xyz
cp -p resume.xyz original.xyz
energy --charge 1 --skip-bad --resume --batch 1 resume.xyz -o resumed.tsv
check "stops where a frame has no end" rc_is 3
check "keeps what was done" exists resumed.tsv.partial
sed -i 's/^x$/ /' resume.xyz
touch -r original.xyz resume.xyz
energy --charge 1 --skip-bad --resume --batch 1 resume.xyz -o resumed.tsv
energy --charge 1 --skip-bad resume.xyz -o whole.tsv
check "and goes on to the same" same_files resumed.tsv whole.tsv
charges=$source_dir/tests/data/models/tensornet/charges
works infer energy -q --device cpu --model "$charges" --charge 0 no_charge.xyz
mv out.txt zero.tsv
for _ in 1 2 3; do cat no_charge.xyz; done >three.xyz
run infer energy --device cpu --batch 2 --model "$charges" three.xyz
check "where nothing tells it the charge is 0" rc_is 0
check "as with --charge 0" cmp <(cut -f 3 out.txt | sort -u) <(cut -f 3 zero.tsv | sort -u)
check "with one warning a run" bash -c '[ "$(grep -c "warning: three.xyz: frame 1: tells no charge; it is taken as 0" err.txt)" -eq 1 ] && [ "$(grep -c warning: err.txt)" -eq 1 ]'
printf '1\ncharge=-1\nSi 0 0 0\n' >charged.xyz
run infer energy --device cpu --model "$crystals" charged.xyz
check "a charge that the model does not use gets a warning" \
  err_has "warning: charged.xyz: frame 1: has a charge of -1; the model does not use charges"
# Partial charges of atoms: a column, which comes out again.
coulomb=$source_dir/tests/data/models/tensornet/coulomb
frames write "$coulomb" partial.extxyz || exit 1
run infer energy -q --device cpu --model "$coulomb" --units kcal/mol --forces --precision fp64 partial.extxyz -o out.extxyz
check "equal to torchmd-net with its prior Coulomb" frames compare "$coulomb" out.extxyz 1e-6 1e-5
check "charges come out again" grep -q "forces:R:3:partial_charges:R:1" out.extxyz
run infer energy -q --device cpu --model "$coulomb" --units kcal/mol --forces --precision fp64 out.extxyz -o again.extxyz
check "and are read from there" same_files again.extxyz out.extxyz
fails 3 "no_charge.xyz: frame 1: the model needs partial charges" infer energy -q --device cpu --model "$coulomb" no_charge.xyz
printf '1\nProperties=species:S:1:pos:R:3:partial_charges:R:1\nC 0 0 0 nan\n' >bad.xyz
bad "bad.xyz: frame 1 (line 3): partial charge 'nan' is no number"
fails 3 "no format by its suffix" infer energy -q --device cpu --model "$molecules" "$molecules/config.json"
fails 2 "has no 'energy'; it offers" infer energy -q --device cpu --model "$source_dir/tests/data/models/enformer_tiny" m.xyz
fails 2 "--output: 'out.npy'; expected a name that ends in .tsv" infer energy -q --device cpu --model "$molecules" m.xyz -o out.npy
fails 2 "takes the place of\|is also\|the same file" infer energy -q --device cpu --model "$molecules" m.xyz -o m.xyz
finish
