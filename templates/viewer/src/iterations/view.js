/** @import { App } from '../app.js' */
/** @import { Instance, Source } from './instances.js' */
/** @import { Child } from '../dom.js' */
import { categoryColor, causeName, UTILIZATION_PARTS } from '../colors.js';
import { fitCanvas, h, name, replace } from '../dom.js';
import { counted, duration, durationsLike, integer, percent } from '../format.js';
import { byStanding } from '../gpu-summary.js';
import { lengthOf, sourcesOf, typical } from './instances.js';
import { differenceOf, missingFrom, operationsOf, pairOperations } from './pairing.js';
import { paintInstance, Strip } from './strip.js';

const PAIRS_MAX = 200;
const PAIR_HEIGHT = 34;
const OFFSET_PX = 14;

/** @param {number} ns @param {(ns: number) => string} [text] */
const signed = (ns, text = duration) => `${ns < 0 ? '−' : '+'}${text(Math.abs(ns))}`;

/** What a program repeats, pass by pass: steps, repeating units, NVTX ranges of one name. */
export class IterationsView {
  /** @param {App} app @param {HTMLElement} host */
  constructor(app, host) {
    this.app = app;
    /** @type {Source[] | null} */
    this.found = null;
    /** @type {Source | null} */
    this.source = null;
    /** @type {number[]}  compared: the one asked for, and what it is compared with */
    this.pair = [];
    this.byOrder = false;
    this.what = h('select', { 'aria-label': 'What repeats', onchange: () => this.choose(this.what.value) });
    this.gpu = h('select', { 'aria-label': 'GPU', onchange: () => this.choose(this.gpu.value) });
    this.comparing = h(
      'button',
      {
        type: 'button',
        'aria-pressed': 'false',
        title: 'Clicks compare instead of going to the timeline (Shift + click)',
        onclick: () => {
          this.strip.comparing = !this.strip.comparing;
          this.comparing.setAttribute('aria-pressed', String(this.strip.comparing));
        },
      },
      'Compare',
    );
    this.facts = h('p', { class: 'muted' });
    this.legend = h('div', { class: 'legend' });
    this.outliers = h('div', { class: 'outliers' });
    this.beside = h('section', { class: 'nvtx-section', 'aria-label': 'Two iterations side by side' });
    this.beside.hidden = true;
    this.hint = h('div', { class: 'tooltip fixed', 'aria-hidden': 'true' });
    this.hint.hidden = true;
    this.strip = new Strip(app, {
      open: (index) => this.open(index),
      compare: (index) => this.compare(index),
      hover: (index, time, x, y) => this.hover(index, time, x, y),
    });
    host.append(
      h(
        'section',
        { class: 'nvtx-section', 'aria-label': 'What repeats' },
        h('div', { class: 'toolbar', role: 'toolbar', 'aria-label': 'Iterations' }, h('h2', {}, 'Iterations'), h('div', { class: 'group' }, this.what, this.gpu, this.comparing)),
        this.facts,
        this.legend,
        this.strip.canvas,
        this.outliers,
      ),
      this.beside,
      this.hint,
    );
    new ResizeObserver(() => this.draw()).observe(host);
  }

  get sources() {
    const { model, timeline } = this.app;
    const order = byStanding(model.timeline.utilization);
    return (this.found ??= sourcesOf(model, () => timeline.layout.projections).sort((a, b) => order(a.gpu, b.gpu)));
  }

  /** @param {string} key */
  choose(key) {
    this.app.state.set({ iu: key, ip: '' });
    this.restore();
  }

  /** As the address says. */
  restore() {
    const { iu, ip } = this.app.state.values;
    const source = this.sources.find(({ key }) => key === iu) ?? this.sources[0];
    if (!source) return;
    this.source = source;
    this.fillChoices(source);
    const facts = typical(source.instances);
    this.pair = ip
      .split('~')
      .filter((text) => /^\d+$/u.test(text))
      .map(Number)
      .filter((index) => index < source.instances.length)
      .slice(0, 2);
    if (this.pair.length < 2) this.pair = [];
    this.strip.pair = this.pair;
    this.strip.show(source.gpu, source.instances, facts);
    this.describe(source, facts);
    this.showPair();
  }

  /** @param {Source} source */
  fillChoices(source) {
    const same = (/** @type {Source} */ other) => other.label === source.label;
    /** @type {Map<string, Source>} */
    const kinds = new Map();
    for (const one of this.sources) if (!kinds.has(one.label) || one.gpu === source.gpu) kinds.set(one.label, one);
    replace(this.what, ...[...kinds.values()].map(({ key, label }) => h('option', { value: key }, label)));
    replace(this.gpu, ...this.sources.filter(same).map(({ key, gpu }) => h('option', { value: key }, `GPU ${gpu}`)));
    this.what.value = this.gpu.value = source.key;
    this.gpu.hidden = this.gpu.options.length < 2;
  }

  /** @param {Source} source @param {{median: number, index: number, count: number}} facts */
  describe({ gpu, instances }, facts) {
    const { model } = this.app;
    const outliers = [...instances.keys()].filter((index) => instances[index].outlier);
    const { cut, end } = this.strip;
    const shown = this.strip.rows.length;
    const absent = instances.filter(({ start, end }) => !model.complete(start, end)).length;
    replace(
      this.facts,
      `${counted(instances.length, 'iteration')}, median ${duration(facts.median)}${facts.count < instances.length ? ` (of the ${integer(facts.count)} counted)` : ''}, ${counted(outliers.length, 'outlier')}` +
        `${shown < instances.length ? `; ${integer(shown)} of them are drawn` : ''}${cut > 0 ? `; ▶: ${integer(cut)} longer than ${duration(end)}, cut there` : ''}. ` +
        (absent > 0 ? `Kernels of ${integer(absent)} are not on the page: their rows show only how long they take. ` : '') +
        'Dashed: the median; ◆: the iteration closest to it. Click: show it in the timeline; Shift + click: compare it with ◆, then with another.',
    );
    const names = new Set();
    for (const row of this.strip.rows) for (const events of operationsOf(model, gpu, instances[row])) for (const event of events) names.add(model.events.name[event]);
    const used = new Set([...names].map((id) => model.category(id) ?? 'copy'));
    replace(
      this.legend,
      ...model.timeline.categories.filter((category) => used.has(category)).map((category) => h('span', {}, swatch(categoryColor(category)), category)),
      h('span', {}, h('i', { class: 'swatch util--idle' }), 'idle'),
    );
    this.listOutliers(outliers, facts.index);
  }

  /** Why outliers are longer: what the table says, or the part of the time that grew most. @param {number[]} outliers @param {number} usual */
  listOutliers(outliers, usual) {
    const instances = this.source?.instances ?? [];
    const OUTLIERS_MAX = 12;
    const longest = [...outliers].sort((a, b) => lengthOf(instances[b]) - lengthOf(instances[a])).slice(0, OUTLIERS_MAX);
    replace(
      this.outliers,
      longest.length > 0 ? h('h3', {}, outliers.length > longest.length ? `The ${longest.length} longest outliers` : 'Outliers') : null,
      longest.length > 0
        ? h(
            'ul',
            { class: 'outlier-list' },
            longest.map((index) =>
              h(
                'li',
                {},
                h('button', { type: 'button', class: 'link', onclick: () => this.open(index) }, name(instances[index].label)),
                ` ${signed(lengthOf(instances[index]) - lengthOf(instances[usual]))}: ${this.why(instances[index], instances[usual])} `,
                h('button', { type: 'button', class: 'link', 'aria-label': `Compare ${instances[index].label}`, onclick: () => this.compare(index) }, 'compare'),
              ),
            ),
          )
        : null,
    );
  }

  /** @param {Instance} instance @param {Instance} usual */
  why(instance, usual) {
    const [own, other] = [this.parts(instance), this.parts(usual)];
    const said = instance.cause ? [causeName(instance.cause)] : [];
    if (own && other) {
      const grown = own.map((ns, part) => ns - other[part]);
      const part = grown.indexOf(Math.max(...grown));
      said.push(`${UTILIZATION_PARTS[part].label.toLowerCase()} ${signed(grown[part])}`);
    }
    return said.join(', ') || 'cause not known';
  }

  /** ns of compute, exposed communication, exposed copy, idle; null where they are not known exactly. @param {Instance} instance */
  parts({ start, end }) {
    const { timeline, model } = this.app;
    const data = model.timeline.utilization.find(({ device_id }) => device_id === this.source?.gpu);
    const sums = data ? timeline.painter.utilization(data, 0) : null;
    return sums?.isExact ? sums.between(start, end) : null;
  }

  /** @param {number} index */
  open(index) {
    const instance = this.source?.instances[index];
    if (!instance) return;
    this.hint.hidden = true;
    this.app.open('timeline');
    this.app.timeline.showRange(instance.start, instance.end);
    const missing = missingFrom(this.app.model, { 'this iteration': instance });
    if (missing) this.app.announce(missing);
  }

  /** With the one compared before, at first with the one closest to the median. @param {number} index */
  compare(index) {
    if (!this.source) return;
    const usual = typical(this.source.instances).index;
    const before = this.pair[0] ?? usual;
    if (before === index) return;
    this.pair = [index, before];
    this.strip.pair = this.pair;
    this.app.state.set({ ip: this.pair.join('~') });
    this.strip.draw();
    this.showPair();
    this.app.announce(`Comparing ${this.source.instances[index].label} with ${this.source.instances[before].label}`);
    this.beside.scrollIntoView({ block: 'nearest' });
  }

  /** @param {number} index @param {number} time @param {number} x @param {number} y */
  hover(index, time, x, y) {
    const { model } = this.app;
    const instance = this.source?.instances[index];
    this.hint.hidden = !instance;
    if (!instance || !this.source) return;
    const event = time >= 0 && time < lengthOf(instance) ? this.strip.eventAt(model, index, time) : -1;
    const parts = this.parts(instance);
    const missing = missingFrom(model, { 'this iteration': instance });
    replace(
      this.hint,
      h('div', { class: 'tooltip-title' }, name(this.strip.describe(index))),
      ...(parts ? UTILIZATION_PARTS.map(({ label }, part) => h('div', {}, `${label} `, h('b', {}, duration(parts[part])), ` ${percent(parts[part], lengthOf(instance))}`)) : []),
      event >= 0 && model.events.count[event] === 1 ? h('div', {}, name(model.shortNameOf(event)), ' ', h('b', {}, duration(model.events.duration[event]))) : null,
      missing ? h('div', {}, missing) : null,
    );
    const box = this.hint.getBoundingClientRect();
    const left = x + OFFSET_PX + box.width > innerWidth ? x - OFFSET_PX - box.width : x + OFFSET_PX;
    this.hint.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, Math.min(y + OFFSET_PX, innerHeight - box.height - 4))}px)`;
  }

  showPair() {
    const [a, b] = this.pair.map((index) => this.source?.instances[index]);
    this.beside.hidden = !a || !b;
    if (!a || !b || !this.source) return;
    const { model } = this.app;
    const missing = missingFrom(model, { A: a, B: b });
    const pairs = missing ? [] : pairOperations(model, this.source.gpu, a, b);
    const alone = pairs.filter((pair) => pair.a < 0 || pair.b < 0).length;
    this.pairCanvas = h('canvas', { class: 'strip-pair', role: 'img', 'aria-label': `A, ${duration(lengthOf(a))}, above B, ${duration(lengthOf(b))}` });
    const order = h('select', { 'aria-label': 'Order', onchange: () => { this.byOrder = order.value === 'time'; this.showPair(); } }, h('option', { value: 'difference' }, 'Largest difference first'), h('option', { value: 'time' }, 'In time order'));
    order.value = this.byOrder ? 'time' : 'difference';
    const ranked = this.byOrder ? pairs : [...pairs].sort((x, y) => Math.abs(differenceOf(model, y)) - Math.abs(differenceOf(model, x)));
    replace(
      this.beside,
      h(
        'div',
        { class: 'toolbar' },
        h('h2', {}, name(`A: ${a.label}, ${duration(lengthOf(a))}. B: ${b.label}, ${duration(lengthOf(b))}. A − B: ${signed(lengthOf(a) - lengthOf(b))}`)),
        h('div', { class: 'group' }, missing ? null : order, h('button', { type: 'button', onclick: () => this.clearPair() }, 'Close')),
      ),
      this.pairCanvas,
      h(
        'p',
        { class: 'muted' },
        missing
          ? `${missing}: blocks of several are drawn, and cannot be compared one by one.`
          : `${counted(pairs.length - alone, 'operation')} in both, ${integer(alone)} in one only${ranked.length > PAIRS_MAX ? `; the first ${PAIRS_MAX} are listed` : ''}. A difference is that of the duration and of the idle time before.`,
      ),
      missing ? null : this.pairTable(ranked.slice(0, PAIRS_MAX)),
    );
    this.drawPair();
  }

  clearPair() {
    this.pair = this.strip.pair = [];
    this.app.state.set({ ip: '' });
    this.strip.draw();
    this.showPair();
    this.strip.canvas.focus();
  }

  /** @param {import('./pairing.js').Pair[]} pairs */
  pairTable(pairs) {
    const { app } = this;
    const { model } = app;
    const number = (/** @type {Child} */ text) => h('td', { class: 'num' }, text);
    const own = (/** @type {number} */ event) => (event < 0 ? 0 : model.events.duration[event]);
    const [place, length, gap, change] = [
      pairs.map(({ at }) => at),
      pairs.flatMap(({ a, b }) => [own(a), own(b)]),
      pairs.flatMap(({ gapA, gapB }) => [gapA, gapB]),
      pairs.map((pair) => differenceOf(model, pair)),
    ].map(durationsLike);
    const text = (/** @type {number} */ event, /** @type {string} */ value) => (event < 0 ? '–' : value);
    const heading = (/** @type {string} */ text) => h('th', { class: 'num', scope: 'col' }, text);
    return h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Operations of both iterations' },
      h(
        'table',
        { class: 'plain pairs' },
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Operation'), ...['At', 'A', 'B', 'Idle before, A', 'Idle before, B', 'A − B'].map(heading))),
        h(
          'tbody',
          {},
          pairs.map((pair) => {
            const event = pair.a >= 0 ? pair.a : pair.b;
            const difference = differenceOf(model, pair);
            return h(
              'tr',
              {},
              h(
                'td',
                {},
                h(
                  'button',
                  {
                    type: 'button',
                    class: 'link',
                    title: model.nameOf(event),
                    onclick: () => {
                      app.open('timeline');
                      app.timeline.selectEvent(event, { zoom: true });
                    },
                  },
                  swatch(app.timeline.colors.forLane(model.laneOf(event))(event)),
                  name(model.shortNameOf(event)),
                ),
              ),
              number(place(pair.at)),
              number(text(pair.a, length(own(pair.a)))),
              number(text(pair.b, length(own(pair.b)))),
              number(text(pair.a, gap(pair.gapA))),
              number(text(pair.b, gap(pair.gapB))),
              number(h('b', { class: difference > 0 ? 'bad' : null }, signed(difference, change))),
            );
          }),
        ),
      ),
    );
  }

  drawPair() {
    const [a, b] = this.pair.map((index) => this.source?.instances[index]);
    const { pairCanvas: canvas, source, app } = this;
    const width = Math.max(0, (this.beside.clientWidth ?? 0) - 24);
    if (!canvas || !a || !b || !source || width < 60) return;
    const context = fitCanvas(canvas, width, 2 * PAIR_HEIGHT + 4);
    const { theme } = app.timeline;
    context.clearRect(0, 0, width, 2 * PAIR_HEIGHT + 4);
    context.font = theme.font;
    context.textBaseline = 'middle';
    const scale = (width - 20) / Math.max(lengthOf(a), lengthOf(b), 1);
    [a, b].forEach((instance, row) => {
      const top = row * (PAIR_HEIGHT + 4);
      context.fillStyle = theme.text;
      context.fillText('AB'[row], 3, top + PAIR_HEIGHT / 2);
      context.fillStyle = theme.idle;
      context.fillRect(20, top, lengthOf(instance) * scale, PAIR_HEIGHT);
      paintInstance(context, app, source.gpu, instance, { left: 20, top, height: PAIR_HEIGHT, scale, labels: true });
    });
  }

  draw() {
    if (this.app.view !== 'iterations') return;
    this.strip.draw();
    this.drawPair();
  }
}

/** @param {string} color */
function swatch(color) {
  const element = h('i', { class: 'swatch' });
  element.style.background = color;
  return element;
}
