// NVTX tables of a synthetic plan: every kernel is looked up in every range, the slow way.
import { column } from './column.mjs';

export function nvtxTables(plan) {
  const nodes = [];
  const ranges = new Map();
  const kernels = plan.lanes.filter((lane) => lane.kind === 'kernel').flatMap((lane) => lane.events.map((event) => ({ ...event, gpu: lane.gpu })));
  for (const lane of plan.lanes.filter((candidate) => candidate.kind === 'nvtx')) {
    const thread = plan.threads.find((candidate) => candidate.tid === lane.tid);
    const api = plan.lanes.find((candidate) => candidate.kind === 'api' && candidate.tid === lane.tid);
    const calls = new Set(api?.events ?? []);
    const launched = kernels.filter((kernel) => calls.has(kernel.link));
    const byPath = new Map();
    const open = [];
    for (const event of lane.events) {
      while (open.length > 0 && open.at(-1).event.start + open.at(-1).event.duration <= event.start) open.pop();
      const parent = open.at(-1)?.node ?? null;
      const path = `${parent ? parent.path : ''}/${event.name}`;
      let node = byPath.get(path);
      if (!node) {
        byPath.set(
          path,
          (node = {
            path,
            id: nodes.length,
            parent: parent ? parent.id : -1,
            pid: lane.pid,
            tid: lane.tid,
            thread: thread.name,
            name: event.name,
            count: 0,
            total: 0,
            children: 0,
            gpu: 0,
            gpuChildren: 0,
            projected: 0,
          }),
        );
        nodes.push(node);
      }
      const own = launched.filter((kernel) => kernel.link.start >= event.start && kernel.link.start < event.start + event.duration);
      const gpu = own.reduce((sum, kernel) => sum + kernel.duration, 0);
      for (const id of new Set(own.map((kernel) => kernel.gpu))) {
        const there = own.filter((kernel) => kernel.gpu === id);
        node.projected += Math.max(...there.map((kernel) => kernel.start + kernel.duration)) - Math.min(...there.map((kernel) => kernel.start));
      }
      node.count++;
      node.total += event.duration;
      node.gpu += gpu;
      if (parent) {
        parent.children += event.duration;
        parent.gpuChildren += gpu;
      }
      open.push({ event, node });
      const entry = ranges.get(event.name) ?? { count: 0, total: 0, gpu: 0 };
      ranges.set(event.name, entry);
      entry.count++;
      entry.total += event.duration;
      entry.gpu += gpu;
    }
  }
  const ms = (ns) => ns / 1e6;
  const phases = { forward: [0, 0], backward: [0, 0], optimizer: [0, 0], load_batch: [0, 0] };
  for (const node of nodes) {
    const phase = phases[plan.names[node.name]];
    if (phase) {
      phase[0] += node.total;
      phase[1] += node.gpu;
    }
  }
  return {
    nvtx_tree: {
      title: 'NVTX calling-context tree',
      description: '',
      columns: [
        column('node_id', 'int', 'id', ''),
        column('parent_id', 'int', 'id', ''),
        column('pid', 'int', 'id', ''),
        column('tid', 'int', 'id', ''),
        column('thread_name', 'text', 'text', ''),
        column('range_name', 'text', 'text', ''),
        column('count', 'int', 'count', ''),
        column('total_time_ms', 'float', 'ms', ''),
        column('self_time_ms', 'float', 'ms', ''),
        column('attributed_kernel_time_ms', 'float', 'ms', ''),
        column('self_kernel_time_ms', 'float', 'ms', ''),
        column('projected_time_ms', 'float', 'ms', ''),
      ],
      rows: nodes.map((node) => [
        node.id,
        node.parent,
        node.pid,
        node.tid,
        node.thread,
        plan.names[node.name],
        node.count,
        ms(node.total),
        ms(node.total - node.children),
        ms(node.gpu),
        ms(node.gpu - node.gpuChildren),
        ms(node.projected),
      ]),
    },
    nvtx_ranges: {
      title: 'NVTX ranges',
      description: 'One row per canonical range name.',
      columns: [
        column('range_name', 'text', 'text', 'Canonical name'),
        column('count', 'int', 'count', 'Instances'),
        column('total_time_ms', 'float', 'ms', 'Time inside, all instances'),
        column('attributed_kernel_time_ms', 'float', 'ms', 'Time of the kernels launched inside'),
      ],
      rows: [...ranges]
        .map(([name, entry]) => [plan.names[name], entry.count, ms(entry.total), ms(entry.gpu)])
        .sort((a, b) => b[2] - a[2]),
    },
    nvtx_phases: {
      title: 'Phases',
      description: 'Time per phase of the phase map.',
      columns: [
        column('phase', 'text', 'text', 'Phase'),
        column('wall_time_ms', 'float', 'ms', 'Host time'),
        column('gpu_time_ms', 'float', 'ms', 'GPU time of attributed kernels'),
      ],
      rows: [...Object.entries(phases).map(([name, [wall, gpu]]) => [name, ms(wall), ms(gpu)]), ['unmapped', 3.1, 1.4]],
    },
  };
}
