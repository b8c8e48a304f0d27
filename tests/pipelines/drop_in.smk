# A workflow for the public wrappers of fastp, jellyfish and bwa index, in which config names the wrapper of each: those
# of the public repository or those of biogpu. Each rule uses what the public wrapper documents.
rule all:
    input:
        "se.json",
        "pe.json",
        "report.json",
        "genome.sa",
        "other/named.sa",
        "ab.jf",
        "reads.dump",
        "reads.histo",


# Reverse complements, every third with qualities of 0: the mates overlap.
rule mates:
    input:
        "reads.fq.gz",
    output:
        "mates.fq.gz",
    shell:
        r"""
        gzip -dc {input} | awk '
          function turned(text, is_bases,   i, out, at) {{
            for (i = length(text); i > 0; --i) {{
              at = is_bases ? index("ACGT", substr(text, i, 1)) : 0
              out = out (at ? substr("TGCA", at, 1) : substr(text, i, 1))
            }}
            return out
          }}
          NR % 4 == 2 {{ $0 = turned($0, 1) }}
          NR % 4 == 0 {{ $0 = turned($0, 0); if (NR % 12 == 0) gsub(/./, "!") }}
          1' | gzip > {output}
        """


rule fastp_se:
    input:
        sample=["reads.fq.gz"],
    output:
        trimmed="se.fastq",
        failed="se.failed.fastq",
        html="se.html",
        json="se.json",
    log:
        "logs/se.log",
    params:
        adapters="--adapter_sequence ACGGCTAGCTA",
        extra="",
    threads: 1
    wrapper:
        config["fastp"]


rule fastp_pe:
    input:
        sample=["reads.fq.gz", "mates.fq.gz"],
    output:
        trimmed=["pe.1.fastq", "pe.2.fastq"],
        unpaired1="pe.u1.fastq",
        unpaired2="pe.u2.fastq",
        merged="pe.merged.fastq",
        failed="pe.failed.fastq",
        html="pe.html",
        json="pe.json",
    log:
        "logs/pe.log",
    params:
        adapters="--adapter_sequence ACGGCTAGCTA --adapter_sequence_r2 AGATCGGAAGAGCACACGTCTGAACTCCAGTCAC",
        extra="--merge",
    threads: 2
    wrapper:
        config["fastp"]


rule fastp_report:
    input:
        sample=["reads.fq.gz", "mates.fq.gz"],
    output:
        html="report.html",
        json="report.json",
    params:
        extra="",
    threads: 2
    wrapper:
        config["fastp"]


rule bwa_index:
    input:
        "genome.fa",
    output:
        idx=multiext("genome", ".amb", ".ann", ".bwt", ".pac", ".sa"),
    log:
        "logs/bwa_index.log",
    params:
        extra="-a bwtsw",
    wrapper:
        config["bwa_index"]


rule bwa_index_prefix:
    input:
        "genome.fa",
    output:
        multiext("other/named", ".amb", ".ann", ".bwt", ".pac", ".sa"),
    params:
        prefix="other/named",
    wrapper:
        config["bwa_index"]


rule jellyfish_count:
    input:
        "{name}.fa",
    output:
        "{name}.jf",
    log:
        "logs/{name}.jf.log",
    params:
        kmer_length=21,
        size="1M",
        extra="--canonical",
    threads: 2
    wrapper:
        config["jellyfish_count"]


rule jellyfish_merge:
    input:
        "genome.jf",
        "windows.jf",
    output:
        "ab.jf",
    log:
        "logs/merge.log",
    wrapper:
        config["jellyfish_merge"]


ruleorder: jellyfish_merge > jellyfish_count


rule jellyfish_dump:
    input:
        "ab.jf",
    output:
        "reads.dump",
    log:
        "logs/dump.log",
    params:
        extra="-c -t",
    wrapper:
        config["jellyfish_dump"]


rule jellyfish_histo:
    input:
        "ab.jf",
    output:
        "reads.histo",
    log:
        "logs/histo.log",
    threads: 2
    wrapper:
        config["jellyfish_histo"]
