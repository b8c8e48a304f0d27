// The names of the known adapters, one a line, in the order of their sequences: as fastp's log has
// them, from the lists of those who sell or gather them.
#include <algorithm>

#include "lib/qc/prepare/known_adapters.hpp"

namespace biogpu::qc {
namespace {

constexpr std::string_view kKnownNames = R"(>QIASeq miRNA adapter
>MGI/BGI adapter (forward)
>MGI/BGI adapter (reverse)
>Illumina DpnII expression PCR Primer 2 | >Illumina NlaIII expression PCR Primer 2 | >Illumina Small RNA PCR Primer 2 | >Illumina DpnII Gex PCR Primer 2 | >Illumina NlaIII Gex PCR Primer 2
>Illumina RNA PCR Primer
>TruSeq_Universal_Adapter | >PrefixPE/1 | >PCR_Primer1 | >Illumina Single End PCR Primer 1 | >Illumina Paried End PCR Primer 1 | >Illumina Multiplexing PCR Primer 1.01 | >TruSeq Universal Adapter | >TruSeq_Universal_Adapter | >PrefixPE/1 | >PCR_Primer1
>pcr_dimer
>PCR_Primers
>Illumina Single End Sequencing Primer | >Illumina Paired End Adapter 1 | >Illumina Paried End Sequencing Primer 1 | >Illumina Multiplexing Adapter 2 | >Illumina Multiplexing Read1 Sequencing Primer
>Illumina TruSeq Adapter Read 1
>PE2_rc | >TruSeq3_IndexedAdapter | >PE2_rc | >TruSeq3_IndexedAdapter
>Reverse_adapter
>TruSeq2_PE_r
>PCR_Primer2_rc
>PhiX_read1_adapter
>Illumina TruSeq Adapter Read 2
>PE1_rc | >TruSeq3_UniversalAdapter | >PE1_rc | >TruSeq3_UniversalAdapter
>PCR_Primer1_rc
>PhiX_read2_adapter
>TruSeq2_SE
>RNA PCR Primer, Index 35
>Illumina PCR Primer Index 10
>RNA PCR Primer, Index 10
>Illumina PCR Primer Index 2
>RNA PCR Primer, Index 2
>RNA PCR Primer, Index 38
>RNA PCR Primer, Index 27
>RNA PCR Primer, Index 25
>RNA PCR Primer, Index 31
>RNA PCR Primer, Index 44
>RNA PCR Primer, Index 37
>Illumina PCR Primer Index 6
>RNA PCR Primer, Index 6
>Illumina PCR Primer Index 5
>RNA PCR Primer, Index 5
>RNA PCR Primer, Index 23
>RNA PCR Primer, Index 30
>RNA PCR Primer, Index 21
>RNA PCR Primer, Index 42
>RNA PCR Primer, Index 33
>PrefixPE/2 | >PCR_Primer2 | >Illumina Paired End PCR Primer 2 | >PrefixPE/2 | >PCR_Primer2
>RNA PCR Primer, Index 22
>Illumina PCR Primer Index 1
>RNA PCR Primer, Index 1
>RNA PCR Primer, Index 17
>Illumina PCR Primer Index 9
>RNA PCR Primer, Index 9
>RNA PCR Primer, Index 47
>RNA PCR Primer, Index 28
>RNA PCR Primer, Index 45
>Illumina PCR Primer Index 7
>RNA PCR Primer, Index 7
>RNA PCR Primer, Index 34
>Illumina PCR Primer Index 3
>RNA PCR Primer, Index 3
>RNA PCR Primer, Index 18
>RNA PCR Primer, Index 24
>RNA PCR Primer, Index 26
>RNA PCR Primer, Index 43
>RNA PCR Primer, Index 14
>RNA PCR Primer, Index 16
>RNA PCR Primer, Index 20
>Illumina PCR Primer Index 11
>RNA PCR Primer, Index 11
>RNA PCR Primer, Index 39
>RNA PCR Primer, Index 41
>Illumina PCR Primer Index 12
>RNA PCR Primer, Index 12
>RNA PCR Primer, Index 29
>Illumina PCR Primer Index 8
>RNA PCR Primer, Index 8
>RNA PCR Primer, Index 46
>RNA PCR Primer, Index 40
>RNA PCR Primer, Index 15
>RNA PCR Primer, Index 32
>RNA PCR Primer, Index 48
>Illumina PCR Primer Index 4
>RNA PCR Primer, Index 4
>RNA PCR Primer, Index 36
>RNA PCR Primer, Index 13
>RNA PCR Primer, Index 19
>Illumina Single End Adapter 2 | >Illumina Single End PCR Primer 2
>ABI Solid3 Adapter B
>Illumina NlaIII expression Sequencing Primer | >Illumina NlaIII Gex Sequencing Primer
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N711 | >I7_Primer_Nextera_XT_Index_Kit_v2_N711 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N711 | >I7_Primer_Nextera_XT_Index_Kit_v2_N711
>I7_Primer_Nextera_XT_Index_Kit_v2_N716
>I7_Primer_Nextera_XT_Index_Kit_v2_N724
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N703 | >I7_Primer_Nextera_XT_Index_Kit_v2_N703 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N703 | >I7_Primer_Nextera_XT_Index_Kit_v2_N703
>I7_Primer_Nextera_XT_Index_Kit_v2_N715
>I7_Primer_Nextera_XT_Index_Kit_v2_N722
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N708
>I7_Primer_Nextera_XT_Index_Kit_v2_N726
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N710 | >I7_Primer_Nextera_XT_Index_Kit_v2_N710 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N710 | >I7_Primer_Nextera_XT_Index_Kit_v2_N710
>I7_Primer_Nextera_XT_Index_Kit_v2_N727
>I7_Primer_Nextera_XT_Index_Kit_v2_N720
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N702 | >I7_Primer_Nextera_XT_Index_Kit_v2_N702 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N702 | >I7_Primer_Nextera_XT_Index_Kit_v2_N702
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N707 | >I7_Primer_Nextera_XT_Index_Kit_v2_N707 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N707 | >I7_Primer_Nextera_XT_Index_Kit_v2_N707
>I7_Primer_Nextera_XT_Index_Kit_v2_N719
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N709
>I7_Primer_Nextera_XT_Index_Kit_v2_N714
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N705 | >I7_Primer_Nextera_XT_Index_Kit_v2_N705 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N705 | >I7_Primer_Nextera_XT_Index_Kit_v2_N705
>I7_Primer_Nextera_XT_Index_Kit_v2_N718
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N712 | >I7_Primer_Nextera_XT_Index_Kit_v2_N712 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N712 | >I7_Primer_Nextera_XT_Index_Kit_v2_N712
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N701 | >I7_Primer_Nextera_XT_Index_Kit_v2_N701 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N701 | >I7_Primer_Nextera_XT_Index_Kit_v2_N701
>I7_Primer_Nextera_XT_Index_Kit_v2_N721
>I7_Primer_Nextera_XT_Index_Kit_v2_N723
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N706 | >I7_Primer_Nextera_XT_Index_Kit_v2_N706 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N706 | >I7_Primer_Nextera_XT_Index_Kit_v2_N706
>I7_Primer_Nextera_XT_and_Nextera_Enrichment_N704 | >I7_Primer_Nextera_XT_Index_Kit_v2_N704 | >I7_Primer_Nextera_XT_and_Nextera_Enrichment_N704 | >I7_Primer_Nextera_XT_Index_Kit_v2_N704
>I7_Primer_Nextera_XT_Index_Kit_v2_N729
>I7_Primer_Nextera_XT_Index_Kit_v2_N728
>Illumina DpnII expression Sequencing Primer | >Illumina Small RNA Sequencing Primer | >Illumina DpnII Gex Sequencing Primer
>Illumina Paired End Sequencing Primer 2
>Clontech Universal Primer Mix Long
>I7_Adapter_Nextera_No_Barcode
>I5_Adapter_Nextera
>ABI Solid3 Adapter A
>I7_Nextera_Transposase_1 | >Trans2_rc | >I7_Nextera_Transposase_1 | >Trans2_rc
>I7_Nextera_Transposase_2
>I5_Nextera_Transposase_2
>I5_Nextera_Transposase_1 | >Trans1_rc | >I5_Nextera_Transposase_1 | >Trans1_rc
>I5_Primer_Nextera_XT_Index_Kit_v2_S516
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]503 | >I5_Primer_Nextera_XT_Index_Kit_v2_S503 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]503 | >I5_Primer_Nextera_XT_Index_Kit_v2_S503
>I5_Primer_Nextera_XT_Index_Kit_v2_S515
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]508 | >I5_Primer_Nextera_XT_Index_Kit_v2_S508 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]508 | >I5_Primer_Nextera_XT_Index_Kit_v2_S508
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]502 | >I5_Primer_Nextera_XT_Index_Kit_v2_S502 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]502 | >I5_Primer_Nextera_XT_Index_Kit_v2_S502
>I5_Primer_Nextera_XT_Index_Kit_v2_S520
>I5_Primer_Nextera_XT_Index_Kit_v2_S510
>I5_Primer_Nextera_XT_Index_Kit_v2_S511
>I5_Primer_Nextera_XT_Index_Kit_v2_S513
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]505 | >I5_Primer_Nextera_XT_Index_Kit_v2_S505 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]505 | >I5_Primer_Nextera_XT_Index_Kit_v2_S505
>I5_Primer_Nextera_XT_Index_Kit_v2_S518
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]501
>I5_Primer_Nextera_XT_Index_Kit_v2_S521
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]507 | >I5_Primer_Nextera_XT_Index_Kit_v2_S507 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]507 | >I5_Primer_Nextera_XT_Index_Kit_v2_S507
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]506 | >I5_Primer_Nextera_XT_Index_Kit_v2_S506 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]506 | >I5_Primer_Nextera_XT_Index_Kit_v2_S506
>I5_Primer_Nextera_XT_Index_Kit_v2_S522
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]504
>I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]517 | >I5_Primer_Nextera_XT_Index_Kit_v2_S517 | >I5_Primer_Nextera_XT_and_Nextera_Enrichment_[N/S/E]517 | >I5_Primer_Nextera_XT_Index_Kit_v2_S517
>Nextera_LMP_Read1_External_Adapter | >Illumina Multiplexing Index Sequencing Primer
>TruSeq_Adapter_Index_5 | >TruSeq Adapter, Index 5
>TruSeq_Adapter_Index_25
>TruSeq Adapter, Index 25
>TruSeq_Adapter_Index_8 | >TruSeq Adapter, Index 8
>TruSeq_Adapter_Index_13
>TruSeq Adapter, Index 13
>TruSeq_Adapter_Index_14
>TruSeq Adapter, Index 14
>TruSeq_Adapter_Index_1_6 | >TruSeq Adapter, Index 1
>TruSeq_Adapter_Index_15
>TruSeq Adapter, Index 15
>TruSeq_Adapter_Index_27
>TruSeq Adapter, Index 27
>TruSeq_Adapter_Index_7 | >TruSeq Adapter, Index 7
>TruSeq Adapter, Index 23
>TruSeq_Adapter_Index_16
>TruSeq Adapter, Index 16
>TruSeq_Adapter_Index_2 | >TruSeq Adapter, Index 2
>TruSeq_Adapter_Index_22
>TruSeq Adapter, Index 22
>TruSeq_Adapter_Index_12 | >TruSeq Adapter, Index 12
>TruSeq_Adapter_Index_23
>TruSeq_Adapter_Index_9 | >TruSeq Adapter, Index 9
>TruSeq_Adapter_Index_6 | >TruSeq Adapter, Index 6
>TruSeq_Adapter_Index_11 | >TruSeq Adapter, Index 11
>TruSeq_Adapter_Index_18_7
>TruSeq Adapter, Index 18
>TruSeq_Adapter_Index_19
>TruSeq Adapter, Index 19
>TruSeq_Adapter_Index_20
>TruSeq Adapter, Index 20
>TruSeq_Adapter_Index_21
>TruSeq Adapter, Index 21
>TruSeq_Adapter_Index_10 | >TruSeq Adapter, Index 10
>TruSeq_Adapter_Index_4 | >TruSeq Adapter, Index 4
>TruSeq_Adapter_Index_3 | >TruSeq Adapter, Index 3
>Illumina Paired End Adapter 2
>Nextera_LMP_Read2_External_Adapter
>Illumina Single End Adapter 1
>Illumina Small RNA Adapter Read 2
>Trans2
>PrefixPE/2 | >PE2 | >Illumina Multiplexing PCR Primer 2.01 | >Illumina Multiplexing Read2 Sequencing Primer | >PrefixPE/2 | >PE2
>PrefixPE/1 | >PE1 | >PrefixPE/1 | >PE1
>RNA_PCR_Primer_(RP1)_part_#_15013198
>Trans1
>RNA_PCR_Primer_Index_5_(RPI5)
>RNA_PCR_Primer_Index_25_(RPI25)
>RNA_PCR_Primer_Index_8_(RPI8)
>RNA_PCR_Primer_Index_13_(RPI13)
>RNA_PCR_Primer_Index_14_(RPI14)
>RNA_PCR_Primer_Index_1_(RPI1)_2,9
>RNA_PCR_Primer_Index_26_(RPI26)
>RNA_PCR_Primer_Index_15_(RPI15)
>RNA_PCR_Primer_Index_27_(RPI27)
>RNA_PCR_Primer_Index_28_(RPI28)
>RNA_PCR_Primer_Index_29_(RPI29)
>RNA_PCR_Primer_Index_30_(RPI30)
>RNA_PCR_Primer_Index_31_(RPI31)
>RNA_PCR_Primer_Index_32_(RPI32)
>RNA_PCR_Primer_Index_7_(RPI7)
>RNA_PCR_Primer_Index_33_(RPI33)
>RNA_PCR_Primer_Index_34_(RPI34)
>RNA_PCR_Primer_Index_35_(RPI35)
>RNA_PCR_Primer_Index_36_(RPI36)
>RNA_PCR_Primer_Index_16_(RPI16)
>RNA_PCR_Primer_Index_2_(RPI2)
>RNA_PCR_Primer_Index_37_(RPI37)
>RNA_PCR_Primer_Index_22_(RPI22)
>RNA_PCR_Primer_Index_38_(RPI38)
>RNA_PCR_Primer_Index_39_(RPI39)
>RNA_PCR_Primer_Index_40_(RPI40)
>RNA_PCR_Primer_Index_12_(RPI12)
>RNA_PCR_Primer_Index_41_(RPI41)
>RNA_PCR_Primer_Index_23_(RPI23)
>RNA_PCR_Primer_Index_9_(RPI9)
>RNA_PCR_Primer_Index_6_(RPI6)
>RNA_PCR_Primer_Index_11_(RPI11)
>RNA_PCR_Primer_Index_24_(RPI24)
>RNA_PCR_Primer_Index_17_(RPI17)
>RNA_PCR_Primer_Index_18_(RPI18)
>RNA_PCR_Primer_Index_19_(RPI19)
>RNA_PCR_Primer_Index_20_(RPI20)
>RNA_PCR_Primer_Index_21_(RPI21)
>RNA_PCR_Primer_Index_42_(RPI42)
>RNA_PCR_Primer_Index_43_(RPI43)
>RNA_PCR_Primer_Index_10_(RPI10)
>RNA_PCR_Primer_Index_44_(RPI44)
>RNA_PCR_Primer_Index_45_(RPI45)
>RNA_PCR_Primer_Index_46_(RPI46)
>RNA_PCR_Primer_Index_47_(RPI47)
>RNA_PCR_Primer_Index_48_(RPI48)
>RNA_PCR_Primer_Index_4_(RPI4)
>RNA_PCR_Primer_Index_3_(RPI3)
>FlowCell1
>FlowCell2
)";

}  // namespace

std::string_view known_adapter_name(std::string_view sequence) {
  const std::span<const std::string_view> all = known_adapters_of_fastp_1();
  const auto at = std::lower_bound(all.begin(), all.end(), sequence);
  if (at == all.end() || *at != sequence) return {};
  std::string_view names = kKnownNames;
  for (auto i = at - all.begin(); i > 0; --i) names.remove_prefix(names.find('\n') + 1);
  return names.substr(0, names.find('\n'));
}

}  // namespace biogpu::qc
