#!/usr/bin/env bash
# Reads are any bytes: what the reports of `biogpu qc` and `biogpu qc-merge` show of them is text,
# never a tag of the page nor an end of a string of the JSON.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

# Over-represented sequences that are tags, attributes, quotes, control characters, no UTF-8.
python3 - <<'P'
heads = [b"<svg/onload=top.done=1>", b"'onclick='x()'&amp;<u>", b'","x":{"y":["', b"\\u0041\\\\\x01\x1b[31m\x7f",
         b"\xff\xfe\xc3(\xe2\x82", b"</script><script>1</script>"]
with open("r.fq", "wb") as to:
    for i in range(2400):
        head = heads[i // 20 % len(heads)]  # one read in 20 is counted
        to.write(b"@r%d\n" % i + head + b"C" * (80 - len(head)) + b"\n+\n" + b"I" * 80 + b"\n")
P
# shellcheck disable=SC2317  # called through check
reports_are_text() { python3 - "$1" "$2" <<'P'
import html.parser, json, sys
report = json.load(open(sys.argv[1], encoding="utf-8"))
found = [text for part in report.values() if isinstance(part, dict) for text in part.get("overrepresented_sequences", {})]
page = open(sys.argv[2], encoding="utf-8").read()
tags, cells = set(), []
class Parser(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        tags.add(tag)
        if any(name.startswith("on") for name, _ in attributes): tags.add("onX")
    def handle_data(self, data): cells.append(data)
Parser(convert_charrefs=True).feed(page)
text = "".join(cells)
bad = tags & {"svg", "u", "i", "onX"} or page.count("<script") != page.count("</script")
shown = all(head in text for head in ("<svg/onload=top.done=1>", "'onclick='x()'&amp;<u>", '","x":{"y":["', "</script><script>1"))
kept = any(s.startswith('","x":{"y":["') for s in found) and any("\x01\x1b[31m" in s for s in found)
if bad or not shown or not kept or any(c in page for c in "\x01\x1b\x7f"): sys.exit(f"{tags} {bad} {shown} {kept}")
P
}
for profile in fastp-0.23 fastp-1; do
  works qc --quiet -p --profile $profile -w 1 -A -i r.fq -o o.fq -j q.json -h q.html --part q.part
  check "$profile: the reports hold text" reports_are_text q.json q.html
  works qc-merge -j m.json -h m.html q.part
  check "$profile: merged reports too" reports_are_text m.json m.html
done
cp r.fq m.fq
works qc --quiet -p -A -i r.fq -I m.fq -o o.fq -O o2.fq -j q.json -h q.html -R '<i>"title"</i>'
check "mates, and a title" reports_are_text q.json q.html
check "the title is text" bash -c '! grep -q "<i>" q.html'
finish
