#!/usr/bin/env bash
# The reports of `biogpu qc` as their readers see them: the page as text and in a browser of a phone's width, the JSON in
# MultiQC. A reader that is not installed is skipped; exit 77 when both are.
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
}' >sample_R1.fastq
cp sample_R1.fastq sample_R2.fastq
works qc -i sample_R1.fastq -I sample_R2.fastq -o o1.fq -O o2.fq -p -j sample.fastp.json -h page.html

check "the title is the sample" grep -q '<title>sample - biogpu qc</title>' page.html
check "its heading too" grep -q '<h1>sample</h1>' page.html
check "before and after side by side" grep -q '<tr><td>reads</td><td>1,200</td><td>1,200</td></tr>' page.html
check "shares have one digit" \
  grep -q '<tr><td>GC content</td><td>[0-9]*\.[0-9] %</td><td>[0-9]*\.[0-9] %</td></tr>' page.html
check "the rows of fastp 1" [ "$(grep -c '<td>Q40 bases</td>\|<td>reads with adapter dimer</td>' page.html)" -eq 2 ]
check "how many were trimmed" grep -q '<tr><td>reads trimmed</td><td>[0-9,]* ([<0-9.]*' page.html
check "the version of fastp is in the details" \
  bash -c 'sed -n "/<details id=.details/,/<.details>/p" page.html | grep -q "fastp 1.3.7"'
check "charts have a text" \
  [ "$(grep -c "role='img' aria-label='[^']*, from [0-9.]* to [0-9.]*, by [^']*'" page.html)" -eq 9 ]
# shellcheck disable=SC2317  # called through check
axes_fit() {
  python3 - <<'PY'
import json, re
page = open("page.html", encoding="utf-8").read()
charts = {id: json.loads(text) for id, text in re.findall(r"id='data_(\w+)'>(.*?)</script>", page)}
assert len(charts) == 9, charts.keys()
for mate in (1, 2):
    before, after = (charts[f"{stage}_filtering__read{mate}__quality"] for stage in ("Before", "After"))
    values = [y for chart in (before, after) for series in chart["series"] for y in series["y"]]
    assert (before["yMin"], before["yMax"]) == (after["yMin"], after["yMax"])
    assert 10 < min(values) - 1 < before["yMin"] <= min(values) <= max(values) <= before["yMax"] < max(values) + 5
PY
}
check "the axis of qualities is that of the data" axes_fit
works qc -i sample_R1.fastq -o o1.fq -j one.json -h one.html
check "one file" grep -q '<title>sample_R1 - biogpu qc</title>' one.html
works qc -i sample_R1.fastq -I sample_R2.fastq -o o1.fq -O o2.fq -j one.json -h one.html -R 'A title'
check "a title of one's own" grep -q '<h1>A title</h1>' one.html
works qc --stdin -o o1.fq -j one.json -h one.html <sample_R1.fastq
check "standard input" grep -q '<h1>standard input</h1>' one.html
works qc -i sample_R1.fastq -l 1000 -o o1.fq -j one.json -h none.html
check "no read is left" grep -q 'There are no reads' none.html

n_readers=0
if browser=$(command -v chromium || command -v chromium-browser); then
  n_readers=$((n_readers + 1))
  # Errors of the page's scripts, what sticks out at its right, and what a zoom and a saved picture come to are written
  # into a copy.
  cat >probe.js <<'JS'
const marks = document.documentElement.dataset;
marks.over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const [first, second, other] = ['Before_filtering__read1__quality', 'After_filtering__read1__base_contents',
  'Before_filtering__read2__quality'].map((id) => document.querySelector(`#plot_${id} canvas`));
const shown = (canvas) => { const x = Chart.getChart(canvas).scales.x; return `${x.min}-${x.max}`; };
const {left, right} = Chart.getChart(first).chartArea;
const edge = first.getBoundingClientRect().left;
const point = (type, share) => first.dispatchEvent(new PointerEvent(type, {bubbles: true, button: 0,
  clientX: edge + left + share * (right - left)}));
point('pointerdown', 0.25);
point('pointermove', 0.4);
point('pointerup', 0.55);
marks.zoomed = [shown(first), shown(second), shown(other)].join();
first.dispatchEvent(new MouseEvent('dblclick', {bubbles: true}));
marks.whole = shown(first);
HTMLAnchorElement.prototype.click = function () { marks.saved = `${this.download} ${this.href.slice(0, 5)}`; };
[...first.parentNode.querySelectorAll('button')].find((button) => button.textContent === 'Save PNG').click();
JS
  python3 - <<'PY'
page = open("page.html", encoding="utf-8").read()
mark = "<script>window.onerror = (m) => { document.documentElement.dataset.error = m; };</script>"
page = page.replace("<head>", "<head>" + mark, 1).replace("</body>", f"<script>{open('probe.js').read()}</script></body>")
open("copy.html", "w", encoding="utf-8").write(page)
PY
  timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
    --user-data-dir="$work/profile" --window-size=500,900 --virtual-time-budget=10000 \
    --host-resolver-rules='MAP * ~NOTFOUND' --dump-dom "file://$work/copy.html" >dom.html 2>browser.txt
  n_charts=$(grep -c '<canvas data-chart' page.html)
  check "the page has charts" [ "$n_charts" -eq 9 ]
  check "the browser draws every chart" \
    [ "$(grep -c '<canvas[^>]*style="display: block' dom.html)" -eq "$n_charts" ]
  check "no script fails" bash -c '! grep -q "data-error=" dom.html'
  check "nothing sticks out on a phone" grep -q 'data-over="0"' dom.html
  check "the ids are fastp's" grep -q "id=.After_filtering__read1__quality" dom.html
  check "a range is zoomed to in the charts of one mate" grep -q 'data-zoomed="23-50,23-50,1-90"' dom.html
  check "a double click shows all" grep -q 'data-whole="1-90"' dom.html
  check "a chart is saved as a picture" \
    grep -q 'data-saved="sample.Before_filtering__read1__quality.png blob:"' dom.html
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
