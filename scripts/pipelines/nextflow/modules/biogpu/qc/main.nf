process BIOGPU_QC {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${task.accelerator ? 'biogpu:0.1.0-cuda' : 'biogpu:0.1.0-cpu'}"

    input:
    tuple val(meta), path(reads)
    val shard

    output:
    tuple val(meta), path('*.clean.fastq.gz'), emit: reads
    tuple val(meta), path('*.fastp.json'), emit: json
    tuple val(meta), path('*.fastp.html'), emit: html
    tuple val(meta), path('*.part'), emit: part
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def device = task.accelerator ? 'gpu' : 'cpu'
    def shard_option = shard ? "--shard ${shard}" : ''
    def files = meta.single_end
        ? "-i ${reads} -o ${prefix}.clean.fastq.gz"
        : "-i ${reads[0]} -I ${reads[1]} -o ${prefix}_1.clean.fastq.gz -O ${prefix}_2.clean.fastq.gz"
    """
    biogpu qc \\
        --thread ${task.cpus} \\
        --device ${device} \\
        ${shard_option} \\
        ${args} \\
        ${files} \\
        --part ${prefix}.part \\
        --json ${prefix}.fastp.json \\
        --html ${prefix}.fastp.html
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    def stub_reads = meta.single_end
        ? "echo '' | gzip > ${prefix}.clean.fastq.gz"
        : "echo '' | gzip > ${prefix}_1.clean.fastq.gz ; echo '' | gzip > ${prefix}_2.clean.fastq.gz"
    """
    ${stub_reads}
    touch ${prefix}.part ${prefix}.fastp.json ${prefix}.fastp.html
    """
}
