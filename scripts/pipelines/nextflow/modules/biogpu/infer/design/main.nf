process BIOGPU_INFER_DESIGN {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container "${task.accelerator ? 'biogpu:0.1.0-cuda' : 'biogpu:0.1.0-cpu'}"

    input:
    tuple val(meta), path(structures)
    path model
    val shard

    output:
    tuple val(meta), path('*.fa'), emit: designs
    tuple val("${task.process}"), val('biogpu'), eval("biogpu --version | sed -n '1s/biogpu //p'"), topic: versions, emit: versions_biogpu

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def device = task.accelerator ? 'gpu' : 'cpu'
    def shard_option = shard ? "--shard ${shard}" : ''
    """
    biogpu infer design \\
        --threads ${task.cpus} \\
        --device ${device} \\
        ${shard_option} \\
        ${args} \\
        --model ${model} \\
        ${structures} \\
        -o ${prefix}.fa
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.fa
    """
}
