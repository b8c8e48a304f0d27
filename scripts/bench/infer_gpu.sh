#!/usr/bin/env bash
# Compares `biogpu infer` with transformers on one GPU: outputs first, then times and memory.
#
# usage: scripts/bench/infer_gpu.sh PREFIX OUT [--only PART,...] [--big] [--fidelity PRECISION,...]
#   PREFIX  the folder that cmake --install wrote, from a build with the CUDA backend
#   OUT     a folder for infer_gpu.json, infer_gpu.md and ops_*.json
#   PART    ops, tests, esm2_8M, esm2_35M, esm2_150M, esm2_650M, protbert, proteome, esm2_3B, devices
#           (default: all but esm2_3B, which --big adds: it writes 6 GB, and devices, for several GPUs)
#
# Needs python3 with torch and transformers, and no network. Weights are random, of the published
# shapes. Takes about four minutes on an H200.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '4,8p' "$0" >&2; exit 2; }
exec python3 "$here/infer_gpu.py" "$@"
