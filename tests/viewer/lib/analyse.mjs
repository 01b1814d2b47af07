// The report of a synthetic plan, computed the plain and slow way.
import { column } from './column.mjs';
import { nvtxTables } from './analyse-nvtx.mjs';
import { HOSTILE, ORIGIN } from './synthetic.mjs';

const GPU_KINDS = ['kernel', 'copy', 'set', 'graph'];

/** Sorted disjoint union of [start, end) pairs. */
export function union(intervals) {
  const result = [];
  for (const [start, end] of [...intervals].sort((a, b) => a[0] - b[0])) {
    const last = result.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else result.push([start, end]);
  }
  return result;
}

/** Length of the part of `intervals` (disjoint, sorted) inside [from, to). */
export function covered(intervals, from, to) {
  let sum = 0;
  for (const [start, end] of intervals) sum += Math.max(0, Math.min(end, to) - Math.max(start, from));
  return sum;
}

const spans = (events) => events.map((event) => [event.start, event.start + event.duration]);
const absolute = (t) => Number(ORIGIN) + t;

function utilization(plan, gpu, bins) {
  const lanes = plan.lanes.filter((lane) => lane.gpu === gpu && GPU_KINDS.includes(lane.kind));
  const isComm = (event) => plan.nameCategory[event.name] === 0;
  const kernels = lanes.filter((lane) => lane.kind === 'kernel').flatMap((lane) => lane.events);
  const compute = union(spans(kernels.filter((event) => !isComm(event))));
  const withComm = union([...compute, ...spans(kernels.filter(isComm))].map((pair) => [...pair]));
  const all = union([...withComm, ...spans(lanes.flatMap((lane) => lane.events))].map((pair) => [...pair]));
  const from = all[0][0];
  const to = all.at(-1)[1];
  const share = (a, b) => {
    const c = covered(compute, a, b);
    const k = covered(withComm, a, b);
    const o = covered(all, a, b);
    return [c, k - c, o - k, b - a - o];
  };
  const binNs = Math.ceil((to - from) / bins);
  const series = { compute_ns: [], exposed_comm_ns: [], exposed_copy_ns: [], idle_ns: [] };
  for (let at = from; at < to; at += binNs) {
    const parts = share(at, Math.min(to, at + binNs));
    Object.values(series).forEach((list, index) => list.push(parts[index]));
  }
  const gaps = all
    .slice(1)
    .map((interval, index) => [all[index][1], interval[0]])
    .filter(([a, b]) => b > a);
  return { device_id: gpu, bin_ns: binNs, start_ns: from, ...series, totals: share(from, to), window: to - from, gaps };
}

function kernelTable(plan) {
  const groups = new Map();
  for (const lane of plan.lanes.filter((candidate) => candidate.kind === 'kernel')) {
    for (const event of lane.events) {
      const key = `${event.name}/${lane.gpu}`;
      const group = groups.get(key) ?? { name: event.name, gpu: lane.gpu, durations: [] };
      groups.set(key, group);
      group.durations.push(event.duration);
    }
  }
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const whole = sum([...groups.values()].map((group) => sum(group.durations)));
  const rows = [...groups.values()]
    .map((group) => {
      const sorted = [...group.durations].sort((a, b) => a - b);
      const total = sum(sorted);
      return [
        plan.names[group.name],
        group.gpu,
        sorted.length,
        total,
        total / 1e6,
        total / sorted.length / 1e3,
        sorted[0] / 1e3,
        sorted.at(-1) / 1e3,
        sorted[Math.floor((sorted.length - 1) / 2)] / 1e3,
        (100 * total) / whole,
        plan.categories[plan.nameCategory[group.name]],
      ];
    })
    .sort((a, b) => b[3] - a[3] || (a[0] < b[0] ? -1 : 1));
  return {
    title: 'Top kernels',
    description: 'One row per kernel name and GPU, longest total first.',
    columns: [
      column('kernel_name', 'text', 'text', 'Demangled name'),
      column('device_id', 'int', 'id', 'GPU'),
      column('call_count', 'int', 'count', 'Number of executions'),
      column('total_time_ns', 'int', 'ns', 'Sum of durations'),
      column('total_time_ms', 'float', 'ms', 'Sum of durations'),
      column('avg_duration_us', 'float', 'us', 'Mean duration'),
      column('min_duration_us', 'float', 'us', 'Shortest'),
      column('max_duration_us', 'float', 'us', 'Longest'),
      column('p50_duration_us', 'float', 'us', 'Median duration'),
      column('pct_total_kernel_time', 'float', 'percent', 'Share of the summed durations of all kernels on all GPUs'),
      column('category', 'text', 'text', 'Class of the kernel'),
    ],
    rows,
  };
}

export function analyse(plan) {
  const perGpu = plan.gpus.map((gpu) => utilization(plan, gpu.id, 400));
  const causes = ['blocking_call', 'host_code', 'dependency', 'cuda_call', 'unknown'];
  const gaps = perGpu
    .flatMap((gpu) =>
      gpu.gaps.map(([start, end]) => {
        const length = end - start;
        const cause =
          length > 1_000_000 ? 'host_code' : length > 100_000 ? 'blocking_call' : length > 2_000 ? 'cuda_call' : 'dependency';
        return [
          gpu.device_id,
          absolute(start),
          absolute(end),
          length / 1e6,
          cause,
          'kernel',
          'cudaLaunchKernel',
          'python3',
          cause === 'host_code' ? 'load_batch' : 'cudaStreamSynchronize',
          'step',
        ];
      }),
    )
    .sort((a, b) => b[3] - a[3] || a[1] - b[1]);
  const tables = {
    gpu_utilization: {
      title: 'GPU time',
      description: "Every ns of each GPU's window in exactly one class.",
      columns: [
        column('device_id', 'int', 'id', 'GPU'),
        column('window_ms', 'float', 'ms', 'First to last operation'),
        column('compute_ms', 'float', 'ms', 'At least one compute kernel ran'),
        column('exposed_comm_ms', 'float', 'ms', 'Communication and no compute'),
        column('exposed_copy_ms', 'float', 'ms', 'Copies and nothing else'),
        column('idle_ms', 'float', 'ms', 'Nothing ran'),
        column('idle_pct_of_window', 'float', 'percent', 'Share of the window'),
      ],
      rows: perGpu.map((gpu) => [
        gpu.device_id,
        gpu.window / 1e6,
        ...gpu.totals.map((ns) => ns / 1e6),
        (100 * gpu.totals[3]) / gpu.window,
      ]),
    },
    kernels: kernelTable(plan),
    gpu_idle_gaps: {
      title: 'Idle gaps',
      description: 'Times when nothing ran on a GPU, longest first.',
      columns: [
        column('device_id', 'int', 'id', 'GPU'),
        column('gap_start_ns', 'int', 'timestamp_ns', 'Begin'),
        column('gap_end_ns', 'int', 'timestamp_ns', 'End'),
        column('gap_ms', 'float', 'ms', 'Length'),
        column('cause', 'text', 'text', 'Why'),
        column('next_op', 'text', 'text', 'Operation that ended the gap'),
        column('launch_api', 'text', 'text', 'Its launching call'),
        column('launch_thread', 'text', 'text', 'Thread of that call'),
        column('host_activity', 'text', 'text', 'What the host did'),
        column('nvtx_range', 'text', 'text', 'Innermost range'),
      ],
      rows: gaps,
    },
    idle_causes: {
      title: 'Idle causes',
      description: 'Idle time by cause.',
      columns: [
        column('device_id', 'int', 'id', 'GPU'),
        column('cause', 'text', 'text', 'Why'),
        column('part_count', 'int', 'count', 'Gaps'),
        column('total_ms', 'float', 'ms', 'Idle time'),
        column('pct_of_idle', 'float', 'percent', 'Share'),
        column('longest_ms', 'float', 'ms', 'Longest'),
      ],
      rows: plan.gpus.flatMap((gpu) =>
        causes
          .map((cause) => {
            const own = gaps.filter((gap) => gap[0] === gpu.id && gap[4] === cause);
            const total = own.reduce((sum, gap) => sum + gap[3], 0);
            return [gpu.id, cause, own.length, total, (100 * total) / (perGpu[gpu.id].totals[3] / 1e6), own[0]?.[3] ?? 0];
          })
          .filter((row) => row[2] > 0),
      ),
    },
    ...nvtxTables(plan),
    data_quality: {
      title: 'Data quality',
      description: 'What was dropped, and why.',
      columns: [column('item', 'text', 'text', ''), column('rows', 'int', 'count', '')],
      rows: [
        [
          'kernels kept',
          plan.lanes.filter((lane) => lane.kind === 'kernel').reduce((sum, lane) => sum + lane.events.length, 0),
        ],
        ['dropped: end before start', 0],
      ],
    },
  };
  const top = tables.kernels.rows[0];
  const longestGap = gaps[0];
  const flash = plan.lanes
    .find((lane) => lane.kind === 'kernel' && lane.gpu === 0)
    .events.filter((event) => plan.names[event.name].includes('flash_fwd'))
    .sort((a, b) => b.duration - a.duration)[0];
  const sync = plan.lanes
    .find((lane) => lane.kind === 'api' && lane.pid === 144 && lane.tid === 144)
    .events.filter((event) => event.aux === 1)
    .sort((a, b) => b.duration - a.duration)[0];
  const none = { table: null, row: null, start_ns: null, end_ns: null, device_id: null, pid: null, tid: null, name: null };
  const report = {
    schema_version: '2.0',
    generator: { name: 'nsys-ai', version: '0.1.0' },
    trace: { file: plan.fileName, size_bytes: 2678784, product_version: '2026.2.1.210', schema_version: '3.25.0' },
    run: {
      summary: `${plan.fileName}: 2 × NVIDIA H100 80GB HBM3, 2 processes, ${(plan.endNs / 1e6).toFixed(1)} ms window, nsys 2026.2.1`,
      gpu_count: 2,
      process_count: 2,
      window_start_ns: absolute(0),
      window_end_ns: absolute(plan.endNs),
      window_ns: plan.endNs,
      utc_epoch_ns: plan.utcEpoch,
    },
    verdict: {
      severity: 'high',
      text: `GPU 0 spends most of its window in GEMMs, but the host leaves it idle for ${longestGap[3].toFixed(1)} ms while loading a batch: prefetch batches before tuning kernels.`,
    },
    findings: [
      {
        id: 'gpu-idle',
        title: 'The GPU waits for the host',
        severity: 'high',
        scope: 'GPU 0',
        why: 'An idle GPU is paid for but does nothing. The longest gap opens while the host prepares the next batch; no kernel can be queued meanwhile.',
        recommendation: 'Load the next batch on a worker while the current step runs, and pin its memory.',
        verify: `nsys-ai analyze ${plan.fileName} --out after && diff after/tables/idle_causes.csv before/tables/idle_causes.csv`,
        links: ['docs/root-causes/gpu-idle.md'],
        evidence: [
          {
            ...none,
            text: `longest gap ${longestGap[3].toFixed(3)} ms on GPU ${longestGap[0]}, host inside load_batch`,
            table: 'gpu_idle_gaps',
            row: 0,
            start_ns: longestGap[1],
            end_ns: longestGap[2],
            device_id: longestGap[0],
          },
          { ...none, text: `${gaps.length} gaps in all`, table: 'idle_causes', row: 0 },
        ],
      },
      {
        id: 'dominant-kernel',
        title: 'One kernel dominates',
        severity: 'medium',
        scope: 'all GPUs',
        why: 'A kernel with a large share of all kernel time bounds what any other change can win.',
        recommendation: 'Check its shapes against the tile sizes of the library, and its precision.',
        verify: `nsys-ai analyze ${plan.fileName} --top 1`,
        links: [],
        evidence: [
          {
            ...none,
            text: `${top[0]} takes ${top[9].toFixed(1)} % of kernel time`,
            table: 'kernels',
            row: 0,
            device_id: top[1],
            name: top[0],
          },
          {
            ...none,
            text: `slowest flash_fwd_kernel took ${(flash.duration / 1e3).toFixed(1)} µs`,
            table: 'kernels',
            row: tables.kernels.rows.findIndex((row) => row[0].includes('flash_fwd') && row[1] === 0),
            start_ns: absolute(flash.start),
            end_ns: absolute(flash.start + flash.duration),
            device_id: 0,
            name: plan.names[flash.name],
          },
        ],
      },
      {
        id: 'blocking-sync',
        title: 'The host blocks once per step',
        severity: 'low',
        scope: 'process 144',
        why: 'While it blocks, nothing new is queued.',
        recommendation: 'Replace the stream synchronization by an event the next step waits for.',
        verify: 'nsys-ai analyze --no-stages',
        links: [],
        evidence: [
          {
            ...none,
            text: `cudaStreamSynchronize waits ${(sync.duration / 1e6).toFixed(3)} ms`,
            table: null,
            start_ns: absolute(sync.start),
            end_ns: absolute(sync.start + sync.duration),
            pid: 144,
            tid: 144,
            name: 'cudaStreamSynchronize',
          },
        ],
      },
    ],
    caveats: [
      { id: 'clipped', severity: 'warning', text: 'The capture begins inside a step: the first ranges are clipped.' },
      { id: 'no-osrt', severity: 'info', text: 'No OS runtime calls were traced; host_code gaps name the NVTX range only.' },
    ],
    tables,
  };
  if (plan.names.includes(HOSTILE[0]))
    report.caveats.push({ id: 'hostile', severity: 'info', text: `Name kept as is: ${HOSTILE[1]}` });
  const timeline = {
    version: 1,
    origin_ns: ORIGIN.toString(),
    start_ns: 0,
    end_ns: plan.endNs,
    aggregated: false,
    detail_windows: [],
    note: null,
    names: plan.names,
    short_names: plan.shortNames,
    categories: plan.categories,
    name_category: plan.nameCategory,
    gpus: plan.gpus,
    processes: plan.processes,
    threads: plan.threads,
    configs: plan.configs,
    utilization: perGpu.map(({ totals, window, gaps: _, ...data }) => data),
  };
  return { report, timeline, perGpu };
}
