#include "lib/io/images/decoder_module.hpp"

using namespace biogpu::io::images;

const DecoderModule* biogpu_image_decoders() {
  static constexpr DecoderModule kModule{DecoderModule::kInterface, decode_png, decode_jpeg,
                                         decode_tiff, count_tiff_pages};
  return &kModule;
}
