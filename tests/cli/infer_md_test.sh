#!/usr/bin/env bash
# `biogpu infer md`: energy conservation, restarting and resuming with the same bytes.
# shellcheck disable=SC2016  # awk and inner shells expand their own
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

molecules=$source_dir/tests/data/models/tensornet/o3
frames() { python3 "$source_dir/tests/support/potential_frames.py" "$@"; }
frames write "$molecules" two.extxyz 1 0 || exit 1
frames write "$molecules" one.extxyz 1 || exit 1

# Constant energy.
md() { run infer md -q --device cpu --model "$molecules" "$@"; }
md --temperature 20 --timestep 0.1 --steps 200 --every 10 one.extxyz -o nve.extxyz --table nve.tsv
check "nve" rc_is 0
check "frames of step 0 to the last" n_lines_is nve.tsv 22
check "energy is conserved" python3 -c "
rows = [line.split('\t') for line in open('nve.tsv')][1:]
total, kinetic = [float(r[5]) for r in rows], [float(r[4]) for r in rows]
assert max(kinetic) - min(kinetic) > 10 * (max(total) - min(total)) > 0, (total, kinetic)"
run infer md --device cpu --model "$molecules" --temperature 20 --timestep 0.1 --steps 200 --every 10 one.extxyz -o nve.extxyz \
  --json nve.json
check "temperature and drift at the end" err_has \
  '1 trajectory to step 200; mean temperature [0-9.]* K after the first tenth; drift of the total energy -\?[0-9.e-]* eV per atom, -\?[0-9.e+-]* per atom and ns$'
check "those of the table, and in the summary" python3 - <<'END'
import json
rows = [line.rstrip("\n").split("\t") for line in open("nve.tsv")][1:]
n_atoms = int(open("nve.extxyz").readline())
temperatures = [float(r[6]) for r in rows if int(r[1]) >= 20]
times, totals = [float(r[2]) for r in rows], [float(r[5]) for r in rows]
time, total = sum(times) / len(times), sum(totals) / len(totals)
slope = sum((t - time) * (e - total) for t, e in zip(times, totals)) / sum((t - time) ** 2 for t in times) / n_atoms
result = json.load(open("nve.json"))["result"]
assert (result["trajectories"], result["last_step"]) == (1, 200), result
assert abs(result["mean_temperature_K"] - sum(temperatures) / len(temperatures)) < 1e-6, result
assert abs(result["drift_per_atom"] - slope * times[-1]) < 1e-12, (result, slope)
assert abs(result["drift_per_atom_and_ns"] - slope * 1e6) < 1e-6, (result, slope)
END
check "units in frames" grep -q "energy_unit=eV force_unit=eV/A velocity_unit=A/fs" nve.extxyz
md --temperature 20 --timestep 0.1 --steps 95 --every 10 one.extxyz
check "the last step is written, too" out_has " step=95 "

# Langevin dynamics: seeds, threads, restart from any frame.
nvt() { md --ensemble nvt --temperature 300 --timestep 0.2 --skin 0.1 "$@"; }
nvt --steps 60 --every 10 two.extxyz -o whole.extxyz --table whole.tsv
check "nvt" rc_is 0
run infer md --device cpu --model "$molecules" --ensemble nvt --temperature 300 --timestep 0.2 --steps 60 two.extxyz -o other.extxyz
check "no drift of a bath" err_has '2 trajectories to step 60; mean temperature [0-9.]* K after the first tenth$'
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

# Velocities of other programs: momenta and masses of ASE, velo of extxyz.
python3 - <<'END'
mass, velocity = {"C": 12.011, "O": 15.999}, {"C": (0.001, -0.002, 0.003), "O": (0.0, 0.0015, -0.001)}
ase = 10.180505710759  # fs
def write(name, columns, values):
    with open(name, "w") as file:
        file.write(f"2\nProperties=species:S:1:pos:R:3{columns} charge=0\n")
        for s, x in (("C", 0.0), ("O", 1.2)):
            file.write(f"{s} {x} 0 0 {' '.join(repr(v) for v in values(s))}\n")
write("velocities.xyz", ":velocities:R:3", lambda s: velocity[s])
write("velo.xyz", ":velo:R:3", lambda s: velocity[s])
write("momenta.xyz", ":momenta:R:3", lambda s: [v * mass[s] * ase for v in velocity[s]])
write("masses.xyz", ":masses:R:1:momenta:R:3", lambda s: [2 * mass[s]] + [v * mass[s] * ase for v in velocity[s]])
END
for name in velocities velo momenta masses; do
  md --steps 4 --every 2 $name.xyz -o out.extxyz --table $name.tsv
  check "$name" rc_is 0
done
check "masses come out again" grep -q "velocities:R:3:masses:R:1:forces" out.extxyz
check "velo" same_files velo.tsv velocities.tsv
check "momenta and masses" python3 - <<'END'
def kinetic(name): return [float(line.split("\t")[4]) for line in open(name + ".tsv").readlines()[1:]]
a, b, c = kinetic("velocities"), kinetic("momenta"), kinetic("masses")
assert a[0] > 1e-4 and all(abs(x - y) < 1e-7 for x, y in zip(a, b)), (a, b)
assert abs(c[0] - a[0] / 2) < 1e-7 and abs(c[2] - b[2]) > 1e-7, (a, c)
END
sed 's/momenta:R:3/momenta:R:2:x:R:1/' momenta.xyz >columns.xyz
fails 3 "columns.xyz: frame 1 (line 2): Properties has momenta:R:2; expected momenta:R:3" infer md -q --device cpu --model "$molecules" columns.xyz

# An empty input.
: >empty.xyz
works infer md -q --device cpu --model "$molecules" empty.xyz -o empty.extxyz --table empty.tsv
check "no frames" n_lines_is empty.extxyz 0
check "and the header of the table" n_lines_is empty.tsv 1
check "and a warning" err_has "warning: the input has no frames; the output has no results"

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
check "with the totals of the whole run" err_has '2 trajectories to step 400; mean temperature'
check "with frames that were there" err_has "record.* there already"
check "to the same trajectory" same_files resumed.extxyz whole.extxyz
check "and the same table" same_files resumed.tsv whole.tsv
finish
