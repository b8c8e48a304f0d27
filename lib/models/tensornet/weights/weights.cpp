#include "lib/models/tensornet/weights/weights.hpp"

#include <initializer_list>
#include <utility>

#include "lib/models/tensornet/weights/radial_fit.hpp"

namespace biogpu::models::tensornet {
namespace {

using tensor::Context;
using tensor::DType;
using tensor::Linear;
using tensor::Norm;
using tensor::Tensor;

// Of the largest slope of a function.
constexpr double kSlopeErrorF32 = 2e-7, kSlopeErrorF64 = 2e-9;

// Numbers of the host as a context wants them.
class RealArray {
 public:
  RealArray(const Context& context, const std::vector<double>& values,
            std::initializer_list<std::int64_t> shape)
      : doubles_(values) {
    if (real_type(context) == DType::f32) floats_.assign(values.begin(), values.end());
    void* const data = floats_.empty() ? static_cast<void*>(doubles_.data()) : floats_.data();
    tensor_ = Tensor(data, real_type(context), shape);
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  std::vector<double> doubles_;
  std::vector<float> floats_;
  Tensor tensor_;
};

Tensor upload(Context& context, const std::vector<double>& values,
              std::initializer_list<std::int64_t> shape) {
  return context.upload(RealArray(context, values, shape).tensor(), DType::f32);
}

Linear upload_linear(Context& context, const HostLinear& linear) {
  const RealArray weight(context, linear.weight, {linear.n_out, linear.n_in});
  if (linear.bias.empty()) return context.upload_linear(weight.tensor(), {});
  const RealArray bias(context, linear.bias, {linear.n_out});
  return context.upload_linear(weight.tensor(), bias.tensor());
}

// The vendor's library truncates long sums towards zero. In the forward pass these errors add up in
// the energy. Forces were within their bound with it, so the backward map uses the library.
Map upload_map(Context& context, const HostLinear& linear) {
  HostLinear back{linear.n_in, linear.n_out, {}, {}};
  const auto n_out = static_cast<std::size_t>(linear.n_out),
             n_in = static_cast<std::size_t>(linear.n_in);
  for (std::size_t k = 0; k < n_in; ++k)
    for (std::size_t o = 0; o < n_out; ++o) back.weight.push_back(linear.weight[o * n_in + k]);
  Map map{upload_linear(context, linear), upload_linear(context, back)};
  map.forward.sum_in_parts = true;
  return map;
}

// With rows of zeros behind the one that gives the energy.
std::vector<Map> upload_chain(Context& context, std::vector<HostLinear> chain) {
  std::vector<Map> maps;
  if (!chain.empty()) {
    HostLinear& last = chain.back();
    last.n_out = kEnergyColumns;
    last.weight.resize(static_cast<std::size_t>(last.n_out * last.n_in));
    last.bias.resize(static_cast<std::size_t>(last.n_out));
  }
  for (const HostLinear& linear : chain) maps.push_back(upload_map(context, linear));
  return maps;
}

Norm upload_norm(Context& context, const HostNorm& norm) {
  const auto d = static_cast<std::int64_t>(norm.weight.size());
  return {upload(context, norm.weight, {d}), upload(context, norm.bias, {d}), 1e-5f};
}

Tensor upload_table(const Config& config, const RadialFunctions& functions, Context& context) {
  const double bound = real_type(context) == DType::f64 ? kSlopeErrorF64 : kSlopeErrorF32;
  // The ends as operations have them, so that their rounding moves no distance.
  const auto lower = static_cast<double>(static_cast<float>(config.cutoff_lower)),
             upper = static_cast<double>(static_cast<float>(config.cutoff_upper));
  const RadialFit fit = fit_radial(functions, lower, upper, bound);
  return upload(context, fit.coefficients, {fit.n_intervals, 4, fit.n_functions});
}

void upload_charges(const Config& config, const HostWeights& host, Context& context,
                    Weights& weights) {
  const RadialFunctions cutoff(config, host, RadialFunctions::Part::cutoff);
  weights.cutoff = upload_table(config, cutoff, context);
  for (const HostChargeHead& from : host.charge_heads) {
    ChargeHead head{upload_norm(context, from.norm), {}};
    for (const HostLinear& linear : from.maps) head.maps.push_back(upload_map(context, linear));
    weights.charge_heads.push_back(std::move(head));
  }
  if (config.has_coulomb)
    weights.coulomb_weights = upload(context, host.coulomb_weights,
                                     {static_cast<std::int64_t>(host.coulomb_weights.size())});
}

}  // namespace

DType real_type(const Context& context) {
  return context.kind() == Context::Kind::reference ? DType::f64 : DType::f32;
}

Weights upload_weights(const Config& config, const HostWeights& host, Context& context) {
  Weights weights;
  weights.real = real_type(context);
  const std::int64_t f = config.width;
  using Part = RadialFunctions::Part;
  weights.radial = upload_table(config, {config, host, Part::embedding}, context);
  weights.receiver = upload(context, host.receiver, {config.n_types, f});
  weights.neighbour = upload(context, host.neighbour, {config.n_types, f});
  weights.embedding_norm = upload_norm(context, host.embedding_norm);
  for (int i = 0; i < 2; ++i)
    weights.embedding_scalars[i] = upload_map(context, host.embedding_scalars[i]);
  for (int i = 0; i < 3; ++i)
    weights.embedding_tensors[i] = upload_map(context, host.embedding_tensors[i]);
  for (std::int64_t index = 0; index < config.n_layers; ++index) {
    Layer layer;
    const HostLayer& from = host.layers[static_cast<std::size_t>(index)];
    const Part part = config.n_charges > 0 ? Part::first_map : Part::layer;
    layer.radial = upload_table(config, {config, host, part, index}, context);
    for (int i = 0; i < 6; ++i) layer.tensors[i] = upload_map(context, from.tensors[i]);
    if (config.n_charges > 0) {
      layer.receiver_charges = upload_map(context, from.receiver_charges);
      layer.neighbour_charges = upload_map(context, from.neighbour_charges);
      for (int i = 0; i < 2; ++i) layer.radial_maps[i] = upload_map(context, from.radial[i + 1]);
    }
    weights.layers.push_back(std::move(layer));
  }
  if (config.n_charges > 0) upload_charges(config, host, context, weights);
  weights.readout_norm = upload_norm(context, host.readout_norm);
  weights.readout = upload_map(context, host.readout);
  weights.head = upload_chain(context, host.head);
  weights.gate = upload_chain(context, host.gate);
  return weights;
}

}  // namespace biogpu::models::tensornet
