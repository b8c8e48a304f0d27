#!/usr/bin/awk -f
# Shows the TSV of `biogpu align` as an aligned table with the share of identical columns.
# -v rows=N: the first N rows. -v best=1: only the row with the highest score of each query, in the queries' order.
BEGIN { FS = "\t"; format = "%-28s %-28s %7s %9s  %s\n" }
NR == 1 {
  for (i = 1; i <= NF; i++) column[$i] = i
  if (!("score" in column) || !("cigar" in column)) { print "no score or cigar column" > "/dev/stderr"; exit 1 }
  printf format, "query", "target", "score", "identity", "cigar"
  next
}
{
  query = $column["query"]; score = $column["score"] + 0
  if (!best) { if (!rows || NR <= rows + 1) show($0); next }
  if (!(query in top)) order[++n] = query
  if (!(query in top) || score > top[query]) { top[query] = score; row[query] = $0 }
}
END { for (i = 1; i <= n; i++) show(row[order[i]]) }

function short(text, width) { return length(text) <= width ? text : substr(text, 1, width - 2) ".." }

function show(line, field, cigar, rest, length_here, same, total) {
  split(line, field, FS)
  rest = cigar = field[column["cigar"]]
  while (match(rest, /^[0-9]+[=XIDM]/)) {
    length_here = substr(rest, 1, RLENGTH - 1) + 0
    if (substr(rest, RLENGTH, 1) == "=") same += length_here
    total += length_here
    rest = substr(rest, RLENGTH + 1)
  }
  printf format, short(field[column["query"]], 28), short(field[column["target"]], 28),
         field[column["score"]], total ? sprintf("%.1f %%", 100 * same / total) : "-", short(cigar, 36)
}
