#!/usr/bin/env bash
# scripts/convert/torchmdnet.py and matgl.py on checkpoints as the two write them, and on what they must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "SKIPPED: no torch here; scripts/convert/requirements.txt has what is needed, or name a python with it in BIOGPU_TORCH_PYTHON"
  exit 77
fi

# The same energies and forces as of the folders that the checkpoints were made of.
potentials=$source_dir/tests/data/models/tensornet
mkdir potentials && "$python" "$source_dir/tests/support/potential_checkpoints.py" "$potentials" potentials || exit 1
# potential_py RC NAME.py ARGUMENTS...
potential_py() {
  local code=$1
  last_command="${*:2}"
  "$python" "$source_dir/scripts/convert/$2" "${@:3}" >out.txt 2>err.txt
  rc=$?
  check "exit code $code of ${*:2}" rc_is "$code"
}
# same_potential NAME CONVERTER INPUT CONVERTER_OPTION...
same_potential() {
  local name=$1
  python3 "$source_dir/tests/support/potential_frames.py" write "$potentials/$name" frames.extxyz
  works infer energy -q --device cpu --forces --model "$potentials/$name" frames.extxyz -o as_it_is.extxyz
  check "frames of $name" test "$(grep -c ' energy=' as_it_is.extxyz)" -ge 3
  potential_py 0 "$2" "$3" "new_$name" "${@:4}"
  works infer energy -q --device cpu --forces --model "new_$name" frames.extxyz -o converted.extxyz
  check "the same energies and forces of $name" same_files as_it_is.extxyz converted.extxyz
  check "nothing is left of $name" test "$(cd "new_$name" && echo *)" = 'config.json model.safetensors'
}
for name in o3 so3_old_rows charges zbl mish_mean no_layers box_vecs; do
  same_potential "$name" torchmdnet.py "potentials/$name.ckpt" --energy-unit kcal/mol
done
same_potential matgl matgl.py potentials/matgl
same_potential matgl_dgl matgl.py potentials/matgl_dgl
check "layers for PyG" grep -q '"backend": "PYG"' new_matgl/config.json
check "layers for DGL" grep -q '"backend": "DGL"' new_matgl_dgl/config.json
# The unit is a checkpoint's only if it is said.
potential_py 0 torchmdnet.py potentials/o3.ckpt in_ev
check "eV otherwise" grep -q '"energy_unit": "eV"' in_ev/config.json

# potential_refused PATTERN NAME.py INPUT: one line on stderr, no folder, and no code was run.
potential_refused() {
  potential_py 1 "$2" "$3" refused
  check "one line" n_lines_is err.txt 1
  check "the file's name" err_has "^$2: $3"
  check "the error says '$1'" err_has "$1"
  check "no folder" absent refused
  check "nothing was run" absent potentials/ran
}
for name in parameter tensor optimizer old plain; do
  potential_refused 'contains objects other than tensors and plain values, which are not loaded, or is damaged' torchmdnet.py "potentials/bad_$name.ckpt"
done
potential_refused 'is a tar file' torchmdnet.py potentials/bad_tar.ckpt
potential_refused "holds the model 'equivariant-transformer'; known are" torchmdnet.py potentials/bad_model.ckpt
# What the program would refuse is refused by name.
potential_refused "activation is 'relu'; known are 'silu'" torchmdnet.py potentials/bad_activation.ckpt
potential_refused "reduce_op is 'max'; known are 'add'" torchmdnet.py potentials/bad_reduce_op.ckpt
potential_refused "output_model is 'DipoleMoment'; known are 'Scalar'" torchmdnet.py potentials/bad_output_model.ckpt
potential_refused "atom_filter is 0; known are -1" torchmdnet.py potentials/bad_atom_filter.ckpt
potential_refused "prior_model has 'Morse'; known are 'Atomref'" torchmdnet.py potentials/bad_prior_model.ckpt
potential_refused 'prior_args has 2 objects for 1 of prior_model' torchmdnet.py potentials/bad_prior_args.ckpt
potential_refused 'has no hyper_parameters or no state_dict' torchmdnet.py potentials/bad_state.ckpt
potential_refused 'holds no checkpoint of torchmd-net' torchmdnet.py potentials/bad_list.ckpt
for name in cut short; do
  potential_refused 'is damaged, or no checkpoint of torch' torchmdnet.py "potentials/bad_$name.ckpt"
done
potential_refused 'No such file' torchmdnet.py nothing.ckpt
for name in code extra; do
  potential_refused 'state.pt: contains objects other than tensors, which are not loaded, or is damaged' matgl.py "potentials/bad_$name"
done
potential_refused 'state.pt: is damaged, or no checkpoint of torch' matgl.py potentials/bad_half
potential_refused 'state.pt: data_std has 2 values; expected 1' matgl.py potentials/bad_scale
potential_refused "state.pt: is of matgl's layers for DGL, but model.json names those for PyG" matgl.py potentials/bad_dgl
potential_refused 'model.json: is no JSON' matgl.py potentials/bad_json
potential_refused 'model.json: adds a repulsion of nuclei' matgl.py potentials/bad_repulsion
potential_refused 'model.json: No such file' matgl.py nothing
# Where the folder cannot be made, one line too.
echo text >taken
for one in "torchmdnet.py potentials/o3.ckpt" "matgl.py potentials/matgl"; do
  read -r converter input <<<"$one"
  potential_py 1 "$converter" "$input" taken
  check "one line" n_lines_is err.txt 1
  check "the error names the folder" err_has "$converter: taken: File exists"
done

finish
