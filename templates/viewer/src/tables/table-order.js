/** Where a reader begins: what takes the time, then what stands idle. Tables nobody thought of here follow in the report's order. */
const FIRST = [
  ['kernels', 'kernel_categories', 'gpu_active', 'gpu_utilization', 'idle_causes', 'idle_patterns', 'gpu_idle_gaps'],
  ['nvtx_ranges', 'kernel_paths', 'step_summary', 'steps', 'comm_ops', 'comm_ranks', 'memory_transfers', 'copy_rates', 'sync_calls', 'launch_rates'],
].flat();

/** About the capture and the program rather than the time. */
const LAST = ['losses', 'metrics', 'process_summary', 'workload', 'workload_evidence', 'gpus', 'run_info', 'capture', 'capabilities', 'capture_health', 'data_quality'];

/** Tables in the order they are offered, what matters most first. @param {string[]} names  in the report's order */
export function orderTables(names) {
  const place = (/** @type {string} */ name) => (FIRST.includes(name) ? FIRST.indexOf(name) - FIRST.length : LAST.indexOf(name) + 1);
  return names
    .map((name, index) => ({ name, index, place: place(name) }))
    .sort((a, b) => a.place - b.place || a.index - b.index)
    .map(({ name }) => name);
}
