#!/usr/bin/env bash
# The gate of scripts/bench/infer_tracks.py: each precision that a run has decides its exit status.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# gate EXPRESSION: whether it holds.
# shellcheck disable=SC2317  # called through check
gate() {
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$source_dir/scripts/bench python3 -c "
from track_gate import missed, passes
equal = {p: {'passes': passes(p, *told)} for p, told in
         {'fp32': (9e-5, 0.999999), 'tf32': (5e-4, 0.99999), 'fp16': (5e-3, 0.99998)}.items()}
raise SystemExit(not ($1))"
}
check "equal in fp32" gate "passes('fp32', 1e-4, 0.99999)"
check "too far in fp32" gate "not passes('fp32', 1.1e-4, 1)"
check "as far in 16 bits, whose cosine is right" gate "passes('fp16', 1.1e-4, 0.99999)"
for precision in fp32 tf32 fp16 bf16; do
  check "too small a cosine in $precision" gate "not passes('$precision', 0, 0.99998)"
  check "a cosine of NaN in $precision" gate "not passes('$precision', 0, float('nan'))"
done
check "no number of a difference in fp32" gate "not passes('fp32', float('nan'), 1)"
check "what misses it is named" gate "missed(equal, ['fp32', 'tf32', 'fp16']) == ['fp16']"
check "what is not run does not count" gate "missed(equal, ['fp32', 'tf32']) == []"
check "what has no result does" gate "missed(equal, ['fp32', 'bf16']) == ['bf16']"
finish
