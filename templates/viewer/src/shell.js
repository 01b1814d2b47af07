/** @import { StateStore } from './state.js' */
import { byId, copyText, h } from './dom.js';
import { oneStop } from './one-stop.js';

const THEMES = ['auto', 'light', 'dark'];
const THEME_KEY = 'nsys-ai-theme';
const SAID_MS = 1500;

/** The theme the reader chose last; storage may be off for files. */
function storedTheme() {
  try {
    const stored = localStorage.getItem(THEME_KEY) ?? 'auto';
    return THEMES.includes(stored) ? stored : 'auto';
  } catch {
    return 'auto';
  }
}

/** What stands above the views of a page: their tabs, the link to this place, the theme. */
export class Shell {
  /**
   * @param {[string, string][]} views  key and label
   * @param {{state: StateStore, open: (view: any) => void, themed: () => void}} page  themed: what draws has to draw again
   * @param {...HTMLElement} more  buttons of this page alone
   */
  constructor(views, { state, open, themed }, ...more) {
    this.views = views.map(([view]) => view);
    this.themed = themed;
    this.shown = '';
    /** Where the keyboard was when a view was left. @type {Map<string, HTMLElement>} */
    this.left = new Map();
    this.theme = storedTheme();
    document.documentElement.dataset.theme = this.theme;
    document.documentElement.classList.add('js');
    this.tabs = views.map(([view, label], index) => h('button', { type: 'button', 'data-view': view, title: `${label} (${index + 1})`, onclick: () => open(view) }, label));
    const link = h(
      'button',
      {
        type: 'button',
        title: 'Copy a link to exactly this place',
        onclick: async () => {
          state.write(false);
          link.textContent = (await copyText(location.href)) ? 'Copied' : 'Failed';
          setTimeout(() => (link.textContent = 'Link'), SAID_MS);
        },
      },
      'Link',
    );
    this.themeButton = h('button', { type: 'button', title: 'Theme: automatic, light, dark', onclick: () => this.nextTheme() });
    this.showTheme();
    byId('views').append(...this.tabs);
    byId('tools').append(link, this.themeButton, ...more);
    byId('views').hidden = byId('tools').hidden = false;
    oneStop(byId('views'));
    oneStop(byId('tools'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.themed());
    this.printLight();
  }

  /** Paper is white, and what is painted has the colours of the theme it was painted in. */
  printLight() {
    const wear = (/** @type {string} */ theme) => {
      if (document.documentElement.dataset.theme === theme) return;
      document.documentElement.dataset.theme = theme;
      this.themed();
    };
    window.addEventListener('beforeprint', () => wear('light'));
    window.addEventListener('afterprint', () => wear(this.theme));
  }

  nextTheme() {
    this.theme = THEMES[(THEMES.indexOf(this.theme) + 1) % THEMES.length];
    try {
      localStorage.setItem(THEME_KEY, this.theme);
    } catch {
      // The choice then lasts as long as the page.
    }
    document.documentElement.dataset.theme = this.theme;
    this.showTheme();
    this.themed();
  }

  showTheme() {
    this.themeButton.textContent = `◐ ${this.theme[0].toUpperCase()}${this.theme.slice(1)}`;
  }

  /** Shows one view and hides the others. @param {string} view */
  show(view) {
    const focused = document.activeElement;
    if (this.shown !== view && focused instanceof HTMLElement && focused.closest('.view')) this.left.set(this.shown, focused);
    this.shown = view;
    for (const key of this.views) byId(`view-${key}`).hidden = key !== view;
    for (const tab of this.tabs) {
      if (tab.dataset.view === view) tab.setAttribute('aria-current', 'page');
      else tab.removeAttribute('aria-current');
    }
    document.body.dataset.view = view;
  }

  /** After going back or forth: what had the focus in this view has it again, so that it is never lost. */
  refocus() {
    if (document.activeElement?.closest(`header, #view-${this.shown}`)) return;
    const left = this.left.get(this.shown);
    const tab = this.tabs.find(({ dataset }) => dataset.view === this.shown);
    (left?.isConnected ? left : tab)?.focus();
  }

  /** The view a link means; the first one for any other word. @param {string} wanted */
  viewOf(wanted) {
    return this.views.includes(wanted) ? wanted : this.views[0];
  }

  /** @param {string} text  for screen readers */
  announce(text) {
    byId('live').textContent = text;
  }
}
