process BIOGPU_BWT_INDEX {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${task.accelerator ? 'biogpu:0.1.0-cuda' : 'biogpu:0.1.0-cpu'}"

    input:
    tuple val(meta), path(fasta)

    output:
    tuple val(meta), path('biogpu'), emit: index
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def device = task.accelerator ? 'gpu' : 'cpu'
    """
    mkdir biogpu
    biogpu bwt index \\
        --threads ${task.cpus} \\
        --device ${device} \\
        ${args} \\
        -p biogpu/${prefix} \\
        ${fasta}
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    mkdir biogpu
    touch biogpu/${prefix}.bgfm
    """
}
