process BIOGPU_GATHER {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container 'biogpu:0.1.0-cpu'

    input:
    tuple val(meta), path(parts)
    val suffix

    output:
    tuple val(meta), path("${prefix}.${suffix}*"), emit: joined
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    biogpu gather \\
        ${args} \\
        -o ${prefix}.${suffix} \\
        ${parts}
    """

    stub:
    prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.${suffix}
    """
}
