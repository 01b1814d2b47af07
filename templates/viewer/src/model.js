/** @import { EventArrays, Lane, Report, Table, TimelineData } from './types.js' */
import { VarintReader } from './decode.js';
import { Clock } from './format.js';
import { HOST_ROWS } from './host-rows.js';
import { readSums } from './sums.js';

const GPU_KINDS = new Set(['kernel', 'copy', 'set', 'graph']);

/**
 * Where a row or evidence is: what it leaves open is null.
 * @typedef {{device?: number | null, pid?: number | null, tid?: number | null}} Place
 */

/** Position of the first element in [low, high) for which `isAfter` holds.
 * @param {number} low @param {number} high @param {(index: number) => boolean} isAfter */
export function bisect(low, high, isAfter) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isAfter(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Of several GPUs of one kind the number says which is meant. @param {{id: number, label: string}[]} gpus @returns {Map<number, string>} */
export function gpuLabels(gpus) {
  const parts = gpus.map(({ label }) => /^(GPU \d+) (.*)$/u.exec(label));
  const alike = gpus.length > 1 && parts.every((part) => part && part[2] === parts[0]?.[2]);
  return new Map(gpus.map(({ id, label }, i) => [id, (alike && parts[i]?.[1]) || label]));
}

/** Everything the page knows about the trace: the report's tables and the decoded events. */
export class Model {
  /** @param {Report} report @param {TimelineData} timeline @param {EventArrays} events */
  constructor(report, timeline, events) {
    this.report = report;
    this.timeline = timeline;
    this.events = events;
    this.count = timeline.events;
    this.lanes = timeline.lanes;
    this.names = timeline.names;
    this.shortNames = timeline.short_names;
    this.clock = new Clock(timeline.origin_ns, report.run.utc_epoch_ns);
    this.startNs = timeline.start_ns;
    this.endNs = Math.max(timeline.end_ns, timeline.start_ns + 1);
    this.aggregated = timeline.aggregated;
    /** Per name: how many events of the trace carry it. */
    this.nameCount = Float64Array.from(timeline.name_count ?? new Array(this.names.length).fill(0));
    if (!timeline.name_count) for (let i = 0; i < this.count; i++) this.nameCount[events.name[i]]++;
    /** @type {import('./sums.js').Series[] | null} */
    this.seriesRead = null;
    /** @type {Map<number, {category: number, ns: number}[]> | null} */
    this.mixes = null;
    /** @type {Map<string, string>} */
    this.threadNames = new Map(timeline.threads.map((thread) => [`${thread.pid}:${thread.tid}`, thread.name]));
    this.processNames = new Map(timeline.processes.map((process) => [process.pid, process.name]));
    this.gpuLabels = gpuLabels(timeline.gpus);
    /** @type {Map<string, number>} */
    this.nameIndex = new Map();
    this.names.forEach((text, index) => {
      if (!this.nameIndex.has(text)) this.nameIndex.set(text, index);
    });
  }

  /** Sums of an aggregated timeline, read when first asked for. */
  get series() {
    return (this.seriesRead ??= readSums(this.timeline, this.events.sums));
  }

  /** Whether every event of a stretch of time is on the page. @param {number} from @param {number} to */
  complete(from, to) {
    if (!this.aggregated) return true;
    return this.timeline.detail_windows.some(([begin, end]) => begin <= from && to <= end);
  }

  /** Whether every event of a name is on the page by itself. @param {number} nameId */
  completeName(nameId) {
    if (!this.aggregated && !this.timeline.host_bucket_ns) return true;
    const { name, count } = this.events;
    let single = 0;
    for (const lane of this.lanes) {
      for (let i = lane.first; i < lane.first + lane.count; i++) {
        if (name[i] !== nameId) continue;
        if (this.timeline.host_bucket_ns && this.isHostLane(lane)) return false;
        if (count[i] === 1) single++;
      }
    }
    return single === this.nameCount[nameId];
  }

  /** Kernel time per category inside an aggregate, longest first; empty for events. @param {number} event */
  mixOf(event) {
    if (!this.aggregated || this.events.count[event] <= 1) return [];
    this.mixes ??= this.readMixes();
    return this.mixes.get(event) ?? [];
  }

  readMixes() {
    /** @type {Map<number, {category: number, ns: number}[]>} */
    const mixes = new Map();
    const { mix, count } = this.events;
    if (!mix) return mixes;
    const reader = new VarintReader(mix);
    for (const lane of this.lanes) {
      if (lane.kind !== 'kernel') continue;
      for (let i = lane.first; i < lane.first + lane.count; i++) {
        if (count[i] <= 1) continue;
        mixes.set(
          i,
          Array.from({ length: reader.next() }, () => ({ category: reader.next(), ns: reader.next() })),
        );
      }
    }
    return mixes;
  }

  /** @param {number} event */
  laneIndex(event) {
    return bisect(0, this.lanes.length, (index) => this.lanes[index].first > event) - 1;
  }

  /** @param {number} event @returns {Lane} */
  laneOf(event) {
    return this.lanes[this.laneIndex(event)];
  }

  /** @param {number} event */
  end(event) {
    return this.events.start[event] + this.events.duration[event];
  }

  /** @param {number} event */
  nameOf(event) {
    return this.names[this.events.name[event]];
  }

  /** @param {number} event */
  shortNameOf(event) {
    const index = this.events.name[event];
    return this.shortNames[index] || this.names[index];
  }

  /** Category of a name, or null. @param {number} nameId */
  category(nameId) {
    const category = this.timeline.name_category[nameId] ?? -1;
    return category >= 0 ? this.timeline.categories[category] : null;
  }

  /** First event of the lane that starts at or after `time`. @param {Lane} lane @param {number} time */
  lowerBound(lane, time) {
    const { start } = this.events;
    return bisect(lane.first, lane.first + lane.count, (index) => start[index] >= time);
  }

  /** @param {Lane} lane */
  isGpuLane(lane) {
    return GPU_KINDS.has(lane.kind);
  }

  /** Whether a lane stands below a GPU: its work, and what its streams run on the host. @param {Lane} lane */
  isOnGpu(lane) {
    return lane.gpu >= 0;
  }

  /** Whether a lane tells of a thread what neither CUDA nor NVTX does. @param {Lane} lane */
  isHostLane(lane) {
    return lane.kind in HOST_ROWS;
  }

  /** The call that launched a GPU operation, -1 for none. @param {number} event */
  launchOf(event) {
    return this.events.link[event] - 1;
  }

  /** GPU operations launched by API events in [low, high), in event order. @param {number} low @param {number} high */
  launchedBy(low, high) {
    const { link } = this.events;
    /** @type {number[]} */
    const found = [];
    for (const lane of this.lanes) {
      if (!this.isGpuLane(lane)) continue;
      const last = lane.first + lane.count;
      for (let i = lane.first; i < last; i++) {
        if (link[i] > low && link[i] <= high) found.push(i);
      }
    }
    return found;
  }

  /**
   * NVTX ranges on a thread that contain `time`, outermost first.
   * @param {number} pid @param {number} tid @param {number} time
   */
  rangeStack(pid, tid, time) {
    const { start, duration, aux, count } = this.events;
    /** @type {number[]} */
    const stack = [];
    if (!this.complete(time, time)) return stack;
    for (const lane of this.lanes) {
      if (lane.kind !== 'nvtx' || lane.pid !== pid || lane.tid !== tid) continue;
      const past = bisect(lane.first, lane.first + lane.count, (index) => start[index] > time);
      // Backwards from the newest start: the first range met on each depth decides whether it still runs.
      let openDepth = Infinity;
      for (let i = past - 1; i >= lane.first && openDepth > 0; i--) {
        if (aux[i] >= openDepth) continue;
        openDepth = aux[i];
        if (count[i] === 1 && (start[i] + duration[i] > time || start[i] === time)) stack.push(i);
      }
    }
    return stack.reverse();
  }

  /** Innermost NVTX ranges around an event: its own thread, or that of its launch. @param {number} event */
  contextStack(event) {
    const lane = this.laneOf(event);
    if (this.isGpuLane(lane)) {
      const launch = this.launchOf(event);
      if (launch < 0) return [];
      const thread = this.laneOf(launch);
      return this.rangeStack(thread.pid, thread.tid, this.events.start[launch]);
    }
    const stack = this.rangeStack(lane.pid, lane.tid, this.events.start[event]);
    const depth = this.events.aux[event];
    if (lane.kind === 'nvtx') return stack.filter((range) => range !== event && this.events.aux[range] < depth);
    return stack;
  }

  /**
   * Nearest matching event after (direction 1) or before (-1) a place, in the order (start, index).
   * @param {number} time @param {number} event  -1: no event, just the time
   * @param {1 | -1} direction
   * @param {(event: number) => boolean} matches
   * @returns {number} -1 for none
   */
  nearest(time, event, direction, matches) {
    const { start } = this.events;
    let best = -1;
    for (const lane of this.lanes) {
      const first = lane.first;
      const last = first + lane.count;
      if (direction > 0) {
        for (let i = this.lowerBound(lane, time); i < last; i++) {
          if (best >= 0 && (start[i] > start[best] || (start[i] === start[best] && i > best))) break;
          if (start[i] === time && i <= event) continue;
          if (!matches(i)) continue;
          best = i;
          break;
        }
      } else {
        for (let i = bisect(first, last, (index) => start[index] > time) - 1; i >= first; i--) {
          if (best >= 0 && (start[i] < start[best] || (start[i] === start[best] && i < best))) break;
          if (start[i] === time && (event < 0 || i >= event)) continue;
          if (!matches(i)) continue;
          best = i;
          break;
        }
      }
    }
    return best;
  }

  /** Rank (from 1) and number of the events with an event's name. @param {number} event */
  rankOfName(event) {
    const { name, start } = this.events;
    const wanted = name[event];
    let rank = 1;
    let total = 0;
    for (let i = 0; i < this.count; i++) {
      if (name[i] !== wanted) continue;
      total++;
      if (start[i] < start[event] || (start[i] === start[event] && i < event)) rank++;
    }
    return { rank, total };
  }

  /** All events of a name, on one device or all. @param {number} nameId @param {number | null} device */
  eventsOf(nameId, device) {
    const { name, count } = this.events;
    /** @type {number[]} */
    const found = [];
    for (const lane of this.lanes) {
      if (device !== null && this.isGpuLane(lane) && lane.gpu !== device) continue;
      for (let i = lane.first; i < lane.first + lane.count; i++) {
        if (name[i] === nameId && count[i] === 1) found.push(i);
      }
    }
    return found;
  }

  /**
   * Lanes that a table row or evidence may mean. A GPU that it names beside a thread is the one that the thread's calls are for.
   * @param {Place} where
   */
  lanesAt({ device = null, pid = null, tid = null }) {
    return this.lanes.filter((lane) => {
      const onGpu = this.isGpuLane(lane);
      if (pid !== null && lane.pid !== pid) return false;
      return onGpu ? device === null || lane.gpu === device : tid === null || lane.tid === tid;
    });
  }

  /**
   * The event that takes exactly this time, or the GPU's work that begins with it and lasts longer (a wait is the first part of its
   * collective); -1 for none.
   * @param {number} from @param {number} to @param {Place} where
   */
  eventOf(from, to, where) {
    const { start, count } = this.events;
    let around = -1;
    for (const lane of this.lanesAt(where)) {
      const last = lane.first + lane.count;
      for (let i = this.lowerBound(lane, from); i < last && start[i] === from; i++) {
        if (count[i] !== 1) continue;
        if (this.end(i) === to) return i;
        if (this.end(i) > to && this.isGpuLane(lane) && around < 0) around = i;
      }
    }
    return around;
  }

  /**
   * The event that evidence or a table row means: the one of that name closest to the start given, or the longest.
   * @param {string | null} text  full name
   * @param {Place & {start?: number | null, kinds?: string[] | null}} where  kinds: of lanes; null: any
   */
  findEvent(text, where) {
    const { name, start, duration } = this.events;
    const wanted = text === null ? undefined : this.nameIndex.get(text);
    if (text !== null && wanted === undefined) return -1;
    let best = -1;
    let bestScore = -Infinity;
    // What is named on a GPU alone is the GPU's own.
    const onGpu = typeof where.device === 'number' && typeof where.pid !== 'number';
    for (const lane of this.lanesAt(where)) {
      if ((onGpu && !this.isGpuLane(lane)) || (where.kinds && !where.kinds.includes(lane.kind))) continue;
      for (let i = lane.first; i < lane.first + lane.count; i++) {
        if (wanted !== undefined && name[i] !== wanted) continue;
        const score = where.start !== null && where.start !== undefined ? -Math.abs(start[i] - where.start) : duration[i];
        if (score > bestScore) {
          bestScore = score;
          best = i;
        }
      }
    }
    return best;
  }

  /** @param {string} name @returns {Table | null} */
  table(name) {
    return Object.prototype.hasOwnProperty.call(this.report.tables, name) ? this.report.tables[name] : null;
  }

  /** @param {Lane} lane */
  laneLabel(lane) {
    // Migrations of managed memory belong to no stream.
    const stream = `Stream ${lane.stream}${lane.name ? ` (${lane.name})` : ''}`;
    const onStream = (/** @type {string} */ what) => (lane.stream < 0 ? `${what}, no stream` : `${stream}: ${what.toLowerCase()}`);
    switch (lane.kind) {
      case 'kernel':
        return lane.stream < 0 ? 'Kernels of other streams' : stream;
      case 'copy':
        return onStream('Copies');
      case 'set':
        return onStream('Memsets');
      case 'graph':
        return onStream('Graphs');
      case 'host_function':
        return onStream('Host functions');
      case 'api':
        return 'CUDA API';
      case 'nvtx_async':
        return 'NVTX start/end';
      default:
        return HOST_ROWS[lane.kind]?.label ?? 'NVTX';
    }
  }

  /** @param {number} pid @param {number} tid */
  threadLabel(pid, tid) {
    const text = this.threadNames.get(`${pid}:${tid}`);
    return text ? `${text} · ${tid}` : `Thread ${tid}`;
  }

  /** @param {number} pid */
  processLabel(pid) {
    const text = this.processNames.get(pid);
    return text ? `${text} · ${pid}` : `Process ${pid}`;
  }
}
