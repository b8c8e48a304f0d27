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

finish
