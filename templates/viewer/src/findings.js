/** @import { App } from './app.js' */
/** @import { Evidence, Finding } from './types.js' */
import { copyButton } from './copy-button.js';
import { h, name, replace } from './dom.js';
import { counted } from './format.js';
import { addSavingBar, addSimulation } from './plan-bars.js';

/** So many findings are read whole; of the others, the minor ones are a line each until they are opened. */
const READ_WHOLE = 2;
const MINOR = ['info', 'low'];

/** @param {App} app @param {Evidence} evidence */
function evidenceButtons(app, evidence) {
  const { table } = evidence;
  return [
    h(
      'button',
      {
        type: 'button',
        class: 'link evidence-link',
        title: app.canPlace(evidence) ? 'Show in the timeline' : 'Show in the tables',
        onclick: () => {
          if (!app.showEvidence(evidence) && table) app.showTable(table, evidence.row ?? -1);
        },
      },
      name(evidence.text),
    ),
    table && app.model.table(table)
      ? h(
          'button',
          { type: 'button', class: 'link small', title: 'Row in the table', onclick: () => app.showTable(table, evidence.row ?? -1) },
          'table',
        )
      : null,
  ];
}

/** @param {Element} element @param {Finding} finding @param {string} file */
function addCopy(element, finding, file) {
  const code = element.querySelector('pre');
  if (!code) return;
  const text = code.textContent ?? '';
  const words = [text.includes('$OUT') ? 'OUT is the directory of this report' : '', text.includes('$TRACE') ? `TRACE the path of ${file}` : ''];
  if (words.some((word) => word !== '')) code.after(h('p', { class: 'muted where' }, name(`${words.filter(Boolean).join(', ')}.`)));
  const label = `Copy the command that verifies: ${finding.title}`;
  code.append(copyButton('copy', { class: 'quiet copy', 'aria-label': label }, () => code.querySelector('code')?.textContent ?? ''));
}

/** @param {Element} element @param {boolean} folded */
function setFolded(element, folded) {
  element.classList.toggle('folded', folded);
  element.querySelector('.fold')?.setAttribute('aria-expanded', String(!folded));
}

/** Turns the title into a button that folds the rest. @param {Element} element */
function addFold(element) {
  const title = element.querySelector('h3');
  if (!title) return;
  const fold = h(
    'button',
    { type: 'button', class: 'fold', 'aria-expanded': 'true', onclick: () => setFolded(element, !element.classList.contains('folded')) },
    ...title.childNodes,
  );
  title.replaceChildren(fold);
}

/** "Open all", while anything is folded. @param {Element[]} folded */
function openAll(folded) {
  const button = h(
    'button',
    {
      type: 'button',
      class: 'link open-all',
      onclick: () => {
        for (const element of folded) setFolded(element, false);
        button.remove();
      },
    },
    `Open the details of ${counted(folded.length, 'minor finding')}`,
  );
  return button;
}

/** The findings' text stands in the page already: this makes evidence lead to its place, and minor findings short. @param {App} app */
export function bringFindingsAlive(app) {
  const all = [...document.querySelectorAll('[data-finding]')];
  const largest = Math.max(0, ...app.report.findings.map(({ saving_ns: saving }) => saving ?? 0));
  for (const element of all) {
    const finding = app.report.findings[Number(element.getAttribute('data-finding'))];
    if (!finding) continue;
    for (const item of element.querySelectorAll('[data-evidence]')) {
      const evidence = finding.evidence[Number(item.getAttribute('data-evidence'))];
      if (evidence) replace(item, ...evidenceButtons(app, evidence));
    }
    addCopy(element, finding, app.report.trace.file);
    addFold(element);
    addSavingBar(element, finding, largest);
    addSimulation(element, finding.simulated);
    const links = finding.links ?? [];
    if (links.length > 0 && !element.querySelector('details + details, .prose + details'))
      element.append(h('p', { class: 'muted background' }, 'Background: ', name(links.join(', '))));
  }
  const minor = all.filter((element, index) => index >= READ_WHOLE && MINOR.some((severity) => element.classList.contains(`severity-${severity}`)));
  if (minor.length === 0) return;
  for (const element of minor) setFolded(element, true);
  all[0].closest('.findings')?.after(openAll(minor));
}
