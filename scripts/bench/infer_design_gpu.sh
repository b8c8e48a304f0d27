#!/usr/bin/env bash
# Compares `biogpu infer design` and `score` with the original ProteinMPNN on one GPU: outputs first, then times.
#
# usage: scripts/bench/infer_design_gpu.sh PREFIX ORIGINAL OUT [--only PART,...] [--structures N]
#   PREFIX    the folder that cmake --install wrote, from a build with the CUDA backend
#   ORIGINAL  a clone of github.com/dauparas/ProteinMPNN: protein_mpnn_utils.py and inputs/ are enough
#   OUT       a folder for infer_design_gpu.json, of which scripts/dev/tables.py makes tables
#   PART      tests, fidelity, times, files (default: all)
#
# Needs python3 with torch, numpy and safetensors, and no network. Weights are random, of the published
# shapes. Takes about a minute and a half on an H200.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '4,9p' "$0" >&2; exit 2; }
exec python3 "$here/infer_design_gpu.py" "$@"
