/** @import { App } from '../app.js' */
/** @import { Communicator } from './data.js' */
import { seriesColor } from '../colors.js';
import { fitCanvas, h, name, replace } from '../dom.js';
import { bytes, counted, duration, integer } from '../format.js';
import { communicatorsOf, knowsArrivals, knowsRates, linkPeak, purposeOf, trafficOf } from './data.js';
import { bandsOf, collectiveAt, paintCommunicator } from './picture.js';

const PADDING_PX = 26;
const LEGEND_MAX = 6;
const NUMBERS_MAX = 9;
const MATRIX_MAX = 128;

/** @param {Communicator} communicator */
const labelOf = ({ id, collectives, devices }) => `${id ?? 'communicator not recorded'}: ${counted(collectives.length, 'collective')}, ${counted(devices.length, 'GPU')}`;

/** What the picture shows, in words. @param {Communicator} communicator */
export function describeCommunicator({ collectives, devices }) {
  const known = collectives.filter(({ skew }) => skew !== null);
  if (known.length === 0) return 'Arrivals unknown: the collectives were not matched between GPUs.';
  const skews = known.map(({ skew }) => skew ?? 0).sort((a, b) => a - b);
  const lasts = devices.map((device) => ({ device, times: known.filter(({ last }) => last === device).length })).filter(({ times }) => times > 0);
  const worst = lasts.sort((a, b) => b.times - a.times || a.device - b.device)[0];
  return `Median arrival skew ${duration(skews[(skews.length - 1) >> 1])}, most ${duration(skews[skews.length - 1])}. ${worst ? `GPU ${worst.device} last in ${integer(worst.times)} of ${counted(known.length, 'collective')}.` : ''}`;
}

/** Bytes from rank (row) to rank (column). @param {App} app @param {string | null} id */
function matrix(app, id) {
  const traffic = trafficOf(app.model, id);
  if (!traffic || traffic.ranks.length > MATRIX_MAX) return null;
  const { ranks, bytes: sent, largest } = traffic;
  const numbers = ranks.length <= NUMBERS_MAX;
  const cell = (/** @type {number} */ from, /** @type {number} */ to) => {
    const size = sent.get(`${from}>${to}`) ?? 0;
    const element = h('td', { title: `Rank ${from} to ${to}: ${bytes(size)}` }, numbers ? h('span', {}, size > 0 ? bytes(size) : '–') : null);
    element.style.setProperty('--share', String(size > 0 ? 0.12 + (0.88 * size) / largest : 0));
    return element;
  };
  return h(
    'div',
    { class: 'matrix-box' },
    h('h4', {}, 'Sends and all-to-all, from rank (row) to rank (column)'),
    h(
      'table',
      { class: numbers ? 'matrix numbers' : 'matrix' },
      h('thead', {}, h('tr', {}, h('td', {}), ranks.map((rank) => h('th', { scope: 'col' }, numbers || rank % 8 === 0 ? String(rank) : '')))),
      h('tbody', {}, ranks.map((from) => h('tr', {}, h('th', { scope: 'row' }, numbers || from % 8 === 0 ? String(from) : ''), ranks.map((to) => cell(from, to))))),
    ),
    h('button', { type: 'button', class: 'link small', onclick: () => app.showTable('comm_peers') }, 'table'),
  );
}

/**
 * Collectives by communicator: who came late, what the bus carried, who sends to whom.
 * @param {App} app @returns {{element: HTMLElement, draw: () => void} | null}
 */
export function communicatorSection(app) {
  const communicators = communicatorsOf(app.model).filter((one) => knowsArrivals(one) || knowsRates(one) || trafficOf(app.model, one.id));
  if (communicators.length === 0) return null;
  let shown = communicators[0];
  const peak = linkPeak(app.model);
  const at = (/** @type {MouseEvent} */ event) => shown.collectives[collectiveAt(shown.collectives.length, canvas.clientWidth, event.offsetX)];
  const canvas = h('canvas', {
    class: 'communicator',
    role: 'img',
    onmousemove: (/** @type {MouseEvent} */ event) => {
      const one = at(event);
      const rates = one?.members.flatMap(({ busbw }) => busbw ?? []) ?? [];
      canvas.title = one
        ? `${one.op} at ${app.model.clock.format(one.start)}\n${one.skew === null ? 'skew unknown' : `skew ${duration(one.skew)}${one.last === null ? '' : `, GPU ${one.last} last`}`}${rates.length > 0 ? `\n${Math.min(...rates).toFixed(1)} GB/s on the bus` : ''}`
        : '';
    },
    onclick: (/** @type {MouseEvent} */ event) => {
      const one = at(event);
      if (!one) return;
      app.open('timeline');
      app.timeline.showRange(one.start, one.end);
    },
  });
  const [words, hint, legend, place] = [h('p', { class: 'muted' }), h('p', { class: 'muted' }), h('div', { class: 'legend' }), h('div', {})];
  const choice = h(
    'select',
    { 'aria-label': 'Communicator', onchange: () => choose(communicators[choice.selectedIndex]) },
    communicators.map((one) => h('option', {}, labelOf(one))),
  );
  const draw = () => {
    const width = Math.max(0, (canvas.parentElement?.clientWidth ?? 0) - PADDING_PX);
    if (width >= 100) paintCommunicator(fitCanvas(canvas, width, bandsOf(shown).height), shown, peak, app.timeline.theme, width);
  };
  const choose = (/** @type {Communicator} */ communicator) => {
    shown = communicator;
    words.textContent = `${describeCommunicator(shown)} ${purposeOf(app.model, shown.id)}`.trim();
    canvas.setAttribute('aria-label', `${labelOf(shown)}. ${words.textContent}`);
    const hidden = shown.devices.length - bandsOf(shown).rows.length;
    hint.textContent = `One column per collective, in order.${knowsArrivals(shown) ? ` Red: the later the GPU came, the stronger.${hidden > 0 ? ` ${counted(hidden, 'GPU')} late less often not shown.` : ''}` : ''}`;
    replace(legend, knowsRates(shown) ? shown.ops.slice(0, LEGEND_MAX).map((op, index) => {
      const swatch = h('i', { class: 'swatch' });
      swatch.style.background = seriesColor(index);
      return h('span', {}, swatch, name(op));
    }) : 'Message sizes not recorded: no bus bandwidth');
    replace(place, matrix(app, shown.id));
    draw();
  };
  const element = h(
    'section',
    { 'aria-label': 'Communicators' },
    h('h2', {}, 'Collectives'),
    h(
      'article',
      { class: 'gpu-card communicators' },
      communicators.length > 1 ? choice : h('h3', { title: shown.id }, name(labelOf(shown))),
      words,
      canvas,
      hint,
      legend,
      place,
      h('button', { type: 'button', class: 'link', onclick: () => app.showTable('comm_instances') }, 'all collectives'),
    ),
  );
  choose(shown);
  return { element, draw };
}
