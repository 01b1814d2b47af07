// A browser, pages that notice every misbehaviour, and a few assertions.
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { chromium } = createRequire(join(here, '..', '..', '..', 'templates', 'viewer', 'package.json'))('playwright-core');

export const WIDE = { viewport: { width: 1280, height: 800 } };
export const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true };

export function openBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
    // launch() makes a fresh profile directory and removes it afterwards.
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-gpu-compositing', // an eighth less processor time
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

export class Suite {
  constructor(browser) {
    this.browser = browser;
    this.passed = 0;
    this.failed = 0;
    this.prefix = '';
    this.only = process.env.VIEWER_TEST ? new RegExp(process.env.VIEWER_TEST) : null;
  }

  wants(name) {
    return !this.only || this.only.test(`${this.prefix}${name}`);
  }

  async test(name, body) {
    const title = `${this.prefix}${name}`;
    if (!this.wants(name)) return;
    try {
      await body();
      this.passed++;
      console.log(`ok    ${title}`);
    } catch (error) {
      this.failed++;
      console.log(
        `FAIL  ${title}\n      ${String(error.stack ?? error)
          .split('\n')
          .slice(0, 6)
          .join('\n      ')}`,
      );
    }
  }

  /** A fresh page of the report, and what it complains of: any console error, exception, dialog, or request for anything but the file. */
  async open(path, { hash = '', context = WIDE, ready = true } = {}) {
    const browserContext = await this.browser.newContext({ ...context });
    const page = await browserContext.newPage();
    const url = pathToFileURL(path).href;
    const complaints = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(`console: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    browserContext.on('request', (request) => {
      const target = request.url();
      if (target.split('#')[0] !== url && !target.startsWith('data:')) complaints.push(`request: ${target}`);
    });
    try {
      await page.goto(url + hash);
      if (ready) await page.waitForFunction(() => globalThis.nsysAi?.ready, null, { timeout: 20000 });
    } catch (error) {
      await browserContext.close();
      throw error;
    }
    return { page, complaints, close: () => browserContext.close() };
  }

  /** Runs `body` on a fresh page of the report, and fails on any complaint. */
  async page(path, { expectErrors = false, ...options } = {}, body) {
    const { page, complaints, close } = await this.open(path, options);
    try {
      await body(page);
      if (!expectErrors) equal(complaints, [], 'the page misbehaved');
    } finally {
      await close();
    }
    return complaints;
  }

  /**
   * Runs tests on one page of the report, which takes most of the time of a short test to open: `run` gets what runs a body on it. Each
   * follows a link of its own first; a test that fails leaves a fresh page to the next.
   */
  async onOnePage(path, run) {
    let opened = null;
    const close = async () => {
      const { close: closeIt } = opened ?? {};
      opened = null;
      await closeIt?.();
    };
    try {
      await run(async (body) => {
        opened ??= await this.open(path);
        const { page, complaints } = opened;
        try {
          await body(page);
          equal(complaints, [], 'the page misbehaved');
        } catch (error) {
          await close();
          throw error;
        }
      });
    } finally {
      await close();
    }
  }

  finish() {
    console.log(`${this.passed} passed, ${this.failed} failed`);
    return this.failed === 0 && this.passed > 0 ? 0 : 1;
  }
}

export function check(condition, message) {
  if (!condition) throw new Error(message);
}

export function equal(actual, expected, message = 'values differ') {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${message}: got ${left?.slice(0, 600)}, expected ${right?.slice(0, 600)}`);
}

export function near(actual, expected, tolerance, message = 'values differ') {
  if (!(Math.abs(actual - expected) <= tolerance))
    throw new Error(`${message}: got ${actual}, expected ${expected} within ${tolerance}`);
}

/** State of the timeline view, as plain data. */
export function timelineState(page) {
  return page.evaluate(() => {
    const view = globalThis.nsysAi.app.timeline;
    return {
      from: view.viewport.from,
      to: view.viewport.to,
      selected: view.selected,
      range: view.range,
      gap: view.selectedGap,
      width: view.width,
      height: view.height,
      scrollTop: view.scrollTop,
      view: globalThis.nsysAi.app.view,
      panel: !view.panel.element.hidden,
    };
  });
}

/** Lets the page draw. */
export function settle(page) {
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
}

/** Screen position of an event's middle; null when it is not in sight. */
export async function placeOf(page, event) {
  await settle(page);
  return page.evaluate((wanted) => {
    const view = globalThis.nsysAi.app.timeline;
    const found = view.layout.find(wanted);
    const box = view.canvas.getBoundingClientRect();
    const { start, duration } = view.model.events;
    const x = view.viewport.x(start[wanted] + duration[wanted] / 2, view.width);
    const y = found.track.top - view.scrollTop + 2 + (found.row + 0.5) * found.track.rowHeight;
    return x < 0 || x > view.width || y < 0 || y > view.height ? null : { x: box.x + x, y: box.y + y };
  }, event);
}
