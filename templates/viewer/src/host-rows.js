/**
 * What a thread did beside CUDA calls and ranges, in the order of its rows. Of a trace with much of it, short events come as blocks.
 * `label`: of the row and in the legend; `event`: one of it; `color`: null where each name has its own.
 * @type {Record<string, {label: string, event: string, hint: string, color: string | null}>}
 */
export const HOST_ROWS = {
  overhead: {
    label: 'Profiler and driver',
    event: 'Time of the profiler or driver',
    hint: 'Time that the profiler itself took on this thread, or the CUDA driver to load code: no fault of the program',
    color: '#2f8079',
  },
  mpi: { label: 'MPI', event: 'MPI call', hint: 'Calls of MPI: to send, to receive, to wait for other ranks', color: '#8a5a83' },
  openacc: { label: 'OpenACC', event: 'OpenACC event', hint: 'OpenACC directives; what one of them starts inside is left out', color: '#4f6d94' },
  osrt: { label: 'OS runtime', event: 'OS runtime call', hint: 'Calls of the operating system’s runtime: waiting, reading, locking', color: '#7a6a52' },
  file: { label: 'Files', event: 'File access', hint: 'Calls that open, read, write or ask about a file', color: '#8b6c2f' },
  host_function: {
    label: 'Host functions',
    event: 'Host function',
    hint: 'Functions of the program that the stream runs on the host: nothing behind one in its stream starts before it returns',
    color: '#a2554f',
  },
  sched: { label: 'On a CPU', event: 'Thread on a CPU', hint: 'When the thread ran on a CPU; empty: it did not', color: '#5f7f4f' },
  sample: { label: 'Samples', event: 'CPU sample', hint: 'Functions the thread was found in, a mark per sample', color: null },
};
