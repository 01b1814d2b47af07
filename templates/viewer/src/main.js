/** @import { Report, TimelineData } from './types.js' */
import { App } from './app.js';
import { canInflate, decodeBase64, decodeEvents, dropEvents, inflate } from './decode.js';
import { byId, h } from './dom.js';
import { Model } from './model.js';
import { unpackTables } from './unpack.js';

/** @param {string} id */
function readBlock(id) {
  const element = byId(id);
  const text = element.textContent ?? '';
  // The text lives on in the decoded form only.
  element.textContent = '';
  return text;
}

/** Times of the start-up and the application itself, for tests and benchmarks. */
const hook = {
  ready: false,
  timings: /** @type {Record<string, number>} */ ({}),
  app: /** @type {App | null} */ (null),
};

/** @param {string} text */
function complain(text) {
  document.querySelector('main')?.prepend(h('p', { class: 'notice bad', role: 'alert' }, text));
}

async function start() {
  byId('starting').remove();
  const begin = performance.now();
  /** @param {string} step */
  const mark = (step) => (hook.timings[step] = performance.now() - begin);
  /** @type {Report} */
  const report = unpackTables(JSON.parse(readBlock('nsys-ai-report')));
  /** @type {TimelineData} */
  const timeline = JSON.parse(readBlock('nsys-ai-timeline'));
  mark('parsed');
  const compressed = decodeBase64(readBlock('nsys-ai-events'));
  mark('base64');
  const able = canInflate();
  if (!able) dropEvents(timeline);
  const bytes = timeline.raw_bytes > 0 ? await inflate(compressed, timeline.raw_bytes) : new Uint8Array(0);
  mark('inflated');
  const events = decodeEvents(timeline, bytes);
  mark('decoded');
  hook.app = new App(new Model(report, timeline, events));
  mark('built');
  if (!able) complain('This browser cannot unpack the events of the timeline: Chrome 80, Firefox 113, Safari 16.4 and later can. All else is complete.');
  hook.timings.sinceNavigation = performance.now();
  hook.ready = true;
}

Object.defineProperty(window, 'nsysAi', { value: hook });
start().catch((error) => {
  const text = error instanceof Error ? error.message : String(error);
  // What an old browser lacks is undefined, or no function.
  const old = error instanceof TypeError || error instanceof ReferenceError ? '. The browser may be too old: Chrome 100, Firefox 113, Safari 16.4 and later will do. The overview is readable without' : '';
  complain(`The interactive parts could not start: ${text}${old}`);
  throw error;
});
