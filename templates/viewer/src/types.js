/**
 * Shapes of the data blocks in report.html; docs/viewer.md describes them in prose.
 *
 * @typedef {string | number | null} Cell
 *
 * @typedef {object} Column
 * @property {string} name
 * @property {string} type  text, int or float
 * @property {string} unit
 * @property {string} [description]
 * @property {string} role  what the column is, whatever its name: device, start, kernel_name, ...
 * @property {string} [stored]  name of the exact column that this one shows in another unit
 * @property {boolean} [key]
 * @property {boolean} [sum]  values may be added over rows
 * @property {string} [refers]
 *
 * @typedef {object} PackedColumn  one of three: texts and rows, differences and digits, values
 * @property {string[]} [texts]  distinct texts
 * @property {(number | null)[]} [rows]  which of them each row has
 * @property {(number | null)[]} [differences]  of each number to the one before
 * @property {number} [digits]  decimals of the numbers
 * @property {Cell[]} [values]
 *
 * @typedef {object} Table
 * @property {PackedColumn[]} [packed]  in the place of rows, until they are unpacked
 * @property {string} title
 * @property {string} [description]
 * @property {string} [cannot_know]
 * @property {Column[]} columns
 * @property {Cell[][]} rows
 * @property {number} [row_count]  rows of the table, where the page has only the first
 *
 * @typedef {object} Evidence
 * @property {string} text
 * @property {string | null} [table]
 * @property {number | null} [row]
 * @property {number | null} [start_ns]
 * @property {number | null} [end_ns]
 * @property {number | null} [device_id]
 * @property {number | null} [pid]
 * @property {number | null} [tid]
 * @property {string | null} [name]
 *
 * @typedef {{scope: string, state: string, now_ns: number, saving_low_ns: number, saving_ns: number, saving_high_ns: number}} Simulated
 *
 * @typedef {object} Finding
 * @property {string} id
 * @property {string} title
 * @property {string} severity
 * @property {string} scope
 * @property {Evidence[]} evidence
 * @property {number | null} [saving_ns]
 * @property {number | null} [saving_low_ns]
 * @property {Simulated | null} [simulated]
 * @property {string[]} [links]  pages of the documentation
 *
 * @typedef {object} Report
 * @property {string} schema_version
 * @property {{name: string, version: string}} generator
 * @property {{file: string, size_bytes: number, product_version: string | null, schema_version: string | null}} trace
 * @property {{summary: string, gpu_count: number, process_count: number, window_start_ns: number,
 *   window_end_ns: number, window_ns: number, utc_epoch_ns: string | null}} run
 * @property {{severity: string, text: string}} verdict
 * @property {Finding[]} findings
 * @property {{id: string, severity: string, text: string, source_table?: string | null}[]} caveats
 * @property {Record<string, Table>} tables
 *
 * @typedef {'kernel' | 'copy' | 'set' | 'graph' | 'nvtx' | 'nvtx_async' | 'api' | 'overhead' | 'mpi' | 'openacc' | 'osrt' | 'file' | 'host_function' | 'sched' | 'sample'} LaneKind
 *
 * @typedef {object} Lane
 * @property {LaneKind} kind
 * @property {number} gpu
 * @property {number} pid
 * @property {number} tid
 * @property {number} context
 * @property {number} stream
 * @property {string} [name] given to the stream
 * @property {number} first
 * @property {number} count
 *
 * @typedef {object} EventColumn
 * @property {string} name
 * @property {string} encoding
 * @property {number} offset
 * @property {number} bytes
 *
 * @typedef {object} Utilization
 * @property {number} device_id
 * @property {number} bin_ns
 * @property {number} start_ns
 * @property {number[]} compute_ns
 * @property {number[]} exposed_comm_ns
 * @property {number[]} exposed_copy_ns
 * @property {number[]} idle_ns
 *
 * @typedef {object} Part  of the inflated block
 * @property {number} offset
 * @property {number} bytes
 *
 * @typedef {object} SeriesHead
 * @property {'kernel' | 'copy' | 'call' | 'blocked' | 'launch'} kind
 * @property {number} gpu  -1 for calls
 * @property {number} name  -1: all names that have no series of their own
 * @property {number} entries
 *
 * @typedef {object} QueueHead  launch queue of a GPU, of an aggregated timeline
 * @property {number} gpu
 * @property {number} start_ns
 * @property {number} end_ns
 * @property {number} bin_ns
 * @property {number} lead_bins  the last ones, from the begin of the first operation on
 *
 * @typedef {object} PassesHead  passes of what repeats on a GPU, of an aggregated timeline
 * @property {number} gpu
 * @property {number} count
 * @property {string | null} name  of NVTX ranges, digits as '#'; null: of a unit
 * @property {number} pid  of a unit, as its number: table repeating_units
 * @property {number} unit
 * @property {boolean} last_is_cut  of a unit
 *
 * @typedef {object} TimelineData
 * @property {number} version
 * @property {string} origin_ns
 * @property {number} start_ns
 * @property {number} end_ns
 * @property {number} total_events
 * @property {number} embedded_events
 * @property {boolean} aggregated
 * @property {number} [host_bucket_ns]  0: every event of host lanes is there; else those shorter than this are blocks
 * @property {[number, number][]} detail_windows
 * @property {string | null} note
 * @property {string[]} names
 * @property {string[]} short_names
 * @property {string[]} categories
 * @property {number[]} name_category
 * @property {number[]} [fusable]  names of kernels that could be fused with their neighbors
 * @property {number[]} [casts]  those that only change type or layout
 * @property {number[]} [allocations]  names of calls that allocate or release memory
 * @property {number[]} [breaks]  names of other calls that no graph holds
 * @property {{from: string | null, to: string | null}[]} [memory]  memory of copies and memsets
 * @property {{before: number, gpu: number, place: string}[]} [waits]  rows of launch_waits, as `aux` of their calls numbers them; before: what counts the call, too
 * @property {number[]} [name_count]  events per name, of an aggregated timeline
 * @property {number} [names_left_out]  names that are not listed
 * @property {Part} [mix]  categories inside aggregates of kernels
 * @property {Part} [sums]  sums over a grid of time
 * @property {{bin_ns: number, bins: number}} [grid]
 * @property {SeriesHead[]} [series]
 * @property {Part} [queue_bins]
 * @property {QueueHead[]} [queues]
 * @property {Part} [pass_times]
 * @property {PassesHead[]} [passes]
 * @property {{id: number, label: string}[]} gpus
 * @property {{pid: number, name: string}[]} processes
 * @property {{pid: number, tid: number, name: string}[]} threads
 * @property {number[][]} configs
 * @property {Utilization[]} utilization
 * @property {Lane[]} lanes
 * @property {EventColumn[]} columns
 * @property {number} events
 * @property {number} raw_bytes
 *
 * @typedef {object} EventArrays
 * @property {Float64Array} start  ns after the origin
 * @property {Float64Array} duration  ns
 * @property {Uint32Array} name  index into names
 * @property {Uint32Array} link  launching API event + 1, 0 for none; decoded when first asked for
 * @property {Float64Array} corr  decoded when first asked for
 * @property {Float64Array} aux  of copies and memsets bytes, of kernels their configuration + 1, of ranges depth, of calls bits (C: viewer/columns.c)
 * @property {Uint8Array} memory  of copies and memsets: index into timeline.memory, or behind it
 * @property {Uint32Array | Uint8Array} count
 * @property {Float64Array | Uint8Array} busy
 * @property {Uint8Array | null} mix  bytes of the categories inside aggregates
 * @property {Uint8Array | null} sums  bytes of the sums
 * @property {Uint8Array | null} queueBins  bytes of the launch queues
 * @property {Uint8Array | null} passTimes  bytes of the passes
 *
 * @typedef {'relative' | 'absolute' | 'wall'} TimeMode
 */
export {};
