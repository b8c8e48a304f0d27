process BIOGPU_BWT_SMEM {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${task.accelerator ? 'biogpu:0.1.0-cuda' : 'biogpu:0.1.0-cpu'}"

    input:
    tuple val(meta), path(queries)
    tuple val(meta2), path(index)
    val shard

    output:
    tuple val(meta), path('*.txt'), emit: matches
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def device = task.accelerator ? 'gpu' : 'cpu'
    def shard_option = shard ? "--shard ${shard}" : ''
    """
    INDEX=`find -L ./ -name "*.amb" | sed 's/\\.amb\$//'`

    biogpu bwt smem \\
        --threads ${task.cpus} \\
        --device ${device} \\
        ${shard_option} \\
        ${args} \\
        -x \$INDEX \\
        ${queries} \\
        -o ${prefix}.txt
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.txt
    """
}
