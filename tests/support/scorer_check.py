"""`biogpu infer variants --scorers` with a small AlphaGenome, against a computation of its own.

usage: scorer_check.py make | scorer_check.py check BIOGPU MODEL TABLE [merged] | scorer_check.py intervals ARRAYS MODEL TABLE

`make` writes genome.fa, variants.vcf, genes.gtf and polya.bed into the working folder. `check` makes the letters of both alleles
itself, has `infer tracks` and `infer embed` predict them, and compares every score of the table of all recommended scorers,
and which lines it has. `intervals` compares scores of genes in windows with what ARRAYS, of `infer tracks`, has for these.
"""
import csv
import json
import math
import random
import struct
import subprocess
import sys

from junction_scores import JunctionHead, check_reported, choose_sites, junction_scores

WINDOW, COARSE, PAIR = 1024, 8, 128
CHR1, CHR2 = 6000, 900
# Of chr1: (gene_id, name, type, strand, transcripts of (first, last, exons)), from 1 as in GTF.
GENES = [
    ("ENSG1.4", "ONE", "protein_coding", "+", [(2901, 3600, [(2901, 2950), (3100, 3180), (3500, 3600)]),
                                               (3051, 3200, [(3051, 3120)]), (100, 3300, [(100, 140), (3250, 3300)])]),
    ("ENSG2.1", "TWO", "lncRNA", "-", [(2700, 3205, [(2700, 2790), (3201, 3205)])]),
    ("ENSG3.2_PAR_Y", "", "", "-", [(3000, 3100, [(3000, 3020), (3090, 3100)])]),
    ("ENSG4", "FOUR", "lncRNA", "+", [(1, 120, [(1, 60), (100, 120)])]),
]
SITES = [("ENSG1.9", "+", [3010, 3100, 3108, 3300]), ("ENSG1", "-", [3090]), ("ENSG2", "-", [2790, 2899, 3003, 3105]),
         ("ENSG3", "-", [3010]), ("ENSG4", "+", [40, 90, 110])]
# Position from 1, length of REF, ALT alleles as inserted letters behind the first or other letters.
VARIANTS = [(3101, 1, ["*other", "CGTACC"]), (3100, 3, ["C*", "*first"]), (3004, 2, ["GG"]), (3005, 40, ["*first"]),
            (30, 1, ["*other"]), (5990, 1, ["GATTACA"]), (3010, 5, ["*other", "TTTTTTTTT"])]
AGGREGATED = {"ATAC": 501, "DNASE": 501, "CHIP_TF": 501, "CHIP_HISTONE": 2001, "CAGE": 501, "PROCAP": 501}


def make():
    random.seed(11)
    letters = "".join(random.choices("ACGT", k=CHR1))
    with open("genome.fa", "w") as file:
        file.write(f">chr1\n{letters}\n>chr2\n{''.join(random.choices('ACGT', k=CHR2))}\n")
    with open("variants.vcf", "w") as file:
        file.write("##fileformat=VCFv4.2\n##contig=<ID=chr1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for position, n, alts in sorted(VARIANTS):
            ref = letters[position - 1:position - 1 + n]
            other = "".join("CGTA"["ACGT".index(letter)] for letter in ref)
            alts = [alt.replace("*other", other).replace("*first", ref[0]).replace("*", ref) for alt in alts]
            file.write(f"chr1\t{position}\t.\t{ref}\t{','.join(alts)}\t.\t.\t.\n")
        file.write("chr1\t3500\t.\tA\t<DEL>\t.\t.\t.\n".replace("\tA\t", f"\t{letters[3499]}\t").replace("<DEL>", "*"))
    with open("genes.gtf", "w") as file:
        file.write("##description: test\n")
        for gene_id, name, kind, strand, transcripts in GENES:
            more = (f' gene_name "{name}";' if name else "") + (f' gene_type "{kind}";' if kind else "")
            def line(feature, first, last, attributes):
                file.write(f'chr1\tx\t{feature}\t{first}\t{last}\t.\t{strand}\t.\tgene_id "{gene_id}"; {attributes}\n')
            line("gene", min(t[0] for t in transcripts), max(t[1] for t in transcripts), more.strip())
            for i, (first, last, exons) in enumerate(transcripts):
                line("transcript", first, last, f'transcript_id "{gene_id}.T{i}";{more}')
                for exon in exons:
                    line("exon", *exon, f'transcript_id "{gene_id}.T{i}";{more}')
    with open("polya.bed", "w") as file:
        for gene, strand, begins in SITES:
            for begin in reversed(begins):
                file.write(f"chr1\t{begin}\t{begin + 1}\t{gene}\t0\t{strand}\n")


def read_tensors(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or name.endswith("positions"):
            continue
        begin, end = entry["data_offsets"]
        values, width = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end]), entry["shape"][-1]
        tensors[name] = [values[i:i + width] for i in range(0, len(values), width)] if width else []
    return tensors


def variants_of(letters):
    """(position from 0, REF, ALT) of every allele that is scored."""
    for line in open("variants.vcf"):
        if line.startswith("#"):
            continue
        _, position, _, ref, alts = line.split("\t")[:5]
        for alt in alts.split(","):
            if set(alt) <= set("ACGT"):
                assert letters[int(position) - 1:].startswith(ref)
                yield int(position) - 1, ref, alt


def aligned(alt, base, ref, alternate):
    """Rows of an allele in the places of the reference's."""
    last = base + min(len(ref), len(alternate)) - 1
    more = len(alternate) - len(ref)
    zeros = (0.0,) * len(alt[0])
    if more > 0:
        rows = alt[:last] + [tuple(map(max, *alt[last:last + more + 1]))] + alt[last + more + 1:]
        return (rows + [zeros] * more)[:len(alt)]
    return (alt[:last + 1] + [zeros] * -more + alt[last + 1:])[:len(alt)]


def column_sums(rows):
    return [math.fsum(column) for column in zip(*rows)]


def polya_score(gene, ref, alt, begin):
    strand = gene[3]
    sites = [site - begin for owner, of, places in SITES for site in places
             if owner.split(".")[0] == gene[0].split(".")[0] and of == strand]
    if not sites or sum(s >= 0 for s in sites) < 0.8 * len(sites) or sum(s + 1 < WINDOW for s in sites) < 0.8 * len(sites):
        return None
    sites = sorted(s for s in sites if s >= 0 and s + 1 < WINDOW)
    if len(sites) < 2:
        return None
    ratios = []
    for site in sites:
        low = site - 399 if strand == "+" else site
        part = slice(max(low, 0), min(low + 400, WINDOW))
        ratios.append([a / r for a, r in zip(column_sums(alt[part]), column_sums(ref[part]))])
    scores = []
    for column in zip(*ratios):
        n = len(column)
        scores.append(max(abs(math.log2((n - k) / k * math.fsum(column[:k]) / math.fsum(column[k:]))) for k in range(1, n)))
    return scores


def genes_over(position, ref_text, alt_text):
    return [gene for gene in GENES if max(t[1] for t in gene[4]) > position and
            min(t[0] for t in gene[4]) - 1 < position + max(len(ref_text), len(alt_text))]


def body_of(gene, begin):
    return min(t[0] for t in gene[4]) - 1 - begin, max(t[1] for t in gene[4]) - begin


def annotated_sites(begin):
    """(class, base of the window) of the ends of introns."""
    for _, _, _, strand, transcripts in GENES:
        for _, _, exons in transcripts:
            for (_, last), (first, _) in zip(exons, exons[1:]):
                before, behind = ("neg_acceptor", "neg_donor") if strand == "-" else ("pos_donor", "pos_acceptor")
                yield before, last - 1 - begin
                yield behind, first - 1 - begin


def scores_of_junctions(head, position, ref_text, alt_text, begin, ref, alt):
    """{gene_id: scores of all introns} of coding genes that an allele overlaps."""
    genes = genes_over(position, ref_text, alt_text)
    coding = [gene for gene in genes if gene[2] == "protein_coding"]
    if not coding:
        return {}
    mask = {base for gene in genes for base in range(*body_of(gene, begin)) if 0 <= base < WINDOW}
    of_alleles = [{name: rows if of is ref else aligned(rows, position - begin, ref_text, alt_text)
                   for name, rows in of.items() if name in ("splice_sites", "1bp")} for of in (ref, alt)]
    sites = choose_sites([of["splice_sites"] for of in of_alleles], list(annotated_sites(begin)), mask)
    scores = {}
    for gene in coding:
        found = junction_scores(head, [of["1bp"] for of in of_alleles], sites, gene[3], body_of(gene, begin))
        scores[gene[0].split(".")[0]] = {(first + begin, end + begin): values for (first, end), values in found.items()}
    return scores


def check_junctions(lines, right):
    """right: {(variant, window, gene): scores of all introns}."""
    got = {}
    for line in lines:
        values = got.setdefault(tuple(line[:3]), {}).setdefault((int(line[6]), int(line[7])), {})
        assert line[10] not in values, line
        values[line[10]] = float(line[-1])
    assert got.keys() == {key for key, scores in right.items() if scores}, (got.keys(), right.keys())
    for key, introns in got.items():
        check_reported({intron: [values[f"splice_junctions {t}"] for t in range(len(values))]
                        for intron, values in introns.items()}, right[key])


def scores_of(position, ref_text, alt_text, begin, ref, alt):
    """(scorer, output, gene or None, scores of all tracks) of an allele."""
    base = position - begin
    for output, width in AGGREGATED.items():
        size = COARSE if output.startswith("CHIP") else 1
        head = f"{output.lower()}/{128 if size > 1 else 1}"
        n = -(-width // size)
        first = base // size - n // 2
        part = slice(max(first, 0), max(first + n, 0))
        before, now = column_sums(ref[head][part]), column_sums(alt[head][part])
        text = f"CenterMaskScorer(requested_output={output}, width={width}, aggregation_type="
        yield text + "DIFF_LOG2_SUM)", output, None, [math.log2(1 + a) - math.log2(1 + b) for a, b in zip(now, before)]
        yield text + "ACTIVE_SUM)", output, None, list(map(max, now, before))
    if len(ref_text) == len(alt_text):
        s, maps = WINDOW // PAIR, (ref["contact_maps"], alt["contact_maps"])
        rows = [[abs(a - b) for a, b in zip(*(m[i * s + base // PAIR] for m in maps))] for i in range(s)]
        yield "ContactMapScorer()", "CONTACT_MAPS", None, [x / s for x in column_sums(rows)]
    rna = ref["rna_seq/1"], aligned(alt["rna_seq/1"], base, ref_text, alt_text)
    for gene in GENES:
        covered = set()
        for first, last, exons in gene[4]:
            start = last if gene[3] == "-" else first - 1
            if begin <= start < begin + WINDOW:
                covered |= {i for low, high in exons for i in range(low - 1 - begin, high - begin) if 0 <= i < WINDOW}
        if covered:
            before, now = ([x / len(covered) for x in column_sums([rows[i] for i in covered])] for rows in rna)
            yield ("GeneMaskLFCScorer(requested_output=RNA_SEQ)", "RNA_SEQ", gene,
                   [math.log(a + 1e-3) - math.log(b + 1e-3) for a, b in zip(now, before)])
            yield "GeneMaskActiveScorer(requested_output=RNA_SEQ)", "RNA_SEQ", gene, list(map(max, now, before))
    for gene in genes_over(position, ref_text, alt_text):
        for output in ("SPLICE_SITES", "SPLICE_SITE_USAGE"):
            rows = aligned(alt[output.lower()], base, ref_text, alt_text)
            part = slice(*(max(end, 0) for end in body_of(gene, begin)))
            worst = [max(abs(a - b) for a, b in zip(x, y))
                     for x, y in zip(zip(*rows[part]), zip(*ref[output.lower()][part]))]
            yield f"GeneMaskSplicingScorer(requested_output={output}, width=None)", output, gene, worst
        polya = polya_score(gene, *rna, begin)
        if polya:
            yield "PolyadenylationScorer()", "RNA_SEQ", gene, polya


def track_lines(tracks, gene, merged):
    """(column of the head, name, strand) of what is written."""
    if gene is None:
        return [(i, track["name"], track["strand"]) for i, track in enumerate(tracks)]
    kept = [(i, track) for i, track in enumerate(tracks) if track["strand"] in (".", gene[3])]
    if not merged:
        return [(i, track["name"], track["strand"]) for i, track in kept]
    stranded = {track["name"] for track in tracks if track["strand"] != "."}
    return [(i, track["name"], ".") for i, track in kept if track["strand"] != "." or track["name"] not in stranded]


def check(biogpu, model, table, merged):
    letters = open("genome.fa").read().split("\n")[1]
    metadata = list(csv.DictReader(open(f"{model}/tracks_human.tsv"), delimiter="\t"))
    alleles = list(variants_of(letters))
    with open("alleles.fa", "w") as file:
        for i, (position, ref, alt) in enumerate(alleles):
            begin = position + (len(ref) + 1) // 2 - WINDOW // 2
            for key, changed in (("ref", letters), ("alt", letters[:position] + alt + letters[position + len(ref):])):
                padded = "N" * max(0, -begin) + changed[max(begin, 0):begin + WINDOW]
                file.write(f">{i}{key}\n{padded:N<{WINDOW}}\n")
    subprocess.run([biogpu, "infer", "tracks", "-q", "--device", "cpu", "--model", model, "alleles.fa", "-o",
                    "alleles.safetensors"], check=True)
    subprocess.run([biogpu, "infer", "embed", "-q", "--device", "cpu", "--model", model, "alleles.fa", "-o",
                    "embeddings.safetensors"], check=True)
    tensors, right, junctions = read_tensors("alleles.safetensors"), {}, {}
    tensors |= {name: rows for name, rows in read_tensors("embeddings.safetensors").items() if name.endswith("/1bp")}
    head = JunctionHead(model, sum(t["head"] == "splice_junctions" and t["name"] != "Padding" for t in metadata))
    for i, (position, ref, alt) in enumerate(alleles):
        begin = position + (len(ref) + 1) // 2 - WINDOW // 2
        of = [{name.split("/", 1)[1]: rows for name, rows in tensors.items() if name.startswith(f"{i}{key}/")}
              for key in ("ref", "alt")]
        for gene, scores in scores_of_junctions(head, position, ref, alt, begin, *of).items():
            junctions[f"chr1:{position + 1}:{ref}>{alt}", f"chr1:{begin}-{begin + WINDOW}:.", gene] = scores
        for scorer, output, gene, values in scores_of(position, ref, alt, begin, *of):
            tracks = [t for t in metadata if t["head"] == output.lower() and t["name"] != "Padding"]
            assert len(tracks) == len(values), (output, len(tracks), len(values))
            described = (gene[0].split(".")[0], *gene[1:4]) if gene else ("",) * 4
            for column, name, strand in track_lines(tracks, gene, merged):
                key = (f"chr1:{position + 1}:{ref}>{alt}", f"chr1:{begin}-{begin + WINDOW}:.", *described, "", "", output,
                       scorer, name, strand, tracks[column]["Assay title"], tracks[column]["ontology_curie"])
                assert key not in right, key
                right[key] = values[column]
    with open(table) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    assert lines[0] == ("variant_id scored_interval gene_id gene_name gene_type gene_strand junction_Start junction_End "
                        "output_type variant_scorer track_name track_strand").split() + \
        ["Assay title", "ontology_curie", "raw_score"], lines[0]
    of_junctions = [line for line in lines[1:] if line[9] == "SpliceJunctionScorer()"]
    lines = [line for line in lines if line[9] != "SpliceJunctionScorer()"]
    assert len(of_junctions) > 20 and all(line[2] == "ENSG1" for line in of_junctions)
    check_junctions(of_junctions, junctions)
    got = {tuple(line[:-1]): float(line[-1]) for line in lines[1:]}
    assert len(got) == len(lines) - 1, "a line twice"
    assert got.keys() == right.keys(), (sorted(got.keys() - right.keys())[:3], sorted(right.keys() - got.keys())[:3])
    for key, value in right.items():
        # Values have six digits; logarithms of sums lose some to the subtraction.
        assert abs(got[key] - value) <= 2e-5 * max(abs(value), 0.02), (key, got[key], value)
    print(f"{len(alleles)} alleles, {len(right)} scores, {len(of_junctions)} of junctions")


def check_intervals(arrays, model, table):
    tensors = read_tensors(arrays)
    metadata = list(csv.DictReader(open(f"{model}/tracks_human.tsv"), delimiter="\t"))
    right = {}
    for name, rows in tensors.items():
        region, head = name.split("/", 1)
        begin = int(region.split(":")[1].split("-")[0]) - 1
        output = head.split("/")[0].upper()
        width, how, size = {"RNA_SEQ": (501, "MEAN", 1), "CHIP_TF": (None, "SUM", COARSE), "SPLICE_SITES": (None, "MEAN", 1)}[output]
        first = begin + (WINDOW - width) // 2 if width else begin
        last = first + (width or WINDOW)
        tracks = [t for t in metadata if t["head"] == output.lower() and t["name"] != "Padding"]
        for gene in GENES:
            bins = {(i - 1 - begin) // size for start, end, exons in gene[4]
                    if first <= (end if gene[3] == "-" else start - 1) < last
                    for low, high in exons for i in range(low, high + 1) if first < i <= last}
            for column, name, strand in track_lines(tracks, gene, False):
                key = (f"chr1:{begin}-{begin + WINDOW}:.", gene[0].split(".")[0], output,
                       f"GeneMaskScorer(requested_output={output}, width={width}, aggregation_type={how})", name, strand)
                if bins:
                    right[key] = math.fsum(rows[i][column] for i in bins) / (len(bins) if how == "MEAN" else 1)
    with open(table) as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    assert lines[0][:2] == ["scored_interval", "gene_id"] and lines[0][8] == "interval_scorer", lines[0]
    got = {(line[0], line[1], *line[7:11]): float(line[-1]) for line in lines[1:]}
    assert len(got) == len(lines) - 1 and got.keys() == right.keys() and len(right) > 20, (len(got), len(lines), len(right))
    for key, value in right.items():
        assert abs(got[key] - value) <= 1e-5 * abs(value), (key, got[key], value)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make()
    elif sys.argv[1] == "check":
        check(*sys.argv[2:5], len(sys.argv) > 5)
    else:
        check_intervals(*sys.argv[2:])
