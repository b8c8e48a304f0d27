#!/usr/bin/env bash
# scripts/convert/dualbind.py on checkpoints as Lightning writes them, with objects of a library that is not here, and on
# what it must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "SKIPPED: no torch here; scripts/convert/requirements.txt has what is needed, or name a python with it in BIOGPU_TORCH_PYTHON"
  exit 77
fi

folder=$source_dir/tests/data/models/dualbind
"$python" - "$folder" <<'END' || exit 1
import os, sys, types
import torch
from safetensors.torch import load_file

library = types.ModuleType("omegaconf_like")  # classes that a reader does not have
sys.modules["omegaconf_like"] = library


class Node:
    def __init__(self, value):
        self._val, self._parent = value, None


class Config(dict):
    def __init__(self, content):
        super().__init__()
        self._content = {key: Config(x) if isinstance(x, dict) else Node(x) for key, x in content.items()}
        for node in self._content.values():
            node._parent = self  # as there: a circle


class Program:
    def __reduce__(self):
        return os.system, ("touch was_run",)


for one in (Node, Config):
    one.__module__ = "omegaconf_like"
    setattr(library, one.__name__, one)
weights = dict(load_file(sys.argv[1] + "/model.safetensors"))
trained = {"model." + name: x for name, x in weights.items()} | {"mtl_loss.log_sigma": torch.zeros(2)}
config = Config({"model": {"num_heads": 2, "threshold": 10.0, "mpn_depth": 3, "patch_size": 12}, "train": {"lr": 3e-4}})
torch.save({"state_dict": trained, "hyper_parameters": config, "callbacks": [Program()], "epoch": 3}, "lightning.ckpt")
torch.save({"state_dict": weights, "hyper_parameters": {"num_heads": 2}}, "plain.ckpt")
twice = Config({"a": {"num_heads": 2}, "b": {"num_heads": 4}})
torch.save({"state_dict": weights, "hyper_parameters": twice}, "twice.ckpt")
torch.save({"state_dict": {**weights, "extra.weight": torch.zeros(1)}}, "extra.ckpt")
torch.save({"state_dict": {"mpn.W_i.weight": torch.zeros(3, 3)}}, "other.ckpt")
torch.save(weights, "weights.pt")
wide = {**weights, "encoder.W_tgt.weight": torch.zeros(32, 20)}
torch.save({"state_dict": wide}, "wide.ckpt")
END

# convert RC ARGUMENTS...
convert() {
  last_command="dualbind.py ${*:2}"
  "$python" "$source_dir/scripts/convert/dualbind.py" "${@:2}" >out.txt 2>err.txt
  rc=$?
  check "exit code $1 of ${*:2}" rc_is "$1"
}
# shellcheck disable=SC2317  # called by check
same_config() { "$python" -c 'import json, sys; a, b = (json.load(open(x)) for x in sys.argv[1:]); sys.exit(a != b)' "$@"; }

convert 0 lightning.ckpt new
check "the licence" err_has "research and evaluation only"
check "the same weights" same_files new/model.safetensors "$folder/model.safetensors"
check "the same config" same_config new/config.json "$folder/config.json"
check "nothing was run" absent was_run
check "nothing is left" test "$(cd new && echo *)" = 'config.json model.safetensors'
convert 0 plain.ckpt options --cutoff 8 --pocket-size 12 --mpn-depth 2
check "options" grep -q '"cutoff": 8.0' options/config.json
check "depth" grep -q '"mpn_depth": 2' options/config.json
run infer info new
check "a folder of the program" out_has "architecture	DualBind"

convert 1 plain.ckpt none --num-heads 4
check "an option that contradicts" err_has "its hyperparameters have num_heads 2, --num-heads is 4"
convert 1 twice.ckpt none
check "two values" err_has "have num_heads as 2 and 4; expected one value"
convert 1 extra.ckpt none
check "an unknown tensor" err_has "has unknown extra.weight"
convert 1 other.ckpt none
check "missing tensors" err_has "lacks binder_output.0.bias"
convert 1 wide.ckpt none --num-heads 2
check "another shape" err_has "encoder.W_tgt.weight is of shape \[32, 20\]; expected \[32, 21\]"
convert 1 weights.pt none
check "no checkpoint" err_has "has no state_dict"
head -c 3000 plain.ckpt >cut.ckpt
convert 1 cut.ckpt none
check "cut short" err_has "cut.ckpt: is damaged"
convert 1 missing.ckpt none
check "no file" err_has "missing.ckpt: "
check "no folder of what was refused" absent none
finish
