// Writes report.html from plain objects, as the C program does: the reference for the block formats.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { render } from './mustache.mjs';

const templates = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'templates');

class ByteWriter {
  constructor() {
    this.bytes = new Uint8Array(1 << 16);
    this.length = 0;
  }

  varint(value) {
    if (this.length + 10 > this.bytes.length) {
      const larger = new Uint8Array(this.bytes.length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    while (value >= 128) {
      this.bytes[this.length++] = (value % 128) + 128;
      value = Math.floor(value / 128);
    }
    this.bytes[this.length++] = value;
  }

  zigzag(value) {
    this.varint(value >= 0 ? value * 2 : -value * 2 - 1);
  }
}

const ENCODINGS = {
  start: 'delta',
  duration: 'varint',
  name: 'varint',
  link: 'zigzag_delta',
  corr: 'zigzag_delta',
  aux: 'varint',
  count: 'varint',
  busy: 'varint',
};

/**
 * @param lanes  [{kind, gpu, pid, tid, context, stream, events: [{start, duration, name, link?, corr, aux, count?, busy?}]}];
 *   `link` refers to the launching event object; events are in start order
 */
export function encodeEvents(lanes) {
  for (const lane of lanes)
    for (const event of lane.events) if (event.link) event.link.aux |= 4;
  let index = 0;
  const headers = lanes.map(({ events, ...header }) => {
    const first = index;
    for (const event of events) event.index = index++;
    return { ...header, first, count: events.length };
  });
  const columns = [];
  const parts = [];
  let offset = 0;
  for (const [name, encoding] of Object.entries(ENCODINGS)) {
    const writer = new ByteWriter();
    let previous = 0;
    for (const lane of lanes) {
      if (encoding === 'delta') previous = 0;
      for (const event of lane.events) {
        let value = event[name] ?? (name === 'count' ? 1 : 0);
        if (name === 'link') value = event.link ? event.link.index + 1 : 0;
        if (encoding === 'varint') writer.varint(value);
        else if (encoding === 'delta') writer.varint(value - previous);
        else writer.zigzag(value - previous);
        previous = value;
      }
    }
    const bytes = writer.bytes.subarray(0, writer.length);
    columns.push({ name, encoding, offset, bytes: bytes.length });
    parts.push(bytes);
    offset += bytes.length;
  }
  const raw = Buffer.concat(parts);
  return { lanes: headers, columns, events: index, raw_bytes: raw.length, base64: deflateRawSync(raw).toString('base64') };
}

/** JSON that is safe inside a script element, or deflated, as large blocks are. */
const plain = (value) => JSON.stringify(value).replace(/[<>&]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`);
const packed = (value) => deflateRawSync(JSON.stringify(value)).toString('base64');

const SEVERITY_LABELS = { high: 'High', medium: 'Medium', low: 'Low', info: 'Info' };

/** @param report @param timeline  without the encoder's part @param lanes */
export function renderReport(report, timeline, lanes) {
  const { base64, ...encoded } = encodeEvents(lanes);
  const dist = (name) => readFileSync(join(templates, 'viewer', 'dist', name), 'utf8');
  const escape = (text) => text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]);
  return render(readFileSync(join(templates, 'report.html'), 'utf8'), {
    title: report.trace.file,
    verdict: report.verdict.text,
    has_findings: report.findings.length > 0,
    findings: report.findings.map((finding, index) => ({
      ...finding,
      index,
      severity_label: SEVERITY_LABELS[finding.severity],
      why_html: `<p>${escape(finding.why)}</p>`,
      recommendation_html: `<p>${escape(finding.recommendation)}</p>`,
      evidence: finding.evidence.map((evidence, position) => ({ index: position, text: evidence.text })),
    })),
    style: dist('viewer.css'),
    script: dist('viewer.js'),
    style_sha256_b64: dist('viewer.css.sha256'),
    script_sha256_b64: dist('viewer.js.sha256'),
    report_json: packed(report),
    timeline_json: plain({
      ...timeline,
      ...encoded,
      embedded_events: encoded.events,
      total_events: timeline.total_events ?? encoded.events,
    }),
    events_b64: base64,
  });
}
