#pragma once

// The HIP names that biogpu uses, over the CUDA runtime: a whitelist, so that a name that is
// missing here is a decision to be made. Scoped functions instead of macros, so that names stay
// debuggable.
#include <cuda_runtime.h>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipDeviceProp_t = cudaDeviceProp;
using hipMemcpyKind = cudaMemcpyKind;
using hipFuncAttribute = cudaFuncAttribute;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipGraphNode_t = cudaGraphNode_t;
using hipStreamCaptureMode = cudaStreamCaptureMode;

inline constexpr hipError_t hipSuccess = cudaSuccess;
inline constexpr hipError_t hipErrorInvalidValue = cudaErrorInvalidValue;
inline constexpr hipError_t hipErrorOutOfMemory = cudaErrorMemoryAllocation;
inline constexpr hipError_t hipErrorInsufficientDriver = cudaErrorInsufficientDriver;
inline constexpr hipError_t hipErrorNoDevice = cudaErrorNoDevice;
inline constexpr hipError_t hipErrorInvalidDevice = cudaErrorInvalidDevice;
inline constexpr hipError_t hipErrorNoBinaryForGpu = cudaErrorNoKernelImageForDevice;
inline constexpr hipError_t hipErrorNotReady = cudaErrorNotReady;
inline constexpr hipError_t hipErrorPeerAccessAlreadyEnabled = cudaErrorPeerAccessAlreadyEnabled;

inline constexpr hipMemcpyKind hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
inline constexpr hipMemcpyKind hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
inline constexpr hipMemcpyKind hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
inline constexpr hipFuncAttribute hipFuncAttributeMaxDynamicSharedMemorySize =
    cudaFuncAttributeMaxDynamicSharedMemorySize;
inline constexpr hipStreamCaptureMode hipStreamCaptureModeThreadLocal =
    cudaStreamCaptureModeThreadLocal;
inline constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
inline constexpr unsigned hipEventDefault = cudaEventDefault;
inline constexpr unsigned hipHostMallocDefault = cudaHostAllocDefault;

inline const char* hipGetErrorName(hipError_t error) { return cudaGetErrorName(error); }
inline const char* hipGetErrorString(hipError_t error) { return cudaGetErrorString(error); }
inline hipError_t hipGetLastError() { return cudaGetLastError(); }
inline hipError_t hipGetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
inline hipError_t hipSetDevice(int device) { return cudaSetDevice(device); }
inline hipError_t hipGetDevice(int* device) { return cudaGetDevice(device); }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}
inline hipError_t hipDeviceGetPCIBusId(char* text, int size, int device) {
  return cudaDeviceGetPCIBusId(text, size, device);
}
inline hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return cudaDeviceCanAccessPeer(can, device, peer);
}
inline hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return cudaDeviceEnablePeerAccess(peer, flags);
}
inline hipError_t hipDeviceSynchronize() { return cudaDeviceSynchronize(); }
inline hipError_t hipMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  return cudaMemGetInfo(free_bytes, total_bytes);
}
inline hipError_t hipMalloc(void** memory, size_t bytes) { return cudaMalloc(memory, bytes); }
inline hipError_t hipFree(void* memory) { return cudaFree(memory); }
inline hipError_t hipHostMalloc(void** memory, size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc(memory, bytes, flags);
}
inline hipError_t hipHostFree(void* memory) { return cudaFreeHost(memory); }
inline hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline hipError_t hipMemcpyAsync(void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                                 hipStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
inline hipError_t hipMemset(void* memory, int byte, size_t bytes) {
  return cudaMemset(memory, byte, bytes);
}
inline hipError_t hipMemsetAsync(void* memory, int byte, size_t bytes, hipStream_t stream) {
  return cudaMemsetAsync(memory, byte, bytes, stream);
}
inline hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithFlags(stream, flags);
}
inline hipError_t hipStreamDestroy(hipStream_t stream) { return cudaStreamDestroy(stream); }
inline hipError_t hipStreamSynchronize(hipStream_t stream) { return cudaStreamSynchronize(stream); }
inline hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(stream, event, flags);
}
inline hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}
inline hipError_t hipEventDestroy(hipEvent_t event) { return cudaEventDestroy(event); }
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return cudaEventRecord(event, stream);
}
inline hipError_t hipEventQuery(hipEvent_t event) { return cudaEventQuery(event); }
inline hipError_t hipEventSynchronize(hipEvent_t event) { return cudaEventSynchronize(event); }
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return cudaEventElapsedTime(milliseconds, start, stop);
}
inline hipError_t hipFuncSetAttribute(const void* kernel, hipFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(kernel, attribute, value);
}
inline hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return cudaStreamBeginCapture(stream, mode);
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return cudaStreamEndCapture(stream, graph);
}
// HIP has CUDA 11's five parameters; the node and the log are not used.
inline hipError_t hipGraphInstantiate(hipGraphExec_t* instance, hipGraph_t graph, hipGraphNode_t*,
                                      char*, size_t) {
  return cudaGraphInstantiate(instance, graph, 0);
}
inline hipError_t hipGraphLaunch(hipGraphExec_t instance, hipStream_t stream) {
  return cudaGraphLaunch(instance, stream);
}
inline hipError_t hipGraphDestroy(hipGraph_t graph) { return cudaGraphDestroy(graph); }
inline hipError_t hipGraphExecDestroy(hipGraphExec_t instance) {
  return cudaGraphExecDestroy(instance);
}

#define HIP_KERNEL_NAME(...) __VA_ARGS__
#ifdef __CUDACC__
#define hipLaunchKernelGGL(kernel, grid, block, shared_bytes, stream, ...) \
  (kernel)<<<(grid), (block), (shared_bytes), (stream)>>>(__VA_ARGS__)
#endif
