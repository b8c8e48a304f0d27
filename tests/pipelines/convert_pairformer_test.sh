#!/usr/bin/env bash
# scripts/convert/pairformer.py on checkpoints as Protenix writes them, and on what it must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "SKIPPED: no torch here; scripts/convert/requirements.txt has what is needed, or name a python with it in BIOGPU_TORCH_PYTHON"
  exit 77
fi
tiny=$source_dir/tests/data/models/pairformer_tiny
msa=$source_dir/tests/data/models/pairformer_msa
boltz=$source_dir/tests/data/models/pairformer_boltz
evoformer=$source_dir/tests/data/models/pairformer_evoformer
openfold3=$source_dir/tests/data/models/pairformer_openfold3
"$python" - "$tiny/model.safetensors" <<'PYTHON'
import sys
import safetensors.torch, torch
state = safetensors.torch.load_file(sys.argv[1])
wrapped = {"module." + name: value for name, value in state.items()}
wrapped["module.distogram_head.linear.weight"] = torch.zeros(2, 2)
torch.save({"model": wrapped, "step": 3}, "whole.pt")
pairs = {name.replace("pairformer_stack.", "template_embedder.pairformer_stack."): value for name, value in state.items()
         if ".single_transition." not in name and ".attention_pair_bias." not in name}
torch.save({"model": {**wrapped, **pairs}}, "parts.pt")
torch.save({"model": {**wrapped, "module.pairformer_stack.blocks.0.adapter.weight": torch.zeros(2)}}, "adapter.pt")
torch.save([1, 2], "list.pt")
heads = "pairformer_stack.blocks.0.tri_att_start.linear.weight"
torch.save({**state, heads: state[heads][:0]}, "no_heads.pt")
PYTHON
# The same stack under the names of OpenFold3 and Boltz-2.
"$python" - "$source_dir/scripts/convert" "$tiny/model.safetensors" "$msa/model.safetensors" "$boltz/model.safetensors" \
  "$evoformer/model.safetensors" "$openfold3/model.safetensors" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import safetensors.torch, torch
import pairformer
state = safetensors.torch.load_file(sys.argv[2])
def renamed(state, table, prefix, part="pairformer_stack"):
    result = {}
    for name, value in state.items():
        if not name.startswith(part + "."):
            continue
        _, _, index, rest = name.split(".", 3)
        for old, new in sorted(table.items(), key=lambda pair: -len(pair[1])):
            if rest.startswith(new):
                rest = old + rest[len(new):]
                break
        result[f"{prefix}.{index}.{rest}"] = value
    return result
def both_sides(state, names, what="weight"):
    for name in sorted({name[:name.index("linear_a_p")] for name in state if f"linear_a_p.{what}" in name}):
        for part, joined in zip("pg", names):
            state[f"{name}{joined}.{what}"] = torch.cat([state.pop(f"{name}linear_{half}_{part}.{what}") for half in "ab"])
    return state
torch.save(renamed(state, pairformer.OPENFOLD3, "pairformer_stack.blocks"), "openfold3.pt")
boltz = both_sides(renamed(state, pairformer.BOLTZ2, "pairformer_module.layers"), ("p_in", "g_in"))
torch.save({"state_dict": {**boltz, "msa_module.s_proj.weight": torch.zeros(1)}}, "boltz2.ckpt")
joined = "pairformer_module.layers.0.tri_mul_out.p_in.weight"
torch.save({**boltz, joined: boltz[joined][:-1]}, "odd.pt")
torch.save({**boltz, joined: torch.tensor(1.0)}, "no_axes.pt")
msa, rows_first, pairs, newer = (safetensors.torch.load_file(path) for path in sys.argv[3:])
torch.save({**renamed(msa, pairformer.OPENFOLD3, "pairformer_stack.blocks"),
            **renamed(msa, pairformer.OPENFOLD3_MSA, "msa_module.blocks", "msa_module"),
            "diffusion_module.diffusion_transformer.blocks.0.attention_pair_bias.layer_norm_z.weight": torch.ones(2)},
           "openfold3_msa.pt")
torch.save({**renamed(newer, pairformer.OPENFOLD3, "pairformer_stack.blocks"),
            "diffusion_module.diffusion_transformer.layer_norm_z.weight": torch.ones(2)}, "openfold3_newer.pt")
torch.save({**renamed(rows_first, pairformer.BOLTZ2, "pairformer_module.layers"),
            **both_sides(renamed(rows_first, pairformer.BOLTZ2_MSA, "msa_module.layers", "msa_module"), ("p_in", "g_in"))},
           "boltz2_msa.pt")
# openfold: with names of older and newer files, and joined maps of its multimer form.
for prefix, file in (("core.", "evoformer.pt"), ("pair_stack.", "multimer.pt")):
    named = {name.replace("pairformer_stack.blocks", "evoformer.blocks").replace(".tri_", f".{prefix}tri_")
             .replace(".pair_t", f".{prefix}pair_t"): value for name, value in pairs.items()}
    if file == "multimer.pt":
        named = both_sides(both_sides(named, ("linear_ab_p", "linear_ab_g")), ("linear_ab_p", "linear_ab_g"), "bias")
    more = ["evoformer.linear.weight", "evoformer.blocks.0.msa_att_row.linear_z.weight",
            "evoformer.blocks.1.core.msa_transition.linear_1.weight", "evoformer.blocks.1.outer_product_mean.linear_1.bias"]
    torch.save({**named, **{name: torch.zeros(2) for name in more}}, file)
    torch.save({name.replace("evoformer.", "template_embedder.template_pair_stack."): value for name, value in named.items()},
               "templates.pt")
torch.save({**named, "evoformer.blocks.0.pair_stack.adapter.weight": torch.zeros(2)}, "evoformer_adapter.pt")
torch.save({"state_dict": {**boltz, "pairformer_module.layers.0.s_post_norm.weight": torch.zeros(1)}}, "post_norm.ckpt")
PYTHON
# convert RC ARGUMENTS...: leaves what run() leaves.
convert() {
  local code=$1
  shift
  last_command="pairformer.py $*"
  "$python" "$source_dir/scripts/convert/pairformer.py" "$@" >out.txt 2>err.txt
  rc=$?
  check "exit code $code of $*" rc_is "$code"
}
python3 "$source_dir/tests/support/write_npz.py" "$tiny/expected.safetensors" in.npz z=full/z s=full/s
works infer trunk -q --device cpu --model "$tiny" in.npz -o right.npz
convert 0 whole.pt whole
check "what is left out" out_has "2 blocks, 114 tensors; 1 tensors of other parts are left out"
works infer trunk -q --device cpu --model whole in.npz -o converted.npz
check "the same numbers" same_files right.npz converted.npz
convert 0 "$tiny/model.safetensors" again
check "the same config.json" same_files whole/config.json again/config.json
for name in openfold3.pt boltz2.ckpt; do
  options=()
  [ "$name" = boltz2.ckpt ] || options=(--openfold3 0.4)
  convert 0 "$name" other "${options[@]}"
  works infer trunk -q --device cpu --model other in.npz -o converted.npz
  check "the same numbers of $name" same_files right.npz converted.npz
  rm -r other
done
convert 1 post_norm.ckpt refused
check "a variant" err_has "1 tensors are not read: blocks.0.s_post_norm.weight"
convert 0 parts.pt pairs --part template_embedder.pairformer_stack
python3 "$source_dir/tests/support/write_npz.py" "$tiny/expected.safetensors" pairs.npz z=full/z
works infer trunk -q --device cpu --model pairs pairs.npz -o pairs_out.npz
works infer info pairs
check "pairs alone" out_has "^single_width	0$"
# The MSA module, of two blocks and of the last one alone, as Protenix-mini has it.
"$python" - "$msa/model.safetensors" <<'PYTHON'
import sys
import safetensors.torch, torch
state = {**safetensors.torch.load_file(sys.argv[1]), "msa_module.linear_m.weight": torch.zeros(2, 2)}
torch.save({"model": state}, "msa.pt")
last = {name.replace("msa_module.blocks.1.", "msa_module.blocks.0."): value for name, value in state.items()
        if not name.startswith("msa_module.blocks.0.")}
torch.save({"model": last}, "last.pt")
torch.save({"model": {**state, "msa_module.blocks.0.adapter.weight": torch.zeros(2)}}, "msa_adapter.pt")
PYTHON
python3 "$source_dir/tests/support/write_npz.py" "$msa/expected.safetensors" rows.npz z=full/z s=full/s m=full/m
works infer trunk -q --device cpu --model "$msa" rows.npz -o right.npz
convert 0 msa.pt msa --msa
check "what is left out of it" out_has "; 1 tensors of other parts are left out"
works infer trunk -q --device cpu --model msa rows.npz -o converted.npz
check "the same numbers with an alignment" same_files right.npz converted.npz
convert 0 last.pt last --msa
works infer trunk -q --device cpu --model last rows.npz -o converted.npz
works infer info last
check "one block" out_has "^msa_blocks	1$"
convert 0 msa.pt without
check "without the module" out_has "; [0-9]* tensors of other parts are left out"
works infer info without
check "has none" out_has "^msa_blocks	0$"
# Other programs' MSA modules and openfold's blocks of pairs give what the folder with the same tensors gives.
# converted_like FOLDER CHECKPOINT "ARRAYS" OPTIONS...
converted_like() {
  local folder=$1 file=$2 arrays=() name
  for name in $3; do arrays+=("$name=padded/$name"); done
  shift 3
  convert 0 "$file" other "$@"
  python3 "$source_dir/tests/support/write_npz.py" "$folder/expected.safetensors" like.npz "${arrays[@]}"
  works infer trunk -q --device cpu --model "$folder" like.npz -o right.npz
  works infer trunk -q --device cpu --model other like.npz -o converted.npz
  check "the same numbers of $file" same_files right.npz converted.npz
  rm -rf other
}
converted_like "$msa" openfold3_msa.pt "z s m mask msa_mask" --msa
converted_like "$openfold3" openfold3_newer.pt "z s mask"
convert 1 openfold3_newer.pt refused --openfold3 0.4
check "another release" err_has "is of OpenFold3 0.5; --openfold3 is 0.4"
convert 1 openfold3.pt refused
check "no release" err_has "which tells the release; give --openfold3"
convert 1 whole.pt refused --openfold3 0.5
check "a release of another program" err_has "has no blocks of OpenFold3"
converted_like "$boltz" boltz2_msa.pt "z s m mask msa_mask" --msa
converted_like "$evoformer" evoformer.pt "z mask" --part evoformer
convert 0 evoformer.pt evoformer --part evoformer
check "what of openfold is left out" out_has "2 blocks, 116 tensors; 4 tensors of other parts are left out"
converted_like "$evoformer" multimer.pt "z mask" --part evoformer
convert 1 templates.pt refused --part template_embedder.template_pair_stack
check "templates of openfold" err_has "blocks of openfold's templates compute in another order"
convert 1 evoformer_adapter.pt refused --part evoformer
check "an unknown tensor of openfold" err_has "evoformer: 1 tensors are not read: blocks.0.adapter.weight"
convert 1 evoformer.pt refused
check "openfold's part" err_has "has no part pairformer_stack; there are evoformer$"
convert 1 whole.pt refused --msa
check "no module" err_has "has no msa_module.blocks, which --msa asks for"
convert 1 msa_adapter.pt refused --msa
check "an unknown tensor of the module" err_has "msa_module: 1 tensors are not read: blocks.0.adapter.weight"
convert 1 whole.pt refused --part msa_module
check "the parts that there are" err_has "has no part msa_module; there are pairformer_stack$"
convert 1 adapter.pt refused
check "an unknown tensor" err_has "1 tensors are not read: blocks.0.adapter.weight"
convert 1 no_heads.pt refused
check "no heads" err_has "blocks.0.tri_att_start.linear.weight has the shape \[0, 20\]; expected numbers"
convert 1 odd.pt refused
check "a side with a row more" err_has "layers.0.tri_mul_out.p_in.weight has the shape \[.*\]; expected an even number of rows"
convert 1 no_axes.pt refused
check "maps that are a number" err_has "layers.0.tri_mul_out.p_in.weight has the shape \[\]; expected an even number of rows"
convert 1 list.pt refused
check "no tensors" err_has "holds no tensors by name"
check "no folder" absent refused
finish
