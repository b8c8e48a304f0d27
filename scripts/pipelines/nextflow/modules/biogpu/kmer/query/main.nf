process BIOGPU_KMER_QUERY {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container 'biogpu:0.1.0-cpu'

    input:
    tuple val(meta), path(database)
    tuple val(meta2), path(sequences)

    output:
    tuple val(meta), path('*.txt'), emit: counts
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    biogpu kmer query \\
        ${args} \\
        -s ${sequences} \\
        -o ${prefix}.txt \\
        ${database}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.txt
    """
}
