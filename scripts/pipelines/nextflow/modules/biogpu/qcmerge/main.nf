process BIOGPU_QCMERGE {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container 'biogpu:0.1.0-cpu'

    input:
    tuple val(meta), path(parts)

    output:
    tuple val(meta), path('*.fastp.json'), emit: json
    tuple val(meta), path('*.fastp.html'), emit: html
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    biogpu qc-merge \\
        ${args} \\
        --json ${prefix}.fastp.json \\
        --html ${prefix}.fastp.html \\
        ${parts}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.fastp.json ${prefix}.fastp.html
    """
}
