#!/usr/bin/env bash
# `biogpu infer recognize`: pictures of every kind, all outputs, batches, shards, resuming, and what is no picture.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/lib.sh"

model=$source_dir/tests/data/models/molscribe_tiny
images=$source_dir/tests/data/images
recognize() { run infer recognize -q --device cpu --model "$model" --chemistry plain "$@"; }

if ! recognize "$images/gray8.png" && err_has "need libbiogpu_images.so"; then
  echo "SKIPPED: this build reads BMP alone"
  exit 0
fi

# The graphs that the reference gives.
recognize "$model"/picture*.png -o out.tsv --json-lines out.jsonl --mol-dir molfiles --svg drawings
check "all pictures" rc_is 0
check "columns" cmp <(head -1 out.tsv) <(printf 'image\tsmiles\tconfidence\tn_atoms\tn_bonds\tstatus\n')
check "a line a picture" n_lines_is out.tsv 7
check "equal to the reference" python3 - "$model" <<'END'
import json
import pathlib
import sys
expected = json.load(open(sys.argv[1] + "/expected.json"))
rows = [line.rstrip("\n").split("\t") for line in open("out.tsv")][1:]
lines = [json.loads(line) for line in open("out.jsonl")]
assert len(rows) == len(lines) == len(expected)
kinds = ["", "single", "double", "triple", "aromatic", "solid wedge", "dashed wedge"]
for row, line in zip(rows, lines):
    name = pathlib.Path(row[0]).name
    right = expected[name]
    assert row[0] == line["image"] and row[1] == line["smiles"] and row[5] == line["status"]
    assert abs(float(row[2]) - right["confidence"]) < 1e-3 * right["confidence"], (row, right["confidence"])
    assert abs(line["confidence"] - float(row[2])) < 1e-5 * line["confidence"]
    assert (int(row[3]), int(row[4])) == (len(right["atoms"]), len(right["bonds"])), row
    assert [[a["atom_symbol"], a["x"], a["y"]] for a in line["atoms"]] == right["atoms"]
    assert [[*b["endpoint_atoms"], kinds.index(b["bond_type"])] for b in line["bonds"]] == right["bonds"]
    assert ("no-atoms" in row[5]) == (not right["atoms"])
    assert ("cut-short" in row[5]) == (right["tokens"][-1] != 2)
    molfile = (pathlib.Path("molfiles") / name).with_suffix(".mol").read_text()
    assert molfile == line["molfile"] and molfile.endswith("M  END\n")
    assert molfile.splitlines()[3] == f"{row[3]:>3}{row[4]:>3}  0  0  0  0  0  0  0  0999 V2000"
END

check "drawings over the pictures" python3 - "$model" <<'END'
import base64
import json
import pathlib
import re
import sys
import xml.etree.ElementTree
import zlib
expected = json.load(open(sys.argv[1] + "/expected.json"))
for name, right in expected.items():
    page = xml.etree.ElementTree.parse((pathlib.Path("drawings") / name).with_suffix(".svg")).getroot()
    assert len(page.findall(".//{*}circle")) == len(right["atoms"]), name
    titles = [title.text for title in page.findall(".//{*}g/{*}title")]
    assert sum(":" in title for title in titles) == len(right["bonds"]), name
    png = base64.b64decode(page.find("{*}image").get("href").split(",")[1])
    width, height = (int.from_bytes(png[i:i + 4], "big") for i in (16, 20))
    assert page.get("viewBox") == f"0 0 {width} {height}", name
    packed = b"".join(chunk for chunk in re.findall(rb"IDAT(.*)....\0\0\0\0IEND", png, re.S))
    assert len(zlib.decompress(packed)) == height * (3 * width + 1), name
END

# The same for any batch and number of threads, from a folder, a list and standard input.
for options in "--batch 1" "-t 1" "--batch 4 -t 2"; do
  # shellcheck disable=SC2086
  recognize $options "$model"/picture*.png -o other.tsv
  check "the same with $options" same_files other.tsv out.tsv
done
mkdir folder && cp "$model"/picture*.png folder && touch folder/notes.txt folder/.hidden.png
recognize folder -o other.tsv
check "the same of a folder" cmp <(cut -f 2- other.tsv) <(cut -f 2- out.tsv)
printf '%s\r\n' "$model"/picture*.png >list.txt
recognize --list list.txt -o other.tsv
check "the same of a list" same_files other.tsv out.tsv
"$biogpu" infer recognize -q --device cpu --chemistry plain --model "$model" - <"$model/picture0.png" >piped.tsv
check "standard input" cmp <(tail -1 piped.tsv | cut -f 2-) <(sed -n 2p out.tsv | cut -f 2-)
recognize "$model"/picture*.png -o other.tsv.gz
check "compressed" cmp <(gzip -dc other.tsv.gz) out.tsv
for part in 1 2 3; do recognize --shard $part/3 "$model"/picture*.png -o "part$part.tsv" --json-lines "part$part.jsonl"; done
check "JSON lines of shards" same_files <(cat part[123].jsonl) out.jsonl
run gather part1.tsv part2.tsv part3.tsv -o whole.tsv
check "parts joined" same_files whole.tsv out.tsv
recognize --resume "$model"/picture*.png -o resumed.tsv --json-lines resumed.jsonl
check "resumable" cmp resumed.jsonl out.jsonl

# Every kind of file; pages of TIFF are pictures.
recognize "$images" -o kinds.tsv
check "every kind of file" rc_is 0
check "a line a page" n_lines_is kinds.tsv 67
check "pages by number" test "$(grep -c 'pages.tif#[123]' kinds.tsv)" -eq 3
recognize "$images/rgb8_pages.tif" --mol-dir pages -o pages.tsv
check "a molfile a page" test -e pages/rgb8_pages.3.mol
check "pages differ" test "$(tail -n +2 pages.tsv | cut -f 2,3 | sort -u | wc -l)" -ge 2

# Drawings of pages are over their own page; a batch does not hold the pixels of all its pictures.
# Names of files are any bytes: a drawing is XML in UTF-8, a line of the table a line.
mkdir odd_names
cp "$model/picture5.png" "$(printf 'odd_names/<b>&\001"\351.png')"
recognize odd_names --svg odd_svg --json-lines odd.jsonl -o odd.tsv
check "a picture with an odd name" rc_is 0
check "one line" n_lines_is odd.tsv 2
check "its drawing is XML" python3 - <<'END'
import json, pathlib, xml.etree.ElementTree
(path,) = pathlib.Path("odd_svg").iterdir()
title = xml.etree.ElementTree.parse(path).getroot()[0].text
assert title.startswith('odd_names/<b>&\ufffd"\ufffd.png '), title
assert json.loads(open("odd.jsonl", encoding="utf-8").read())["image"] == 'odd_names/<b>&\x01"\ufffd.png'
END
recognize "$images/rgb8_pages.tif" --svg pages_svg -o pages.tsv
check "drawings of pages" test "$(cat pages_svg/rgb8_pages.*.svg | grep -o 'base64,[^"]*' | sort -u | wc -l)" -eq 3
"$biogpu" infer recognize -q --device cpu --chemistry plain --model "$model" - --svg piped_svg <"$model/picture0.png" >piped.tsv
check "a drawing of standard input" cmp <(grep -o 'base64,[^"]*' piped_svg/stdin.svg) <(grep -o 'base64,[^"]*' drawings/picture0.svg)
recognize <(cat "$model/picture0.png") --svg piped_svg -o piped.tsv
check "a drawing of a pipe" cmp <(cat piped_svg/[0-9]*.svg | grep -o 'base64,[^"]*') <(grep -o 'base64,[^"]*' drawings/picture0.svg)
python3 - <<'END'
import struct
import zlib
def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
rows = zlib.compress((b"\0" + b"\xff" * 3 * 4000) * 4000, 1)
for i in range(16):
    open(f"wide{i}.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 4000, 4000, 8, 2, 0, 0, 0))
                                     + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
END
(limit_memory 800000 && exec "$biogpu" infer recognize -q -t 1 --device cpu --chemistry plain --batch 16 --model "$model" wide*.png --svg wide -o wide.tsv) 2>err.txt
check "16 pictures of 48 MB in a batch" n_lines_is wide.tsv 17

# What is no picture.
refused() { # MESSAGE ARGUMENTS...
  recognize "${@:2}" -o refused.tsv --json-lines refused.jsonl --mol-dir refused_mol --svg refused_svg
  check "refused: $1" rc_is 3
  check "says $1" err_has "$1"
  check "one line" n_lines_is err.txt 1
  check "no output of $1" absent refused.tsv
  check "no lines of $1" absent refused.jsonl
  check "no molfile of $1" test -z "$(find refused_mol refused_svg -type f)"
}
echo text >text.png
: >empty.png
head -c 500 "$model/picture0.png" >short.png
python3 - <<'END'
import struct
import zlib
def chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
for name, width, height in (("bomb", 100000, 100000), ("none", 0, 5)):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    open(name + ".png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
                                    + chunk(b"IDAT", zlib.compress(b"\0" * 1000)) + chunk(b"IEND", b""))
END
refused "text.png: begins with 'text" "$model/picture0.png" text.png
refused "begins with nothing" empty.png
refused "short.png: malformed PNG: the file ends before" short.png
refused "bomb.png: malformed PNG: the picture has 100000 x 100000 pixels" bomb.png
refused "none.png: malformed PNG" none.png
refused "holds no picture" "$source_dir/tests/cli"
mkdir large && cp "$model/config.json" "$model/vocab_chars.json" large
python3 "$source_dir/tests/support/set_tensor.py" "$model/model.safetensors" large/model.safetensors \
  decoder.decoder.chartok_coords.output_layer.weight 3e38
run infer recognize -q --device cpu --model large "$model/picture2.png" -o large.tsv --mol-dir large_mol
check "numbers that overflow" rc_is 1
check "the picture" err_has "picture2.png: the result is NaN or infinite"
check "no output of these" absent large.tsv
recognize missing.png
check "a missing file" rc_is 1
check "named" err_has 'missing.png'
recognize
check "nothing given" rc_is 2
mkdir twice && cp "$model/picture0.png" twice/picture0.PNG
recognize "$model/picture0.png" twice/picture0.PNG --mol-dir out2 -o two.tsv
check "two pictures of one name" rc_is 2
check "named both" err_has "would have one name in out2"
cp "$images/rgb8_pages.tif" pages.tif && cp "$model/picture0.png" pages.2.png
for folder in --mol-dir --svg; do
  recognize pages.tif pages.2.png $folder clash -o two.tsv
  check "a page and a picture of one name" rc_is 3
  check "named" err_has "clash/pages.2.*: two pictures would have this file"
  check "neither is written" test -z "$(find clash -type f)"
done
recognize pages.tif pages.2.png -o two.tsv
check "without files of their own they go together" n_lines_is two.tsv 5
cp -r "$model" own && chmod -R u+w own
run infer recognize -q --device cpu --model own "$model/picture0.png" -o two.tsv --json-lines own/vocab_chars.json
check "the vocabulary is no output" rc_is 2
check "is what it was" same_files own/vocab_chars.json "$model/vocab_chars.json"
run infer recognize -q --device cpu --model "$source_dir/tests/data/models/esm2_head16" "$model/picture0.png"
check "another model" rc_is 2
check "what it offers" err_has "embed"
run infer embed -q --device cpu --model "$model" "$source_dir/data/proteins.fa"
check "another task" rc_is 2

# Others go on.
recognize --skip-bad "$model/picture0.png" text.png bomb.png "$model/picture1.png" -o others.tsv --json s.json
check "bad ones left out" rc_is 3
check "the others" cmp <(head -3 out.tsv) others.tsv
check "counted" grep -q '"skipped": *{ *"images": 2' <(tr -d '\n' <s.json)
check "the first files alone are named" err_has "picture0.png, text.png, bomb.png and 1 more: skipped: 2 images that are bad; the output has the others$"

# A resumed run has one chemistry: RDKit's module is gone when it goes on.
module=$(dirname "$biogpu")/libbiogpu_chemistry.so
if [ -e "$module" ] && [ "$(head -c 2 "$biogpu")" != '#!' ]; then
  mkdir alone && cp "$biogpu" "$module" "$(dirname "$biogpu")/libbiogpu_images.so" alone
  resumed() { # CHEMISTRY
    alone/biogpu infer recognize -q --device cpu --model "$model" --batch 1 --resume --chemistry "$1" \
      "$model/picture0.png" "$model/picture1.png" text.png -o long.tsv 2>err.txt && rc=0 || rc=$?
  }
  resumed auto
  check "cut short with RDKit" exists long.tsv.partial
  resumed auto
  check "goes on with RDKit" err_has "text.png: begins with"
  rm alone/libbiogpu_chemistry.so
  resumed auto
  check "not without it" rc_is 1
  check "says so" err_has "long.tsv.partial: is of a run with other inputs, model or options"
  check "is kept" test -s long.tsv.partial
fi
finish
