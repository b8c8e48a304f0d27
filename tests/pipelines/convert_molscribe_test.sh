#!/usr/bin/env bash
# scripts/convert/molscribe.py on a checkpoint as the original's training program writes it, and on what it must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "SKIPPED: no torch here; scripts/convert/requirements.txt has what is needed, or name a python with it in BIOGPU_TORCH_PYTHON"
  exit 77
fi

model=$source_dir/tests/data/models/molscribe_tiny
"$python" - "$model" <<'END' || exit 1
import json
import sys
import safetensors.torch
import torch
folder = sys.argv[1]
tensors = safetensors.torch.load_file(folder + "/model.safetensors")
config = json.load(open(folder + "/config.json"))
args = {key: config[key] for key in ("encoder", "decoder", "input_size", "coord_bins", "sep_xy", "continuous_coords",
                                      "dec_num_layers", "dec_hidden_size", "dec_attn_heads")}
args.update(formats="chartok_coords,edges", epochs=30, vocab_file="somewhere/vocab_chars.json")
def states(prefix):
    return {"module." + name[len(prefix):]: x for name, x in tensors.items() if name.startswith(prefix)}
whole = {"encoder": states("encoder."), "decoder": states("decoder."), "args": args, "global_step": 7,
         "encoder_optimizer": {"state": {0: torch.zeros(3)}}, "decoder_optimizer": {}, "encoder_scheduler": {}, "decoder_scheduler": {}}
whole["encoder"]["module.transformer.layers.0.blocks.1.attn_mask"] = torch.zeros(4)
whole["encoder"]["module.transformer.layers.0.blocks.0.attn.relative_position_index"] = torch.zeros(81, dtype=torch.long)
whole["decoder"]["module.decoder.chartok_coords.embeddings.make_embedding.pe.pe"] = torch.zeros(5000, 1, 32)
torch.save(whole, "whole.pth")
torch.save({**whole, "args": {**args, "formats": "atomtok"}}, "formats.pth")
torch.save({**whole, "others": 1}, "others.pth")
torch.save({**whole, "encoder": {**whole["encoder"], "transformer.absolute_pos_embed": torch.zeros(3)}}, "unread.pth")
torch.save({key: value for key, value in whole.items() if key != "decoder"}, "half.pth")
END
convert() { # RC ARGUMENTS...
  last_command="molscribe.py ${*:2}"
  "$python" "$source_dir/scripts/convert/molscribe.py" "${@:2}" >out.txt 2>err.txt
  rc=$?
  check "exit code $1 of ${*:2}" rc_is "$1"
}
convert 0 whole.pth folder
check "three files" test "$(cd folder && echo *)" = 'config.json model.safetensors vocab_chars.json'
check "the same tensors, arguments and characters" "$python" - "$model" <<'END'
import json
import sys
import safetensors.torch
import torch
old, new = (safetensors.torch.load_file(folder + "/model.safetensors") for folder in (sys.argv[1], "folder"))
assert set(old) == set(new)
assert all(torch.equal(old[name].float(), new[name]) for name in old)
config = json.load(open("folder/config.json"))
assert config["model_type"] == "molscribe" and config["formats"] == ["chartok_coords", "edges"]
assert config["vocab_file"] == "vocab_chars.json" and config["coord_bins"] == 8 and "epochs" not in config
assert json.load(open("folder/vocab_chars.json")) == json.load(open(sys.argv[1] + "/vocab_chars.json"))
END
# Where one file cannot be written, the folder is what it was.
cp -r folder kept && echo '{"C": 5}' >kept/vocab_chars.json && mkdir kept/vocab_chars.json.partial && cp -r kept before
convert 1 whole.pth kept
check "why" err_has 'molscribe.py: kept: '
check "no other file is replaced" diff -r kept before
for name in formats others unread half; do
  convert 1 $name.pth no
  check "one line of $name" n_lines_is err.txt 1
  check "no folder of $name" absent no/config.json
done
convert 1 "$model/picture0.png" no
convert 1 missing.pth no
finish
