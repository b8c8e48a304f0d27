#!/usr/bin/env bash
# `biogpu infer models`: its list, and that docs/weights.md has the same names, licences, sizes and commands.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

works infer models
check "every model has a licence" [ "$(grep -c '^  licence ' out.txt)" -eq "$(grep -c '^[A-Z]' out.txt)" ]
check "and a first command" [ "$(grep -c '^  use ' out.txt)" -eq "$(grep -c '^[A-Z]' out.txt)" ]
works infer models esm2
check "one model" bash -c 'head -1 out.txt | grep -qx "ESM-2: embed, .*"'
check "and no other" [ "$(grep -c '^[A-Z]' out.txt)" -eq 1 ]
works infer models TensorNet
check "both publishers of a model" [ "$(grep -c '^[A-Z]' out.txt)" -eq 2 ]
fails 2 "no model 'gpt'; expected a part of one of these names: ESM-2, ProtBERT, " infer models gpt
fails 2 "no model '--'; expected" infer models -- --

works infer models --json models.json
check "the text too" out_has '^ESM-2: '
works infer models --json -
check "JSON alone" same_files out.txt models.json
check "as docs/weights.md" python3 - "$source_dir" <<'EOF'
import json, pathlib, re, sys

root = pathlib.Path(sys.argv[1])
page = (root / "docs/weights.md").read_text()
flat = " ".join(page.split())
models = json.load(open("models.json"))["models"]
missing = [text for model in models
           for text in [model["licence"], *(w[key] for w in model["weights"] for key in ("name", "size") if w[key]),
                        *model["fetch"], *model["convert"], model["use"]] if text not in flat]
blocks = re.findall(r"^```\n(.*?)^```$", page.split("\n## Overview\n")[1], re.M | re.S)
lines = {line for block in blocks for line in block.splitlines()}
known = {line for model in models for line in [*model["fetch"], *model["convert"], model["use"]]}
for text in missing:
    print("not in docs/weights.md:", text)
for line in sorted(lines - known):
    print("not in infer models:", line)
# Every kind of model of the program; and the converters that commands name are there.
types = {kind for model in models for kind in model["model_types"]}
registered = set(re.findall(r"BIOGPU_MODEL\(\w+, (?:\w+::)?(\w+)_model\)", (root / "lib/models/models.def").read_text()))
unknown = {name for name in registered if {"esm2": "esm", "protbert": "bert"}.get(name, name) not in types}
print("models without weights:", unknown) if unknown else None
lost = {word for line in known for word in line.split() if word.startswith("scripts/convert/") and not (root / word).exists()}
print("no such converters:", lost) if lost else None
sys.exit(1 if missing or lines - known or unknown or lost else 0)
EOF

finish
