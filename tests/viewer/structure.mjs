// What the page draws of a trace's structure, without a browser:
//   node structure.mjs REPORT.html [FROM~TO ...]
// Prints JSON: by GPU projected ranges, projected time by NVTX path, launch queue and launch lead (or their bins); what repeats; what is in the ranges named; what was reached of limits; collectives; how many events evidence marks. Times are ns after the origin.
import { readFileSync } from 'node:fs';
import { decodeEvents } from '../../templates/viewer/src/decode.js';
import { lengthOf, sourcesOf, typical } from '../../templates/viewer/src/iterations/instances.js';
import { pairOperations } from '../../templates/viewer/src/iterations/pairing.js';
import { communicatorsOf, linkPeak, trafficOf } from '../../templates/viewer/src/communicators/data.js';
import { limitsOf } from '../../templates/viewer/src/limits/limits.js';
import { rooflineOf } from '../../templates/viewer/src/limits/roofline.js';
import { countedOf } from '../../templates/viewer/src/counted/counted.js';
import { Model } from '../../templates/viewer/src/model.js';
import { buildTree } from '../../templates/viewer/src/nvtx/tree.js';
import { projectRanges, projectionRows } from '../../templates/viewer/src/projection.js';
import { lanesIn } from '../../templates/viewer/src/timeline/area.js';
import { exactUtilization } from '../../templates/viewer/src/timeline/exact-utilization.js';
import { Layout } from '../../templates/viewer/src/timeline/layout.js';
import { callsByThread, copiesBetween, idleByCause, rangesBetween } from '../../templates/viewer/src/timeline/range-parts.js';
import { rangeStats } from '../../templates/viewer/src/timeline/stats.js';
import { UtilizationSums } from '../../templates/viewer/src/timeline/utilization.js';
import { launchCharts, queueBins } from '../../templates/viewer/src/timeline/launch-lead.js';
import { unpackTables } from '../../templates/viewer/src/unpack.js';
import { blockBytes, blockJson } from './lib/read-report.mjs';

const [path, ...ranges] = process.argv.slice(2);
const html = readFileSync(path, 'utf8');
const timeline = blockJson(html, 'nsys-ai-timeline');
const bytes = blockBytes(html, 'nsys-ai-events');
const model = new Model(unpackTables(blockJson(html, 'nsys-ai-report')), timeline, decodeEvents(timeline, bytes));
const layout = new Layout(model);
const projected = projectRanges(model);
const points = ({ start, value }) => [...start].map((time, i) => [time, value[i]]);
const gpus = timeline.gpus.map(({ id }) => {
  const list = projected.get(id) ?? [];
  const [queue, lead] = launchCharts(model, id);
  return {
    gpu: id,
    ranges: list.map(({ range, start, end, ops, launches }) => [model.events.corr[range], start, end, ops, launches]),
    rows: projectionRows(list).map((row) => row.map(({ start, end }) => [start, end])),
    queue: points(queue),
    lead: points(lead),
    bins: queueBins(model, id),
    charts: layout.tracks.filter(({ type, gpu }) => type === 'chart' && gpu === id).map(({ label }) => label),
  };
});
const iterations = sourcesOf(model, () => projected).map(({ key, label, gpu, instances }) => {
  const { median, index, count } = typical(instances);
  const longest = instances.reduce((best, one) => (one.whole && lengthOf(one) > lengthOf(best) ? one : best), instances[index]);
  return {
    key,
    label,
    gpu,
    median,
    count,
    instances: instances.map(({ start, end, whole, outlier }) => [start, end, whole, outlier]),
    labels: instances.map(({ label: text }) => text),
    longest: longest.start,
    usual: instances[index].start,
    pairs: pairOperations(model, gpu, longest, instances[index]).map(({ a, b }) => [a, b].map((event) => (event < 0 ? null : [model.nameOf(event), model.events.duration[event]]))),
  };
});
const inside = ranges.map((range) => {
  const [from, to] = range.split('~').map(Number);
  const streams = layout.tracks.filter(({ lane, gpu }) => lane?.kind === 'kernel' && (gpu ?? lane.gpu) === timeline.gpus[0].id).map(({ key }) => key);
  const some = rangeStats(model, from, to, lanesIn(layout, streams));
  return {
    threads: callsByThread(model, rangeStats(model, from, to)).map(({ label, count, ns }) => [label, count, ns]),
    streams: [some.kernelCount, some.kernelNs, some.gpus.map(({ busyNs }) => busyNs)],
    split: timeline.utilization.map((data) => exactUtilization(model, data.device_id, new UtilizationSums(data)).between(from, to)),
    idle: timeline.gpus.map(({ id }) => {
      const own = layout.tracks.find(({ gaps, gpu }) => gaps && gpu === id);
      return Object.fromEntries(own ? idleByCause(own.gaps, from, to) : []);
    }),
    copies: Object.fromEntries(copiesBetween(model, from, to).map(([name, { count, bytes, ns }]) => [name, [count, bytes, ns]])),
    projected: Object.fromEntries(rangesBetween(model, projected.values(), from, to).map(([name, { count, ns }]) => [name, [count, ns]])),
  };
});
const communicators = communicatorsOf(model).map((one) => {
  const traffic = trafficOf(model, one.id);
  return { ...one, peak: linkPeak(model), traffic: traffic && Object.fromEntries(traffic.bytes) };
});
const all = [...Array(model.count).keys()];
const counted = model.report.findings
  .flatMap(({ evidence }) => evidence)
  .map(({ text, table, row }) => [text, table, countedOf(model, `${table} ${row}`)])
  .map(([text, table, marks]) => [text, table, marks && (marks.gaps?.size ?? all.filter(marks.test).length)]);
const flame = {};
const visit = (node, path) => {
  for (const child of node.children) visit(child, [...path, child.name]);
  if (node.spanMs > 0) flame[path.join(' > ')] = node.spanMs;
};
const nvtx = model.table('nvtx_tree');
if (nvtx) visit(buildTree(model, nvtx, true), []);
console.log(JSON.stringify({ origin: timeline.origin_ns, end: timeline.end_ns, gpus, flame, iterations, counted, inside, communicators, limits: limitsOf(model), roofline: rooflineOf(model) }));
