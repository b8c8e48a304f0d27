#!/usr/bin/env bash
# scripts/convert/diffusion_transformer.py on checkpoints as Protenix, OpenFold3 and Boltz-2 name them, and on what it must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "SKIPPED: no torch here; scripts/convert/requirements.txt has what is needed, or name a python with it in BIOGPU_TORCH_PYTHON"
  exit 77
fi
tiny=$source_dir/tests/data/models/diffusion_tiny
boltz=$source_dir/tests/data/models/diffusion_boltz
"$python" - "$source_dir/scripts/convert" "$tiny/model.safetensors" "$boltz/model.safetensors" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1])
import safetensors.torch, torch
import diffusion_transformer as script
def renamed(state, table):
    """Names of another program below a block, by block and rest."""
    for name, value in state.items():
        index, rest = name[len(script.PART + ".blocks."):].split(".", 1)
        for old, new in sorted(table.items(), key=lambda pair: -len(pair[1])):
            if rest.startswith(new):
                rest = old + rest[len(new):]
                break
        yield index, rest, value
state, products = (safetensors.torch.load_file(path) for path in sys.argv[2:])
wrapped = {"module." + name: value for name, value in state.items()}
torch.save({"model": {**wrapped, "module.diffusion_module.layernorm_a.weight": torch.zeros(2)}}, "protenix.pt")
older = {f"{script.PART}.blocks.{index}.{rest}": value for index, rest, value in renamed(state, script.OPENFOLD3)}
torch.save(older, "openfold3.pt")
norm = "attention_pair_bias.layer_norm_z.weight"
shared = older[f"{script.PART}.blocks.0.{norm}"]
newer = {name: value for name, value in older.items() if not name.endswith(norm)}
torch.save({**newer, script.PART + ".layer_norm_z.weight": shared}, "newer.pt")
safetensors.torch.save_file({**state, script.PART + ".blocks.1.attention_pair_bias.layernorm_z.weight": shared.clone()},
                            "same_norms.safetensors")
layers = {}
for index, rest, value in renamed(products, script.BOLTZ2):
    name = f"{script.BOLTZ_LAYERS}{index}.{rest}"
    for old, new in (("attention_pair_bias.layernorm_z.", "0."), ("attention_pair_bias.linear_nobias_z.", "1.")):
        if rest.startswith(old):
            name = f"{script.BOLTZ_BIAS}{index}.{new}{rest[len(old):]}"
    layers[name] = value
for index in range(2):
    block = f"{script.BOLTZ_LAYERS}{index}."
    parts = [layers.pop(f"{block}conditioned_transition_block.linear_nobias_a{i}.weight") for i in (3, 1)]
    layers[block + "transition.swish_gate.0.weight"] = torch.cat(parts)
    for what in ("weight", "bias"):
        layers[f"{block}output_projection.0.{what}"] = layers[f"{block}output_projection_linear.{what}"]
torch.save({"state_dict": {**layers, "msa_module.s_proj.weight": torch.zeros(1)}}, "boltz2.ckpt")
torch.save({"state_dict": {**layers, script.BOLTZ_LAYERS + "0.post_lnorm.weight": torch.zeros(1)}}, "post_norm.ckpt")
torch.save({"state_dict": {**layers, script.BOLTZ_LAYERS + "0.output_projection.0.bias": torch.zeros(20)}}, "two.ckpt")
# What safetensors' save_model keeps of a parameter with two names.
kept = {name: value.clone() for name, value in layers.items() if ".output_projection_linear." not in name}
safetensors.torch.save_file(kept, "one_name.safetensors")
gate = script.BOLTZ_LAYERS + "0.transition.swish_gate.0.weight"
torch.save({**layers, script.BOLTZ_LAYERS + "0": torch.zeros(1)}, "no_rest.pt")
torch.save({**layers, script.BOLTZ_BIAS + "0.2.weight": torch.zeros(1)}, "third.pt")
torch.save({**layers, gate: layers[gate][:1]}, "one_row.pt")
torch.save({**layers, gate: torch.tensor(1.0)}, "no_axes.pt")
query = f"{script.PART}.blocks.0.attention_pair_bias.attention.linear_q.weight"
torch.save({**state, query: state[query][:0]}, "no_rows.pt")
PYTHON
# convert RC ARGUMENTS...: leaves what run() leaves.
convert() {
  local code=$1
  shift
  last_command="diffusion_transformer.py $*"
  "$python" "$source_dir/scripts/convert/diffusion_transformer.py" "$@" >out.txt 2>err.txt
  rc=$?
  check "exit code $code of $*" rc_is "$code"
}
# converted_like FOLDER CHECKPOINT
converted_like() {
  convert 0 "$2" other
  python3 "$source_dir/tests/support/write_npz.py" "$1/expected.safetensors" in.npz a=padded/a s=padded/s z=padded/z \
    mask=padded/mask
  works infer trunk -q --device cpu --model "$1" in.npz -o right.npz
  works infer trunk -q --device cpu --model other in.npz -o converted.npz
  check "the same numbers of $2" same_files right.npz converted.npz
  rm -r other
}
converted_like "$tiny" protenix.pt
converted_like "$tiny" openfold3.pt
converted_like "$boltz" boltz2.ckpt
converted_like "$boltz" one_name.safetensors
convert 0 protenix.pt protenix
check "what is left out" out_has "2 blocks, 46 tensors; 1 tensors of other parts are left out"
mkdir same_norms
cp "$tiny/config.json" same_norms
cp same_norms.safetensors same_norms/model.safetensors
cp "$tiny/expected.safetensors" same_norms
converted_like same_norms newer.pt
convert 1 post_norm.ckpt refused
check "a variant" err_has "1 tensors are not read: blocks.0.post_lnorm.weight"
convert 1 two.ckpt refused
check "a parameter under two names" err_has "differ; they are one tensor of the model"
convert 1 no_rest.pt refused
check "a layer's name alone" err_has "1 tensors are not read: blocks.0.$"
convert 1 third.pt refused
check "a third part of the bias" err_has "1 tensors are not read: blocks.0.2.weight$"
convert 1 one_row.pt refused
check "half a gate" err_has "swish_gate.0.weight has the shape \[1, 20\]; expected an even number of rows"
convert 1 no_axes.pt refused
check "a gate that is a number" err_has "swish_gate.0.weight has the shape \[\]; expected an even number of rows"
convert 1 no_rows.pt refused
check "no heads" err_has "linear_q.weight has the shape \[0, 21\]; expected numbers"
convert 1 "$source_dir/tests/data/models/pairformer_tiny/model.safetensors" refused
check "no transformer" err_has "has no diffusion_module.diffusion_transformer, nor structure_module.score_model.token_transformer.layers"
check "no folder" absent refused
finish
