process BIOGPU_KMER_MERGE {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container 'biogpu:0.1.0-cpu'

    input:
    tuple val(meta), path(databases)

    output:
    tuple val(meta), path('*.jf'), emit: database
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    biogpu kmer merge \\
        ${args} \\
        --output ${prefix}.jf \\
        ${databases}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.jf
    """
}
