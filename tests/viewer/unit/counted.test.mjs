// What evidence that counts events marks: exactly the events, or idle gaps, of its row.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedOf, countedSearch } from '../../../templates/viewer/src/counted/counted.js';
import { canPlace, showEvidence } from '../../../templates/viewer/src/timeline/show-evidence.js';
import { Search } from '../../../templates/viewer/src/search.js';
import { planModel } from '../lib/plan-model.mjs';

/** A table of these columns ("name:role" for a key); rows as lists. */
function table(columns, ...rows) {
  return { title: '', columns: columns.split(' ').map((text) => text.split(':')).map(([name, role]) => ({ name, role: role ?? 'metric', key: role !== undefined })), rows };
}

test('a shape of a kernel is one configuration on one GPU', () => {
  const { model } = planModel();
  const lane = model.lanes.find(({ kind }) => kind === 'kernel');
  const [name, [x, y, z, ...block]] = [model.nameOf(lane.first), model.timeline.configs[model.events.aux[lane.first] - 1]];
  const grid = [x, y, z].join('x');
  const shape = [name, lane.gpu, grid, block.slice(0, 3).join('x')];
  model.report.tables.kernel_shape = table('kernel_name:kernel_name device_id:device grid:label block:label fill threads_per_block', [...shape, 'underfilled', 16], [name, lane.gpu, '9x9x9', shape[3], 'waves', 64]);
  model.report.tables.losses = table('device_id:device what:name', [lane.gpu, 'underfilled'], [lane.gpu, 'small_blocks'], [lane.gpu, 'idle'], [lane.gpu + 40, 'underfilled']);
  const expected = [...Array(model.count).keys()].filter((event) => {
    const on = model.laneOf(event);
    return on.kind === 'kernel' && on.gpu === lane.gpu && model.nameOf(event) === name && model.timeline.configs[model.events.aux[event] - 1].slice(0, 3).join('x') === grid;
  });
  assert.ok(expected.length > 1);
  const marked = (text) => [...Array(model.count).keys()].filter(countedOf(model, text).test);
  assert.deepEqual(marked('kernel_shape 0'), expected);
  assert.deepEqual(marked('kernel_shape 1'), []);
  assert.deepEqual(marked('losses 0'), expected);
  assert.deepEqual(marked('losses 1'), expected);
  assert.equal(countedOf(model, 'losses 2'), null, 'the page cannot tell which');
  assert.deepEqual(marked('losses 3'), [], 'of another GPU');
  assert.equal(countedOf(model, 'no_such_table 0'), null);
});

test('gaps of a pattern are those with its cause before its operation, in active time', () => {
  const { model } = planModel();
  const columns = 'device_id:device gap_start_ns gap_end_ns cause next_op launch_api nvtx_range other_causes';
  const gap = (start, length, cause, next = 'k', others = null) => [0, start, start + length, cause, next, 'launch', null, others];
  Object.assign(model.report.tables, {
    active_spans: table('device_id:device kind start_ns end_ns', [0, 'active', 0, 1e6], [0, 'pause', 1e6, 2e6]),
    gpu_idle_gaps: table(columns, gap(10, 9000, 'a'), gap(2e4, 3000, 'a'), gap(3e4, 9000, 'a', 'other'), gap(4e4, 9000, 'b', 'k', 'c 1.00 µs, a 2.00 µs'), gap(1.5e6, 9000, 'a')),
    idle_patterns: table('device_id:device cause:name next_op:kernel_name launch_api:label nvtx_range:range_name', [0, 'a', 'k', 'launch', null]),
    idle_causes: table('device_id:device cause:name', [0, 'a']),
  });
  assert.deepEqual([...countedOf(model, 'idle_patterns 0').gaps], [0]);
  assert.deepEqual([...countedOf(model, 'idle_causes 0').gaps], [0, 1, 2, 3]);
  const search = new Search(model);
  const view = { model, search, setSearchText: (text) => search.set(text, false, false), showRange() {}, selectEvent() {}, layout: { tracks: [] } };
  const evidence = (text) => ({ text, table: 'idle_patterns', row: 0, start_ns: 10, end_ns: 9010 });
  showEvidence(view, evidence('1 gaps before k'));
  assert.deepEqual([search.text, search.events, [...search.forFrame().gaps]], ['counted:idle_patterns 0', 1, [0]]);
  search.set('', false, false);
  showEvidence(view, evidence('1 gap before k'));
  assert.equal(search.text, 'counted:idle_patterns 0', 'one');
  showEvidence(view, evidence('2 gaps before k'));
  assert.equal(search.text, '', 'another number than the text says marks nothing');
});

test('time under a range leads to what the range launched', () => {
  const { model } = planModel();
  const range = model.nameOf(model.lanes.find(({ kind }) => kind === 'nvtx').first);
  model.report.tables.range_losses = table('device_id:device loss:name range_name:range_name', [0, 'host_code', range]);
  const search = new Search(model);
  const view = { model, search, setSearchText: (text) => search.set(text, false, false), fit() {}, selectEvent() {} };
  showEvidence(view, { text: `1 ms under ${range}`, table: 'range_losses', row: 0, name: 'host_code', device_id: 0 });
  assert.equal(search.text, `path:${range}`);
  assert.ok(search.events > 0);
});

test('kernels in active time, all kernels, and the gaps of one thread', () => {
  const { model } = planModel();
  const kernels = [...Array(model.count).keys()].filter((event) => model.laneOf(event).kind === 'kernel');
  const gpu = model.laneOf(kernels[0]).gpu;
  const absolute = (time) => time + Number(model.timeline.origin_ns);
  const columns = 'device_id:device gap_start_ns gap_end_ns cause next_op launch_api nvtx_range pid tid other_causes';
  const gap = (start, cause, tid, length = 4000) => [gpu, start, start + length, cause, 'k', 'launch', null, 1, tid, null];
  Object.assign(model.report.tables, {
    active_spans: table('device_id:device kind start_ns end_ns', [gpu, 'active', absolute(1e6), absolute(9e6)], [gpu, 'pause', absolute(9e6), absolute(9e9)]),
    gpu_active: table('device_id:device', [gpu]),
    run_info: table('kernel_count', [kernels.length]),
    gpu_idle_gaps: table(columns, gap(10, 'a', 5), gap(5e3, 'a', 5), gap(1e4, 'a', 6), gap(2e4, 'b', 5, 9), gap(3e4, 'a', 5, 3999)),
    gap_activity: table('scope device_id:device cause next_op launch_api nvtx_range pid tid start_ns', ['pattern', gpu, 'a', 'k', 'launch', null, 1, 5, 10], ['gap', gpu, 'b', 'k', 'launch', null, 1, 5, 2e4]),
  });
  const marked = (text) => [...Array(model.count).keys()].filter(countedOf(model, text).test);
  const inside = kernels.filter((event) => model.laneOf(event).gpu === gpu && model.events.start[event] >= 1e6 && model.events.start[event] < 9e6);
  assert.ok(inside.length > 0 && inside.length < kernels.length);
  assert.deepEqual(marked('gpu_active 0'), inside);
  assert.deepEqual(marked('run_info 0'), kernels);
  assert.deepEqual([...countedOf(model, 'gap_activity 0').gaps], [0, 1]);
  assert.deepEqual([...countedOf(model, 'gap_activity 1').gaps], [3]);
});

test('calls that allocate count behind the warm-up and the first of a function, small copies where a call waits', () => {
  const { model } = planModel();
  const { events, timeline } = model;
  const copies = [...Array(model.count).keys()].filter((event) => model.laneOf(event).kind === 'copy' && model.launchOf(event) >= 0);
  const gpu = model.laneOf(copies[0]).gpu;
  const absolute = (time) => time + Number(timeline.origin_ns);
  const end = Math.max(...copies.map((event) => model.end(event))) * 2;
  Object.assign(model.report.tables, {
    active_spans: table('device_id:device kind start_ns end_ns', [gpu, 'active', absolute(0), absolute(end)]),
    losses: table('device_id:device what:name', [gpu, 'allocation'], [gpu, 'tiny_copies']),
  });
  const marked = (text) => [...Array(model.count).keys()].filter(countedOf(model, text).test);
  const calls = [...Array(model.count).keys()].filter((event) => model.laneOf(event).kind === 'api');
  const pids = new Set(model.lanes.filter((lane) => model.isGpuLane(lane) && lane.gpu === gpu).map(({ pid }) => pid));
  const name = events.name[calls.find((call) => pids.has(model.laneOf(call).pid))];
  timeline.allocations = [name];
  const of = calls.filter((call) => events.name[call] === name && pids.has(model.laneOf(call).pid));
  const expected = of.filter((call) => events.start[call] >= end / 5 && of.some((other) => other < call && model.laneOf(other).pid === model.laneOf(call).pid));
  assert.ok(expected.length > 0 && expected.length < of.length - 1);
  assert.deepEqual(marked('losses 0'), expected);

  model.names[events.name[copies[0]]] = 'Host-to-Device';
  const own = copies.filter((event) => model.laneOf(event).gpu === gpu && events.name[event] === events.name[copies[0]]);
  own.forEach((event) => (events.aux[event] = 64));
  const launches = own.map((event) => model.launchOf(event));
  const none = (call) => (events.aux[call] &= 4);
  calls.forEach(none);
  assert.deepEqual(marked('losses 1'), [], 'no call waits');
  events.aux[launches[0]] |= 1;
  const reaches = model.end(launches[0]) > events.start[own[0]];
  assert.deepEqual(marked('losses 1'), reaches ? [own[0]] : [], 'its own call, where it lasts until the copy starts');
  calls.forEach(none);
  events.aux[launches[0] + 1] = 1;
  assert.deepEqual(marked('losses 1'), [own[0]], 'the next call of its thread');
  events.aux[launches[0] + 1] = 5;
  assert.deepEqual(marked('losses 1'), [], 'which does nothing else');
});

test('copies repeat where five or more between host and GPU have one direction and size; communication is that of a rank', () => {
  const { model } = planModel();
  const { events, timeline } = model;
  const lane = model.lanes.find(({ kind, count }) => kind === 'copy' && count >= 6);
  const copies = [...Array(lane.count).keys()].map((at) => lane.first + at);
  for (const event of Array(model.count).keys()) if (model.laneOf(event).kind === 'copy') [events.name[event], events.aux[event]] = [events.name[lane.first], 1e6 + event];
  model.names[events.name[lane.first]] = 'Host-to-Device';
  const same = copies.slice(0, 5);
  same.forEach((copy) => (events.aux[copy] = 4096));
  copies.slice(5).forEach((copy, at) => (events.aux[copy] = 8192 + (at >> 2)));
  const kernels = model.lanes.find(({ kind }) => kind === 'kernel');
  const isKin = ({ kind, gpu, pid }) => kind === 'kernel' && gpu === kernels.gpu && pid === kernels.pid;
  const rank = [...Array(model.count).keys()].filter((event) => isKin(model.laneOf(event)) && events.name[event] === events.name[kernels.first]);
  timeline.name_category.fill(-1);
  timeline.name_category[events.name[kernels.first]] = timeline.categories.push('communication') - 1;
  const absolute = (time) => time + Number(timeline.origin_ns);
  Object.assign(model.report.tables, {
    active_spans: table('device_id:device kind start_ns end_ns', [lane.gpu, 'active', absolute(0), absolute(1e15)]),
    losses: table('device_id:device what:name', [lane.gpu, 'repeated_copies']),
    comm_ranks: table('device_id:device pid:pid', [kernels.gpu, kernels.pid], [kernels.gpu, kernels.pid + 1]),
  });
  const marked = (text) => [...Array(model.count).keys()].filter(countedOf(model, text).test);
  assert.deepEqual(marked('losses 0'), same);
  assert.deepEqual(marked('comm_ranks 0'), rank);
  assert.deepEqual(marked('comm_ranks 1'), []);
});

test('calls that a place of waits counts, one call perhaps for two GPUs', () => {
  const { model } = planModel();
  const { events, timeline } = model;
  const calls = [...Array(model.count).keys()].filter((event) => model.laneOf(event).kind === 'api');
  const copy = [...Array(model.count).keys()].find((event) => model.laneOf(event).kind === 'copy');
  timeline.waits = [
    { before: 0, gpu: 0, place: 'train' },
    { before: 0, gpu: 0, place: '' },
    { before: 1, gpu: 1, place: 'train' },
  ];
  model.report.tables.launch_waits = table('device_id:device place:range_name', [0, 'train'], [0, null], [1, 'train'], [1, null]);
  for (const [at, call] of calls.entries()) events.aux[call] = 5 | ((at < 4 ? at : 0) << 3);
  events.aux[copy] = 8;
  const marked = (text) => [...Array(model.count).keys()].filter(countedOf(model, text).test);
  assert.deepEqual(marked('launch_waits 0'), [calls[1], calls[3]]);
  assert.deepEqual(marked('launch_waits 1'), [calls[2]], 'outside of all ranges');
  assert.deepEqual(marked('launch_waits 2'), [calls[3]]);
  assert.deepEqual(marked('launch_waits 3'), []);
  delete timeline.waits;
  assert.deepEqual(marked('launch_waits 0'), [], 'of a page that does not tell');
});

test('a round goes from a launch behind a wait to the next one', () => {
  const { model } = planModel();
  const { events } = model;
  const lane = model.lanes.find(({ kind, count }) => kind === 'api' && count >= 12);
  const [launch, copy, wait] = [0, 1, 2].map((at) => model.names.push(['launch', 'copy', 'wait'][at]) - 1);
  const [L, C, W] = [[launch, 0], [copy, 0], [wait, 1]];
  const script = [W, L, L, W, L, C, W, W, L, C, L, W]; // the first belongs to no round; two launches or waits in a row are one step
  for (let at = 0; at < lane.count; at++) {
    [events.name[lane.first + at], events.aux[lane.first + at]] = script[at] ?? [launch, 0];
    [events.start[lane.first + at], events.duration[lane.first + at]] = [10 * at, 5];
  }
  const rounds = 'pid:pid round_calls:label';
  model.report.tables.call_rounds = table(rounds, [lane.pid, 'launch, wait'], [lane.pid, 'launch, copy, wait'], [lane.pid, 'launch, copy, launch, wait'], [lane.pid + 1, 'launch, wait']);
  const marked = (text) => [...Array(model.count).keys()].filter((event) => model.laneOf(event) === lane && countedOf(model, text).test(event)).map((event) => event - lane.first);
  assert.deepEqual(marked('call_rounds 0'), [1]);
  assert.deepEqual(marked('call_rounds 1'), [4]);
  assert.deepEqual(marked('call_rounds 2'), [8]);
  assert.deepEqual(marked('call_rounds 3'), [], 'of another process');
});

test('copies of one direction and memory, copies between kernels of a stream, and calls of a kernel that take long', () => {
  const { model } = planModel();
  const { events, timeline } = model;
  const all = [...Array(model.count).keys()];
  const of = (kind) => all.filter((event) => model.laneOf(event).kind === kind);
  const [copies, kernels] = [of('copy'), of('kernel')];
  const lane = model.laneOf(copies[0]);
  const direction = model.nameOf(copies[0]);
  timeline.memory = [
    { from: 'Pinned', to: 'Device' },
    { from: 'Pageable', to: 'Device' },
  ];
  events.memory = new Uint8Array(model.count);
  copies.forEach((event, at) => (events.memory[event] = at % 3)); // 2: more than the page can tell
  const name = model.nameOf(kernels[0]);
  const same = kernels.filter((event) => events.name[event] === events.name[kernels[0]] && model.laneOf(event).gpu === model.laneOf(kernels[0]).gpu);
  same.forEach((event, at) => (events.duration[event] = at < 2 ? 100_001 : 100_000));
  const absolute = (time) => time + Number(timeline.origin_ns);
  const gpu = model.laneOf(kernels[0]).gpu;
  Object.assign(model.report.tables, {
    memory_transfers: table('direction:name src_kind dst_kind device_id:device', [direction, 'Pageable', 'Device', lane.gpu], [direction, 'Pageable', 'Device', lane.gpu + 40], ['another', 'Pageable', 'Device', lane.gpu]),
    active_spans: table('device_id:device kind start_ns end_ns', [gpu, 'active', absolute(0), absolute(1e15)]),
    losses: table('device_id:device what:name example:kernel_name low_median_us', [gpu, 'copies_on_compute_stream', direction, null], [gpu, 'long_calls', name, 10]),
  });
  const marked = (text) => all.filter(countedOf(model, text).test);
  const expected = copies.filter((event, at) => at % 3 === 1 && model.laneOf(event).gpu === lane.gpu && model.nameOf(event) === direction);
  assert.ok(expected.length > 0);
  assert.deepEqual(marked('memory_transfers 0'), expected);
  assert.deepEqual([marked('memory_transfers 1'), marked('memory_transfers 2')], [[], []]);
  assert.deepEqual(marked('losses 1'), same.slice(0, 2));

  assert.deepEqual(marked('losses 0'), [], 'their stream does not compute');
  const own = copies.filter((event) => model.laneOf(event).gpu === gpu);
  model.names[events.name[own[0]]] = 'Host-to-Device';
  const stream = model.laneOf(own[0]);
  Object.assign(stream, { context: model.laneOf(kernels[0]).context, stream: model.laneOf(kernels[0]).stream, pid: model.laneOf(kernels[0]).pid });
  const between = own.filter((event) => model.laneOf(event) === stream && events.name[event] === events.name[own[0]]);
  assert.ok(between.length > 0);
  assert.deepEqual(marked('losses 0'), between);
});

test('copies out and back come without time to write between; what repeats beside them, by size, and in layers', () => {
  const { model } = planModel();
  const { events } = model;
  const lane = model.lanes.find(({ kind, count }) => kind === 'kernel' && count >= 23);
  lane.kind = 'copy';
  const others = model.lanes.filter(({ kind }) => kind === 'copy').flatMap(({ first, count }) => [...Array(count).keys()].map((at) => first + at));
  events.memory = new Uint8Array(model.count);
  const [out, back] = ['Device-to-Host', 'Host-to-Device'].map((name) => (model.nameIndex.get(name) ?? model.names.push(name) - 1));
  others.forEach((copy, at) => [events.name[copy], events.aux[copy]] = [out, 2 ** 21 + 16 * at]); // all of different sizes
  /** @param {number} at @param {number} name @param {number} bytes @param {number} start */
  const set = (at, name, bytes, start) => [events.name[lane.first + at], events.aux[lane.first + at], events.start[lane.first + at], events.duration[lane.first + at]] = [name, bytes, start, 1000];
  for (let at = 0; at < lane.count; at++) set(at, out, 2 ** 20 + 16 * at, 1e6 * at);
  for (let pair = 0; pair < 5; pair++) {
    set(2 * pair, out, 1e6, 1e6 * 2 * pair);
    set(2 * pair + 1, back, 1e6, 1e6 * 2 * pair + 1000 + 20_000); // 1 MB at 50 bytes/ns
  }
  set(10, out, 1e6, 11e6);
  set(11, back, 1e6, 11e6 + 1000 + 20_001); // the host had time
  for (let at = 12; at < 17; at++) set(at, back, 524_288, 1e6 * at);
  for (let at = 17; at < 23; at++) set(at, back, 4096, 1e6 * at);
  const absolute = (/** @type {number} */ time) => time + Number(model.timeline.origin_ns);
  const loss = (/** @type {string} */ what, detail = '') => [lane.gpu, what, 'Host-to-Device', detail];
  Object.assign(model.report.tables, {
    active_spans: table('device_id:device kind start_ns end_ns', [lane.gpu, 'active', absolute(-1e15), absolute(1e15)]),
    losses: table('device_id:device what:name example detail', loss('round_trips'), loss('repeated_copies')),
  });
  const marked = (/** @type {string} */ text) => [...Array(model.count).keys()].filter(countedOf(model, text).test).map((event) => event - lane.first);
  const from = (/** @type {number} */ low, /** @type {number} */ high) => [...Array(high - low).keys()].map((at) => low + at);
  assert.deepEqual(marked('losses 0'), from(0, 10));
  assert.deepEqual(marked('losses 0 to the host'), [0, 2, 4, 6, 8]);
  assert.deepEqual(marked('losses 1'), from(12, 23));
  assert.deepEqual(marked('losses 1 of 524,288 bytes'), from(12, 17));
  const range = model.lanes.find(({ kind }) => kind === 'nvtx').first;
  model.names[events.name[range]] = 'layer 7';
  model.report.tables.losses.rows.push(loss('streamed_copies', '6 copies of 4,096 bytes each under layer #, and 1 other size that repeats'));
  model.contextStack = (copy) => (copy % 2 === 0 ? [range] : []);
  assert.deepEqual([marked('losses 1'), marked('losses 2')], [from(12, 23), []], 'not all lie there');
  model.contextStack = (copy) => (events.aux[copy] === 4096 ? [range] : []);
  assert.deepEqual([marked('losses 1'), marked('losses 2')], [from(12, 17), from(17, 23)]);
});

test('evidence names the part of a row that it counts', () => {
  assert.equal(countedSearch('losses', 3, '119 copies of 524,288 bytes each, and 54 other sizes that repeat'), 'counted:losses 3 of 524,288 bytes');
  assert.equal(countedSearch('losses', 3, '48 times out and back, with no time'), 'counted:losses 3 to the host');
  assert.equal(countedSearch('losses', 3, 'GPU 0: 96 copies, 48.3 ms'), 'counted:losses 3');
  assert.equal(countedSearch('copy_rates', 0, '40 copies of 1 MiB or more reach 25.0 GB/s'), 'counted:copy_rates 0 large');
  assert.equal(countedSearch('gpu_active', 0, 'up to 20 ms in partial last waves of 22 kernels'), 'counted:gpu_active 0 in partial waves');
  assert.equal(countedSearch('gpu_active', 0, '20 executions of kernels with local memory, 4 ms'), 'counted:gpu_active 0 with local memory');
  assert.equal(countedSearch('gpu_active', 0, '1,920 kernels in 8 calls of a.b#c, 3.84 ms of kernels'), 'counted:gpu_active 0 kernels in a.b#c');
  assert.equal(countedSearch('gpu_active', 0, '31.7 ms of kernels in 48 calls of f that run the forward pass again'), 'counted:gpu_active 0 ranges f');
  assert.equal(countedSearch('steps', 0, '48 times out and back'), 'counted:steps 0');
});

test('kernels by their shape, by the range that launched them, and while variants were tried', () => {
  const { model } = planModel();
  const { events } = model;
  const all = [...Array(model.count).keys()];
  const marked = (/** @type {string} */ text) => all.filter(countedOf(model, text).test);
  const kernels = all.filter((event) => model.laneOf(event).kind === 'kernel' && model.contextStack(event).length > 0);
  const { gpu, pid } = model.laneOf(kernels[0]);
  const range = model.contextStack(kernels[0])[0];
  const [x, y, z, ...block] = model.timeline.configs[events.aux[kernels[0]] - 1];
  const shape = (/** @type {number} */ local, /** @type {number | null} */ lost) => [model.nameOf(kernels[0]), gpu, [x, y, z].join('x'), block.slice(0, 3).join('x'), local, lost];
  Object.assign(model.report.tables, {
    kernel_shape: table('kernel_name:kernel_name device_id:device grid:label block:label local_bytes_per_thread tail_loss_ms', shape(0, 0.5)),
    gpu_active: table('device_id:device', [gpu]),
  });
  const isShape = (/** @type {number} */ event) => events.aux[event] === events.aux[kernels[0]] && events.name[event] === events.name[kernels[0]] && model.laneOf(event).gpu === gpu;
  const same = all.filter((event) => model.laneOf(event).kind === 'kernel' && isShape(event));
  assert.deepEqual([marked('gpu_active 0 in partial waves'), marked('gpu_active 0 with local memory')], [same, []]);
  model.report.tables.kernel_shape.rows = [shape(16, null)];
  assert.deepEqual([marked('gpu_active 0 in partial waves'), marked('gpu_active 0 with local memory')], [[], same]);
  const name = model.nameOf(range);
  const inside = all.filter((event) => model.laneOf(event).kind === 'kernel' && model.laneOf(event).gpu === gpu && model.contextStack(event).some((each) => model.nameOf(each) === name));
  assert.ok(inside.length > 0);
  assert.deepEqual(marked(`gpu_active 0 kernels in ${name}`), inside);
  assert.deepEqual(marked(`gpu_active 0 ranges ${name}`), all.filter((event) => model.laneOf(event).kind === 'nvtx' && model.nameOf(event) === name));

  const absolute = (/** @type {number} */ time) => time + Number(model.timeline.origin_ns);
  model.names[events.name[kernels[0]]] = 'gemm_64x32';
  const tried = all.filter((event) => model.laneOf(event).kind === 'kernel' && events.name[event] === events.name[kernels[0]] && model.laneOf(event).gpu === gpu && model.laneOf(event).pid === pid);
  assert.ok(tried.length > 2);
  const times = tried.slice(1).map((event) => model.end(event));
  model.report.tables.autotuning = table('device_id:device pid:process family:name start_ns end_ns', [gpu, pid, 'gemm_#x#', absolute(events.start[tried[0]]), absolute(Math.max(...times)) - 1]);
  assert.deepEqual(marked('autotuning 0'), tried.filter((event) => model.end(event) < Math.max(...times)));
});

test('calls of MPI by their kind', () => {
  const { model } = planModel();
  const all = [...Array(model.count).keys()];
  const lane = model.lanes.find(({ kind }) => kind === 'api');
  lane.kind = 'mpi';
  const name = model.nameOf(lane.first);
  model.report.tables.mpi_calls = table('pid:process class:label function:name', [lane.pid, 'p2p', name], [lane.pid + 1, 'wait', name]);
  model.report.tables.mpi_sizes = table('pid:process class:label', [lane.pid, 'p2p'], [lane.pid, 'wait']);
  model.report.tables.mpi_processes = table('pid:process', [lane.pid]);
  const own = all.filter((event) => model.laneOf(event) === lane && model.nameOf(event) === name);
  const marked = (/** @type {string} */ text) => all.filter(countedOf(model, text).test);
  assert.deepEqual([marked('mpi_sizes 0'), marked('mpi_sizes 1')], [own, []]);
  assert.deepEqual(marked('mpi_processes 0 point to point'), own);
});

test('accesses to a file, functions of a stream by themselves and in graphs, samples of code that is not optimized', () => {
  const { model } = planModel();
  const { events } = model;
  const all = [...Array(model.count).keys()];
  const marked = (/** @type {string} */ text) => all.filter(countedOf(model, text).test).map((event) => event - model.laneOf(event).first);
  const name = (/** @type {string} */ text) => {
    model.nameIndex.set(text, model.names.length);
    return model.names.push(text) - 1;
  };
  const [files, samples] = model.lanes.filter(({ kind }) => kind === 'api');
  const functions = model.lanes.find(({ kind }) => kind === 'copy');
  const [open, read, callback] = [name('open a_#.bin'), name('read a_#.bin'), name('host function')];
  [files.kind, samples.kind, functions.kind] = ['file', 'sample', 'host_function'];
  for (let at = 0; at < 3; at++) [events.name[files.first + at], events.name[functions.first + at]] = [at === 1 ? open : read, callback];
  for (const lane of [files, functions, samples]) for (let at = 0; at < lane.count; at++) events.aux[lane.first + at] = at === 2 ? 5 : 1;
  const { gpu, pid, context, stream } = functions;
  const row = (/** @type {string} */ kind, on = stream) => [pid, gpu, context, on, null, kind];
  Object.assign(model.report.tables, {
    file_access: table('pid:process file:name', [files.pid, 'a_#.bin'], [files.pid + 1, 'a_#.bin'], [files.pid, 'b']),
    host_functions: table('pid:process device_id:device context_id:id stream_id:id function:name kind:label', row('stream'), row('graph'), row('stream', stream + 1)),
    cpu_threads: table('pid:process tid:thread', [samples.pid, samples.tid], [samples.pid, samples.tid + 1]),
  });
  assert.deepEqual([0, 1, 2].map((each) => marked(`file_access ${each}`)), [[0, 2], [], []]);
  assert.deepEqual(marked('file_access 0 open'), [1]);
  assert.deepEqual([0, 1, 2].map((each) => marked(`host_functions ${each}`)), [[0, 1], [2], []]);
  assert.deepEqual([0, 1].map((each) => marked(`cpu_threads ${each}`)), [[2], []]);
  assert.equal(countedSearch('file_access', 0, 'GPU 0: 120 opens of a'), 'counted:file_access 0 open');
});

test('launches of a sequence in all its passes: between calls that no graph holds, of a short one several in a row', () => {
  const { model } = planModel({ steps: 12 });
  const { events, timeline } = model;
  const lane = model.lanes.filter(({ kind }) => kind === 'api').sort((a, b) => b.count - a.count)[0];
  const kernels = model.lanes.filter(({ kind }) => kind === 'kernel').sort((a, b) => b.count - a.count)[0];
  const ids = new Map([...'abcdef'].map((text) => [text, model.names.push(text) - 1]));
  const [launch, lookUp] = [model.names.push('launch') - 1, model.names.push('getFunction') - 1];
  timeline.breaks = [lookUp];
  const script = `${'abcdeW'.repeat(2)}abcdeF${'abcdfW'}abcdW${'a'.repeat(99)}`; // W waits, F breaks by its name
  assert.ok(lane.count >= script.length && kernels.count >= script.length);
  events.link.fill(0);
  for (let at = 0; at < lane.count; at++) {
    const [call, letter] = [lane.first + at, script[at] ?? 'W'];
    [events.name[call], events.aux[call]] = [letter === 'F' ? lookUp : launch, letter === 'W' ? 1 : 0];
    if (!ids.has(letter)) continue;
    [events.link[kernels.first + at], events.name[kernels.first + at], events.aux[kernels.first + at]] = [call + 1, ids.get(letter), 1];
  }
  const absolute = (/** @type {number} */ time) => time + Number(timeline.origin_ns);
  const row = (/** @type {number} */ at) => [lane.pid, lane.tid, absolute(events.start[lane.first + at])];
  model.report.tables.graph_savings = table('pid:process tid:thread best_start_ns:start', row(6), row(script.indexOf('a'.repeat(9)) + 32), row(1));
  const marked = (/** @type {number} */ each) => [...Array(model.count).keys()].filter(countedOf(model, `graph_savings ${each}`).test).map((event) => event - lane.first);
  const from = (/** @type {number} */ low, /** @type {number} */ high) => [...Array(high - low).keys()].map((at) => low + at);
  assert.deepEqual(marked(0), [...from(0, 5), ...from(6, 11), ...from(12, 17)]);
  const long = script.indexOf('a'.repeat(9));
  assert.deepEqual(marked(1), from(long, long + 96), 'three passes of 32; what is left is part of one');
  assert.deepEqual(marked(2), [], 'no pass begins there');
});

test('kernels of a step by their short name, calls that instantiate graphs, a number that two parts add up to', () => {
  const { model } = planModel();
  const { events } = model;
  const all = [...Array(model.count).keys()];
  const kernel = all.find((event) => model.laneOf(event).kind === 'kernel');
  const { gpu } = model.laneOf(kernel);
  const absolute = (/** @type {number} */ time) => time + Number(model.timeline.origin_ns);
  const same = all.filter((event) => events.name[event] === events.name[kernel] && model.laneOf(event).kind === 'kernel' && model.laneOf(event).gpu === gpu);
  const call = all.find((event) => model.laneOf(event).kind === 'api');
  model.names[events.name[call]] = 'cudaGraphInstantiateWithFlags';
  Object.assign(model.report.tables, {
    steps: table('device_id:device gpu_start_ns gpu_end_ns', [gpu, absolute(events.start[same[1]]), absolute(events.start[same[3]])]),
    graph_calls: table('pid:process operation:name', [model.laneOf(call).pid, 'instantiate'], [model.laneOf(call).pid, 'launch']),
    comm_overlap_cost: table('device_id:device kernel_name:kernel_name', [gpu, model.nameOf(kernel)]),
  });
  const text = `step 3: compute 1 ms more than usual; ${model.shortNameOf(kernel)}: 2 kernels instead of 1, 2 ms`;
  assert.deepEqual(all.filter(countedOf(model, countedSearch('steps', 0, text).slice('counted:'.length)).test), same.slice(1, 3));
  assert.deepEqual(all.filter(countedOf(model, 'graph_calls 0').test), all.filter((event) => model.laneOf(event).pid === model.laneOf(call).pid && events.name[event] === events.name[call]));
  assert.equal(countedOf(model, 'graph_calls 1'), null);
  const search = new Search(model);
  const view = { model, search, setSearchText: (wanted) => search.set(wanted, false, false), selectEvent() {}, fit() {} };
  showEvidence(view, { text: `beside (3 times), without (${same.length - 3} times)`, table: 'comm_overlap_cost', row: 0 });
  assert.equal(search.text, 'counted:comm_overlap_cost 0');
});

test('what evidence counts has a place without a time or name; it leads to the longest of it', () => {
  const { model } = planModel();
  const lane = model.lanes.find(({ kind }) => kind === 'api');
  lane.kind = 'mpi';
  const name = model.nameOf(lane.first);
  model.report.tables.mpi_calls = table('pid:process class:label function:name', [lane.pid, 'p2p', name]);
  model.report.tables.mpi_sizes = table('pid:process class:label', [lane.pid, 'p2p']);
  const own = [...Array(model.count).keys()].filter((event) => model.laneOf(event) === lane && model.nameOf(event) === name);
  const evidence = (/** @type {number} */ count) => ({ text: `most time by size: p2p, ${count} calls of 1 B`, table: 'mpi_sizes', row: 0 });
  assert.equal(canPlace(model, evidence(own.length)), true);
  assert.equal(canPlace(model, evidence(own.length + 1)), false, 'another number');
  const search = new Search(model);
  let selected = -1;
  const view = { model, search, setSearchText: (text) => search.set(text, false, false), selectEvent: (event) => { selected = event; }, fit() {} };
  showEvidence(view, evidence(own.length));
  const longest = Math.max(...own.map((event) => model.events.duration[event]));
  assert.ok(own.includes(selected));
  assert.equal(model.events.duration[selected], longest);
});

test('kernels of collectives by message size, small ones, and those confined to a part of a GPU', () => {
  const { model } = planModel();
  const { events, timeline } = model;
  const all = [...Array(model.count).keys()];
  const marked = (/** @type {string} */ text) => all.filter(countedOf(model, text).test);
  const lane = model.lanes.find(({ kind, count }) => kind === 'kernel' && count >= 6);
  const kernels = [0, 1, 2, 3, 4].map((at) => lane.first + at);
  const id = model.names.push('nccl') - 1;
  timeline.name_category[id] = timeline.categories.push('communication') - 1;
  const config = (/** @type {number} */ blocks) => timeline.configs.push([blocks, 1, 1, 512, 1, 1, 0, 0, 0]);
  const [few, many] = [config(2), config(3)];
  kernels.forEach((kernel, at) => ([events.name[kernel], events.aux[kernel]] = [id, at === 3 ? few : many]));
  const start = (/** @type {number} */ kernel) => events.start[kernel] + Number(timeline.origin_ns);
  const instance = (/** @type {number} */ at, op = 'AllReduce', bytes = null) => [lane.gpu, op, 'c', start(kernels[at]), bytes];
  const size = (/** @type {number} */ count) => [lane.gpu, 'c', 'AllReduce', 1 << 20, 2 << 20, count];
  Object.assign(model.report.tables, {
    comm_instances: table('device_id:device op:name communicator:label start_ns message_bytes', instance(0, 'AllReduce', 1 << 20), instance(1, 'AllReduce', 2 << 20), instance(2, 'AllGather', 1 << 10), instance(3), instance(4)),
    comm_sizes: table('device_id:device communicator:label op:name from_bytes:bytes below_bytes kernel_count', size(1), size(2)),
    gpu_active: table('device_id:device', [lane.gpu]),
    kernel_shape: table('kernel_name:kernel_name device_id:device grid:label block:label green_context', ['nccl', lane.gpu, '2x1x1', '512x1x1', 4], ['nccl', lane.gpu, '3x1x1', '512x1x1', null]),
    sm_partitions: table('device_id:device pid:process green_context:label', [lane.gpu, lane.pid, 4], [lane.gpu, lane.pid + 1, 4]),
  });
  assert.deepEqual(marked('comm_sizes 0'), [kernels[0]]);
  assert.deepEqual(marked('gpu_active 0 small collectives'), [kernels[2], kernels[3]], 'by size; else by blocks');
  assert.deepEqual([marked('sm_partitions 0'), marked('sm_partitions 1')], [[kernels[3]], []]);
  assert.equal(countedSearch('gpu_active', 0, '11.5 ms of communication in 960 small kernels'), 'counted:gpu_active 0 small collectives');
  const evidence = (/** @type {number} */ row) => ({ text: 'AllReduce of 1 MiB: 1 GB/s', table: 'comm_sizes', row, name: 'AllReduce' });
  assert.deepEqual([0, 1].map((row) => canPlace(model, evidence(row))), [true, false], 'as many as the row has');
});
