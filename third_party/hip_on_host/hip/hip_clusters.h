#pragma once

// What threads of newer NVIDIA devices can do and HIP has no names for: blocks in clusters,
// barriers of some threads, and work that runs beside the thread that asked for it. Such work is
// done as late as its waits allow, or, with a seed for the order of threads, at a random time
// before: a missing wait shows, and memory that is given back too early.

#include <functional>

#include <hip/hip_runtime.h>

namespace hip_on_host {

// Ends the program for a defect of the kernel.
[[noreturn]] void fail(const char* what);

// The block's number in its cluster, and the dynamic shared memory of another block of it.
int cluster_rank();
void* shared_of_cluster(int rank);

// All live threads of the cluster.
void cluster_barrier();

// Barrier `name` (0 to 15) of the block opens when n_threads have come, whether they wait or not.
void named_barrier(int name, int n_threads, bool waits);

// The thread goes on when this holds.
void wait_until(std::function<bool()> holds);

// Runs the work once, in any order with other such work. A cluster that ends before is a defect.
void run_beside(std::function<void()> work);
// How much such work the blocks that run now have seen done: who reads memory again and again until
// it changes waits between two reads until this does, which it looked up before the first.
unsigned n_done_beside();

// Work of one thread in groups, which run in order: each at the latest when finish_groups() leaves
// no more than come behind it. Work may be an operation of the wave. A thread that ends before its
// work is a defect.
enum class GroupQueue { products, stores };
void add_to_group(GroupQueue queue, std::function<void()> work);
void close_group(GroupQueue queue);
void finish_groups(GroupQueue queue, int n_left);

// n_blocks in a row, a multiple of n_in_cluster, that many of which at a time share a cluster:
// clusters one behind the other, or all of them together. Static shared memory is one for all
// blocks: kernels of clusters have none.
enum class Clusters { in_turn, together };
void run_clusters(unsigned n_blocks, unsigned n_in_cluster, Clusters run, const dim3& extent,
                  std::size_t shared_bytes, const std::function<void()>& thread_body);

template <class... Parameters, class... Arguments>
void launch_clusters(void (*kernel)(Parameters...), unsigned n_blocks, unsigned n_in_cluster,
                     Clusters run, dim3 block, std::size_t shared_bytes, hipStream_t stream,
                     Arguments... arguments) {
  (void)queue_kernel(stream, [=] {
    run_clusters(n_blocks, n_in_cluster, run, block, shared_bytes, [=] { kernel(arguments...); });
  });
}

}  // namespace hip_on_host
