// Reads report.html back without the viewer's code: what the page shows is compared with this.
import { readFileSync } from 'node:fs';
import { inflateRawSync } from 'node:zlib';

function block(html, id) {
  const open = html.indexOf(`id="${id}">`);
  if (open < 0) throw new Error(`no block ${id}`);
  const begin = open + id.length + 6;
  return html.slice(begin, html.indexOf('</script>', begin));
}

export function blockBytes(html, id) {
  const text = block(html, id);
  return text.startsWith('{') ? Buffer.from(text) : inflateRawSync(Buffer.from(text, 'base64'));
}
export const blockJson = (html, id) => (block(html, id) ? JSON.parse(blockBytes(html, id)) : null);

/** Rows in place of packed columns. */
export function unpack(report) {
  for (const table of Object.values(report.tables)) {
    if (!table.packed) continue;
    const columns = table.packed.map(({ texts, rows, differences, digits, values }) => {
      if (texts) return rows.map((number) => (number === null ? null : texts[number]));
      let last = 0n;
      return differences
        ? differences.map((difference) => {
            if (difference === null) return null;
            last += BigInt(difference);
            return Number(digits ? `${last}e-${digits}` : last);
          })
        : values;
    });
    delete table.packed;
    table.rows = columns[0].map((_, row) => columns.map((column) => column[row]));
  }
  return report;
}

function readColumn(bytes, { encoding, offset, bytes: length }, lanes) {
  const values = [];
  let value = 0;
  let scale = 1;
  for (const byte of bytes.subarray(offset, offset + length)) {
    value += (byte % 128) * scale;
    scale *= 128;
    if (byte >= 128) continue;
    values.push(value);
    value = 0;
    scale = 1;
  }
  if (encoding === 'zigzag_delta') {
    let sum = 0;
    return values.map((coded) => (sum += coded % 2 ? -(coded + 1) / 2 : coded / 2));
  }
  if (encoding === 'delta') {
    for (const { first, count } of lanes) for (let i = first + 1; i < first + count; i++) values[i] += values[i - 1];
  }
  return values;
}

export function readReport(path) {
  const html = readFileSync(path, 'utf8');
  const report = unpack(blockJson(html, 'nsys-ai-report'));
  const timeline = blockJson(html, 'nsys-ai-timeline');
  const bytes = blockBytes(html, 'nsys-ai-events');
  const columns = Object.fromEntries(
    timeline.columns.map((column) => [column.name, readColumn(bytes, column, timeline.lanes)]),
  );
  const events = [];
  for (const lane of timeline.lanes) {
    for (let i = lane.first; i < lane.first + lane.count; i++) {
      const event = { index: i, lane, count: 1, busy: 0 }; // pages without aggregates lack these columns
      for (const [name, values] of Object.entries(columns)) event[name] = values[i];
      event.end = event.start + event.duration;
      event.text = timeline.names[event.name];
      if (timeline.memory && (lane.kind === 'copy' || lane.kind === 'set')) event.aux = Math.floor(event.aux / 16); // behind it its memory
      events.push(event);
    }
  }
  return { html, report, timeline, events };
}

const GPU_KINDS = ['kernel', 'copy', 'set', 'graph'];
export const onGpu = (event) => GPU_KINDS.includes(event.lane.kind);

/** What a time range holds, the plain way. */
export function rangeTruth({ timeline, events }, from, to) {
  const inside = events.filter(
    (event) => event.start < to && (event.end > from || (event.duration === 0 && event.start >= from)),
  );
  const launching = new Set(events.filter((event) => onGpu(event) && event.link > 0).map((event) => event.link - 1));
  const kernels = new Map();
  for (const event of inside) {
    if (event.lane.kind !== 'kernel') continue;
    const entry = kernels.get(event.text) ?? { count: 0, ns: 0 };
    kernels.set(event.text, entry);
    entry.count += event.start >= from ? 1 : 0;
    entry.ns += Math.min(event.end, to) - Math.max(event.start, from);
  }
  const calls = inside.filter((event) => event.lane.kind === 'api');
  return {
    kernels,
    kernelCount: inside.filter((event) => event.lane.kind === 'kernel' && event.start >= from).length,
    apiCalls: calls.filter((event) => event.start >= from).length,
    launches: calls.filter((event) => event.start >= from && launching.has(event.index)).length,
    blockedNs: calls
      .filter((event) => event.aux % 4 === 1)
      .reduce((sum, event) => sum + Math.min(event.end, to) - Math.max(event.start, from), 0),
    busy: timeline.gpus.map((gpu) => {
      // A bitmap would need one bit per ns; sorted end points do the same exactly.
      const points = inside
        .filter((event) => onGpu(event) && event.lane.gpu === gpu.id)
        .flatMap((event) => [
          [Math.max(event.start, from), 1],
          [Math.min(event.end, to), -1],
        ])
        .sort((a, b) => a[0] - b[0]);
      let open = 0;
      let busy = 0;
      for (let i = 0; i < points.length; i++) {
        if (open > 0) busy += points[i][0] - points[i - 1][0];
        open += points[i][1];
      }
      return busy;
    }),
  };
}
