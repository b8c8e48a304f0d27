#!/usr/bin/env bash
# scripts/convert/alphagenome*.py on files as they are published, and on what they must refuse.
# shellcheck source=tests/cli/lib.sh
. "$(dirname "$0")/../cli/lib.sh"

# The table of tracks of the official metadata, in the form of alphagenome_research.
cat >human.textproto <<'TEXT'
output_metadata {
  output_type: OUTPUT_TYPE_RNA_SEQ
  tracks {
    metadata {
      name: "UBERON:0000955 \"total\" RNA-seq"
      strand: STRAND_POSITIVE
      ontology_term {
        ontology_type: ONTOLOGY_TYPE_UBERON
        id: 955
      }
      biosample {
        type: BIOSAMPLE_TYPE_TISSUE
        name: "brain"
        stage: "adult"
      }
      assay: "total RNA-seq"
      gtex_tissue: "Brain"
      data_source: "gtex"
      endedness: ENDEDNESS_PAIRED
      genetically_modified: false
      nonzero_mean: 0.1
    }
    metadata {
      name: "padding"
      strand: STRAND_UNSTRANDED
    }
  }
}
output_metadata {
  output_type: OUTPUT_TYPE_SPLICE_JUNCTIONS
  junctions {
    metadata {
      name: "junction_a"
    }
  }
}
TEXT
tracks_py() { python3 "$source_dir/scripts/convert/alphagenome_tracks.py" "$@" >out.txt 2>err.txt; rc=$?; }
tracks_py . --human-tracks human.textproto
check "a table is written" rc_is 0
printf '%s\n' \
  'head,index,name,strand,ontology_curie,biosample_name,biosample_type,biosample_life_stage,gtex_tissue,data_source,Assay title,histone_mark,transcription_factor,genetically_modified,endedness,nonzero_mean' \
  'rna_seq,0,"UBERON:0000955 ""total"" RNA-seq",+,UBERON:0000955,brain,tissue,adult,Brain,gtex,total RNA-seq,,,False,paired,0.1' \
  'rna_seq,1,Padding,.,,,,,,,,,,,,' 'splice_junctions,0,junction_a,.,,,,,,,,,,,,' | tr ',' '\t' >expected.tsv
check "with all columns" same_files expected.tsv tracks_human.tsv
tracks_py . --mouse-tracks tracks_human.tsv
check "a table is read" rc_is 0
check "as it is" same_files tracks_human.tsv tracks_mouse.tsv
mkdir both && cp tracks_human.tsv both && mkdir both/tracks_mouse.tsv.partial
tracks_py both --human-tracks <(sed 's/brain/liver/' tracks_human.tsv) --mouse-tracks tracks_human.tsv
check "a table that cannot be written" rc_is 1
check "is named by its folder" err_has "^alphagenome_tracks.py: both: "
check "nor is the other replaced" same_files tracks_human.tsv both/tracks_human.tsv
check "nothing is left of it" absent both/tracks_human.tsv.partial
tracks_py nowhere --human-tracks human.textproto
check "a folder that is not there" err_has "^alphagenome_tracks.py: nowhere: is no folder$"
# tracks_refused PATTERN FILE: one line on stderr.
tracks_refused() {
  tracks_py . --human-tracks "$2"
  check "refused: $2" rc_is 1
  check "one line" n_lines_is err.txt 1
  check "the error says '$1'" err_has "^alphagenome_tracks.py: $2: $1"
}
tracks_refused 'No such file' nothing.tsv
head -n 30 human.textproto >cut.textproto
tracks_refused 'ends in a message' cut.textproto
echo 'name: none"' >broken.textproto
tracks_refused 'line 1: is no line of a textproto' broken.textproto
: >empty.textproto
tracks_refused 'has no output_metadata' empty.textproto
echo a >other.tsv
tracks_refused 'is no table of tracks' other.tsv
sed 2d tracks_human.tsv >gap.tsv
tracks_refused 'the indexes of rna_seq are not 0 to 0' gap.tsv
cut -f 1-9 tracks_human.tsv | sed '2s/\t[^\t]*$//' >short.tsv
tracks_refused 'line 2: has another number of columns' short.tsv

python=${BIOGPU_TORCH_PYTHON:-python3}
if ! "$python" -c 'import safetensors.torch, torch' 2>/dev/null; then
  echo "no torch here: weights are not converted; scripts/convert/requirements.txt has what is needed"
  finish
fi
model=$source_dir/tests/data/models/alphagenome_tiny
"$python" "$source_dir/tests/support/alphagenome_checkpoints.py" "$model" || exit 1
python3 "$source_dir/tests/support/alphagenome_folders.py" "$model" || exit 1
convert() { "$python" "$source_dir/scripts/convert/alphagenome.py" "$@" >out.txt 2>err.txt; rc=$?; last_command="alphagenome.py $*"; }
# The tensors of two files are the same.
# shellcheck disable=SC2317  # called by check
same_tensors() { "$python" - "$1/model.safetensors" "$2/model.safetensors" <<'PY'
import sys
import safetensors.torch, torch
one, two = (safetensors.torch.load_file(path) for path in sys.argv[1:])
if not any(name.endswith("track_means") for name in two):  # factors of 1 may be written
    assert all((value == 1).all() for name, value in one.items() if name.endswith("track_means"))
    one = {name: value for name, value in one.items() if not name.endswith("track_means")}
assert one.keys() == two.keys(), sorted(one.keys() ^ two.keys())[:10]
assert all(torch.equal(one[name], two[name]) for name in one), [name for name in one if not torch.equal(one[name], two[name])]
PY
}

# converted FOLDER EXPECTED ARGUMENTS...: the tensors are those of EXPECTED.
converted() {
  convert "${@:3}" "$1"
  check "converted: ${*:3}" rc_is 0
  check "the same tensors" same_tensors "$1" "$2"
}

# The published model in each form, with tables of tracks, and the same tracks as before.
tables=(--human-tracks tables/tracks_human.tsv --mouse-tracks tables/tracks_mouse.tsv)
converted port "$model" port.pth "${tables[@]}"
check "the terms of the weights" out_has "https://deepmind.google.com/science/alphagenome/model-terms"
check "no warning" err_is_empty
sed -i 's/"num_organisms"/"sequence_length": 1024, &/' port/config.json
for organism in human mouse; do
  works infer tracks -q --device cpu --model tables --organism $organism "$model/windows.fa" -o right.npz
  works infer tracks -q --device cpu --model port --organism $organism "$model/windows.fa" -o got.npz
  check "the same tracks of $organism" same_files right.npz got.npz
done
converted pt "$model" pt.safetensors --means means.json
converted haiku plain haiku.npz
check "without factors of tracks" err_has "the head atac has no factors of tracks; they are 1"
converted trees plain trees.npz
convert haiku.npz means "${tables[@]}"
check "with those of the tables" "$python" - <<'PY'
import safetensors.torch
state = safetensors.torch.load_file("means/model.safetensors")
assert state["heads.atac.track_means"].tolist() == [[1.5, 1.5, 1.5, 0, 0], [1.5, 0, 0, 0, 0]]
PY

# Tables of an earlier model do not stay where this one has none of that organism.
convert port.pth again "${tables[@]}"
cp again/tracks_human.tsv human.tsv
convert port.pth again "${tables[@]:0:2}"
check "converted once more, with one table" rc_is 0
check "its table" same_files human.tsv again/tracks_human.tsv
check "that of the other organism is gone" absent again/tracks_mouse.tsv
convert port.pth again --mouse-tracks again/tracks_human.tsv
check "a table of the folder itself is read before" rc_is 0
check "and has its new name" same_files human.tsv again/tracks_mouse.tsv
check "alone" absent again/tracks_human.tsv
cp again/config.json config.before
convert again/config.json again
check "an input that is refused" rc_is 1
check "removes no table" exists again/tracks_mouse.tsv
check "nor the model" same_files config.before again/config.json

# Fine-tuned ones: adapters are merged, heads of one organism make a model of one.
converted tuned expected tuned.pth --transfer-config tuned.json --organism mouse
converted delta expected "$model/model.safetensors" --delta delta.safetensors
converted other_delta expected port.pth --delta delta.delta.pth
check "the same model" same_files delta/config.json other_delta/config.json
check "its tracks" [ "$(cut -f 1-4 delta/tracks_mouse.tsv | tail -n 2)" = "own	0	mine 0	+
own	1	mine 1	-" ]
sed -i 's/"num_organisms"/"sequence_length": 1024, &/' delta/config.json
works infer tracks -q --device cpu --model delta "$model/windows.fa" -o - --tracks 'mine 1'
check "its head" n_lines_is out.txt 2048

# refused PATTERN ARGUMENTS...: one line on stderr, and no folder.
refused() {
  convert "${@:2}" refused
  check "refused: ${*:2}" rc_is 1
  check "one line" n_lines_is err.txt 1
  check "the error says '$1'" err_has "^alphagenome.py: $1"
  check "no folder" absent refused
}
refused 'nothing.pth: No such file' nothing.pth
refused 'foreign.safetensors: 1 tensors are not read: tower.blocks.0.mha.gate.weight' foreign.safetensors
refused 'other.pth: 1 tensors are not read: something.weight' other.pth
refused 'locon.pth: has 1 tensors of Locon or Houlsby adapters' locon.pth
refused 'tuned.pth: has adapters, but no transfer_config' tuned.pth
refused 'delta.delta.pth: is a delta, which goes with --delta' delta.delta.pth
refused 'port.pth: has no transfer_config' port.pth --delta port.pth
sed 's/\[\[/[[7, /' means.json >ragged.json
refused 'ragged.json: the means of the head atac are no rows of numbers' pt.safetensors --means ragged.json
python3 -c 'import json; means = json.load(open("means.json")); means["heads"]["atac"] = means["heads"]["dnase"]
json.dump(means, open("other.json", "w"))'
refused 'other.json: the head atac has means of shape \[2, 3\]; expected \[2, 5\]' pt.safetensors --means other.json
grep -v '^cage' tables/tracks_human.tsv >short.tsv
refused 'short.tsv: has no tracks of the head cage' port.pth --human-tracks short.tsv
printf 'atac\t5\tmore\t.\t\t\t\n' | cat tables/tracks_human.tsv - >long.tsv
refused 'long.tsv: has 4 tracks of the head atac; the model has 5' port.pth --human-tracks long.tsv
mkdir checkpoint
"$python" -c 'import orbax.checkpoint' 2>/dev/null ||
  refused 'checkpoint: is a folder; to read DeepMind' checkpoint

finish
