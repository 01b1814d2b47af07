import { App } from './app.js';
import { readBytes, readJson } from './blocks.js';
import { decodeEvents } from './decode.js';
import { byId, h } from './dom.js';
import { Model } from './model.js';
import { unpackTables } from './unpack.js';

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
  const [packed, timeline, bytes] = await Promise.all([readJson('nsys-ai-report'), readJson('nsys-ai-timeline'), readBytes('nsys-ai-events')]);
  mark('inflated');
  const report = unpackTables(packed);
  const events = decodeEvents(timeline, bytes);
  mark('decoded');
  hook.app = new App(new Model(report, timeline, events));
  mark('built');
  hook.timings.sinceNavigation = performance.now();
  hook.ready = true;
}

Object.defineProperty(window, 'nsysAi', { value: hook });
start().catch((error) => {
  const text = error instanceof Error ? error.message : String(error);
  // What an old browser lacks is undefined, or no function.
  const old = error instanceof TypeError || error instanceof ReferenceError ? '. The browser may be too old: Chrome 103, Firefox 113, Safari 16.4 and later will do. The overview is readable without' : '';
  complain(`The interactive parts could not start: ${text}${old}`);
  throw error;
});
