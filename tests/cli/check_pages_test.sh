#!/usr/bin/env bash
# scripts/dev/check_reference.py, check_prose.py and check_messages.py: the pages pass, and an option without a sentence, a long sentence and a
# message that no source has are found.
# shellcheck disable=SC2016,SC2317  # text with backticks; a function that check() calls
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

reference=$source_dir/scripts/dev/check_reference.py
prose=$source_dir/scripts/dev/check_prose.py
messages=$source_dir/scripts/dev/check_messages.py
fails() { ! "$@" >out.txt 2>err.txt; }

check "sentences of the pages for users" python3 "$prose"
words=$(printf 'word %.0s' {1..24})
printf '# Heading\n\n%send. `a b c` is short: %send.\n\n| %s%s |\n' "$words" "$words" "$words" "$words" >short.md
check "sentences at the limit, code and a table" python3 "$prose" short.md
printf -- '- %sand end.\n' "$words" >long.md
check "a sentence above the limit" fails python3 "$prose" long.md
check "with its words" out_has 'long.md: 26 words: - word'

check "options of all commands" python3 "$reference" "$biogpu"
cat >program <<'EOF'
#!/bin/sh
mkdir -p "$4"
printf '## biogpu x\n\n| option | |\n| --- | --- |\n| `-a` | The threads of it all. |\n| `-b` | Use N threads. |\n| `-c` | Use N threads of a CPU |\n' >"$4/x.md"
EOF
chmod +x program
check "options without a sentence" fails python3 "$reference" ./program
check "without a verb" out_has "biogpu x: .-a.: 'the' is no verb of VERBS"
check "with too few words" out_has 'biogpu x: .-b.: fewer than 5 words'
check "without an end" out_has 'biogpu x: .-c.: no full stop'
check "a page that is not current" out_has 'reference/align.md: is not what BIOGPU prints'

# What the site lists is there.
grep -oE '[A-Za-z_/-]+\.md$' "$source_dir/mkdocs.yml" >listed.txt
check "pages of the site" [ "$(wc -l <listed.txt)" -ge 50 ]
missing=$(while read -r page; do [ -e "$source_dir/docs/$page" ] || echo "$page"; done <listed.txt)
check "all there, not: $missing" [ -z "$missing" ]
check "each once" [ -z "$(sort listed.txt | uniq -d)" ]

check "messages of troubleshooting" python3 "$messages"
printf '```console\n$ x\nonly shown here\n```\n| `only shown here` |\n| `exclude each other`, `No such file or directory` |\n' >known.md
check "of a source, an output and the system" python3 "$messages" known.md
printf '| `the moon is full; exclude each other` | x |\n' >unknown.md
check "a message of no source" fails python3 "$messages" unknown.md
check "by its words" out_has "unknown.md:1: 'the moon is full' is in no source"

list=$source_dir/scripts/dev/list_messages.py
check "the list of all messages" python3 "$list" --check

spelling=$source_dir/scripts/dev/check_spelling.py
check "spelling of the pages" python3 "$spelling"
printf 'The rihgt word, `wrogn` code.\n\n```\nblcok\n```\n' >wrong.md
if python3 "$spelling" wrong.md >out.txt && grep SKIPPED out.txt; then
  echo "not tested: a misspelt word"
else
  check "a misspelt word" fails python3 "$spelling" wrong.md
  check "and no other" bash -c "grep -c 'wrong.md:' out.txt | grep -qx 1 && grep -q 'wrong.md:1: rihgt' out.txt"
fi

# Manual pages that mandoc reads without a warning.
works man --all man1
pages=(man1/*.1)
check "a page for each command" [ "${#pages[@]}" -ge 55 ]
for section in NAME SYNOPSIS DESCRIPTION OPTIONS ENVIRONMENT FILES "EXIT STATUS" EXAMPLES "REPORTING BUGS" "SEE ALSO"; do
  check "section $section" grep -qx "\.SH $section" man1/biogpu-align.1
done
if command -v mandoc >/dev/null; then
  check "mandoc" mandoc -T lint -W warning man1/*.1
else
  echo "SKIPPED: no mandoc"
fi

finish
