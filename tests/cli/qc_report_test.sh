#!/usr/bin/env bash
# The reports of `biogpu qc` as their readers see them: the page in a browser of a phone's width, the
# JSON in MultiQC. A reader that is not installed is skipped; exit 77 when both are.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

awk 'BEGIN {
  state = 5
  for (i = 0; i < 600; ++i) {
    sequence = quality = ""
    for (j = 0; j < 90; ++j) {
      state = state * 16807 % 2147483647
      sequence = sequence substr("ACGT", 1 + int(state / 512) % 4, 1)
      quality = quality substr("5?DI", 1 + int(state / 2048) % 4, 1)
    }
    printf "@r%d\n%s\n+\n%s\n", i, sequence, quality
  }
}' >sample.fq
cp sample.fq sample2.fq
works qc -i sample.fq -I sample2.fq -o o1.fq -O o2.fq -p -j sample.fastp.json -h page.html

n_readers=0
if browser=$(command -v chromium || command -v chromium-browser); then
  n_readers=$((n_readers + 1))
  # Errors of the page's scripts and what sticks out at its right are written into a copy.
  sed 's|<head>|<head><script>window.onerror = (m) => { document.documentElement.dataset.error = m; };</script>|
       s|</body>|<script>document.documentElement.dataset.over =\
         document.documentElement.scrollWidth - document.documentElement.clientWidth;</script></body>|' page.html >copy.html
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$work/profile" --window-size=500,900 --virtual-time-budget=10000 \
    --host-resolver-rules='MAP * ~NOTFOUND' --dump-dom "file://$work/copy.html" >dom.html 2>browser.txt
  n_charts=$(grep -c '<canvas' page.html)
  check "the page has charts" [ "$n_charts" -ge 5 ]
  check "the browser draws every chart" \
    [ "$(grep -c '<canvas[^>]*style="display: block' dom.html)" -eq "$n_charts" ]
  check "no script fails" bash -c '! grep -q "data-error=" dom.html'
  check "nothing sticks out on a phone" grep -q 'data-over="0"' dom.html
  check "the headings are fastp's" grep -q "id=.After_filtering__read1__quality" dom.html
else
  echo "SKIPPED: no chromium"
fi

if command -v multiqc >/dev/null; then
  n_readers=$((n_readers + 1))
  mkdir reports && cp sample.fastp.json reports
  check "MultiQC runs" bash -c 'multiqc -q -o multiqc reports >multiqc.txt 2>&1'
  check "MultiQC finds the sample and its numbers" python3 -c "
import json, sys
data = json.load(open('multiqc/multiqc_data/multiqc_data.json'))
general = data['report_general_stats_data']
rows = list(general.values()) if isinstance(general, dict) else general
text = json.dumps(rows)
sys.exit(not ('sample' in text and 'after_filtering_q30_rate' in text))"
else
  echo "SKIPPED: no multiqc"
fi

[ $n_readers -gt 0 ] || exit 77
finish
