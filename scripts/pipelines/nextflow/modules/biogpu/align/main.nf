process BIOGPU_ALIGN {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${task.accelerator ? 'biogpu:0.1.0-cuda' : 'biogpu:0.1.0-cpu'}"

    input:
    tuple val(meta), path(query), path(target)
    val mode
    val suffix
    val shard

    output:
    tuple val(meta), path('*.{tsv,sam,bam,paf,csv,blast6}'), emit: alignments
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def device = task.accelerator ? 'gpu' : 'cpu'
    def shard_option = shard ? "--shard ${shard}" : ''
    """
    biogpu align \\
        --quiet \\
        --threads ${task.cpus} \\
        --device ${device} \\
        ${shard_option} \\
        ${args} \\
        --mode ${mode} \\
        ${query} \\
        ${target} \\
        -o ${prefix}.${suffix}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.${suffix}
    """
}
