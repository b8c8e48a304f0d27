set(sources diffusion_transformer.cpp)
