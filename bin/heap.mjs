// What the C library reads when a process starts. By itself it gives each thread a heap of its own, and keeps in its heaps
// what the program has freed: a quarter of the memory of a service that has just started.
export const HEAP = {
  MALLOC_ARENA_MAX: '1',
  // More than the buffers of transfers, which are used again.
  MALLOC_MMAP_THRESHOLD_: '1500000',
  MALLOC_TRIM_THRESHOLD_: '2000000',
};
