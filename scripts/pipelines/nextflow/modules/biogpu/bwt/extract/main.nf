process BIOGPU_BWT_EXTRACT {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container 'biogpu:0.1.0-cpu'

    input:
    tuple val(meta), path(index)
    val region

    output:
    tuple val(meta), path('*.fa'), emit: fasta
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    INDEX=`find -L ./ -name "*.bgfm" | sed 's/\\.bgfm\$//'`

    biogpu bwt extract \\
        ${args} \\
        -x \$INDEX \\
        ${region} \\
        > ${prefix}.fa
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.fa
    """
}
