# A .deb by CPack: scripts/packaging/deb.sh configures, builds and packs. Its dependencies are what the
# program is linked with.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME biogpu)
set(CPACK_PACKAGE_CONTACT "The biogpu authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "sequence analysis on CPUs and GPUs")
set(CPACK_PACKAGE_DESCRIPTION
    "Alignment, k-mer counting, Burrows-Wheeler indexes, quality control of reads and protein
language models, from file to file, with the formats of Parasail, Jellyfish, bwa and fastp.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "samtools, snakemake, multiqc")
include(CPack)
