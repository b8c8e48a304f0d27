#!/usr/bin/env bash
# Small models of the tests are what scripts/reference makes; scripts/dev/check_test_models.py sees where they are not.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import numpy, safetensors' 2>/dev/null; then
  echo "SKIPPED: no numpy and safetensors here"
  exit 77
fi
compare() { "$python" "$source_dir/scripts/dev/check_test_models.py" "$@" >out.txt 2>err.txt; rc=$?; last_command="check_test_models.py $*"; }
compare pairformer diffusion
check "models whose scripts need numpy alone" rc_is 0
check "all of them" out_has '^check_test_models: 24 files, 0 differ$'

# Another number in a weight and in a vector, and a file that is missing.
mkdir models
cp -r "$source_dir"/tests/data/models/pairformer_{msa,boltz,tiny} models
"$python" - <<'PY'
import safetensors.numpy
for path, factor in (("pairformer_boltz/model", 1.001), ("pairformer_tiny/expected", 1 + 1e-5), ("pairformer_msa/expected", 1 + 1e-9)):
    tensors = safetensors.numpy.load_file(f"models/{path}.safetensors")
    name = sorted(name for name in tensors if tensors[name].size > 1)[0]
    tensors[name] = (tensors[name] * factor).astype(tensors[name].dtype)
    safetensors.numpy.save_file(tensors, f"models/{path}.safetensors")
PY
rm models/pairformer_boltz/config.json
compare pairformer_msa pairformer_boltz pairformer_tiny --models models
check "differences are found" rc_is 1
check "of weights" out_has '^pairformer_boltz/model.safetensors: other bytes$'
check "of a vector" out_has '^pairformer_tiny/expected.safetensors: .* differs by '
check "a missing file" out_has '^pairformer_boltz/config.json: is not there$'
check "but no rounding" out_has '^check_test_models: 9 files, 3 differ$'
compare no_such_model
check "nothing to compare" rc_is 77
finish
