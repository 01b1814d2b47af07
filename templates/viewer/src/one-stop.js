const CONTROLS = 'button, select, input';

/** Keys that a control uses itself. @param {HTMLElement} target @param {string} key */
function isOwn(target, key) {
  const sideways = key === 'ArrowLeft' || key === 'ArrowRight' || key === 'Home' || key === 'End';
  if (target instanceof HTMLSelectElement) return !sideways;
  return target instanceof HTMLInputElement && target.type !== 'checkbox' && sideways;
}

/**
 * Makes controls beside each other one stop of Tab, whose arrows walk: toolbar, tabs, labels. A control that was clicked leaves the
 * arrows to the view.
 * @param {HTMLElement} container @returns {() => void}  to be called when its controls have changed
 */
export function oneStop(container) {
  const controls = () => /** @type {HTMLElement[]} */ ([...container.querySelectorAll(CONTROLS)]).filter((control) => !control.matches(':disabled'));
  /** @type {HTMLElement | null} */
  let current = null;
  const sync = () => {
    const list = controls();
    if (!current || !list.includes(current)) current = list.find((control) => control === document.activeElement) ?? list[0] ?? null;
    for (const control of list) control.tabIndex = control === current ? 0 : -1;
  };
  container.addEventListener('focusin', (event) => {
    current = /** @type {HTMLElement} */ (event.target);
    sync();
  });
  container.addEventListener('keydown', (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    const { key } = event;
    const step = key === 'ArrowRight' || key === 'ArrowDown' ? 1 : key === 'ArrowLeft' || key === 'ArrowUp' ? -1 : 0;
    if ((step === 0 && key !== 'Home' && key !== 'End') || isOwn(target, key) || event.altKey || event.ctrlKey || event.metaKey || !target.matches(':focus-visible')) return;
    const list = controls().filter((control) => control.checkVisibility?.() ?? true);
    const at = list.indexOf(target);
    if (at < 0) return;
    const to = key === 'Home' ? 0 : key === 'End' ? list.length - 1 : Math.max(0, Math.min(list.length - 1, at + step));
    event.preventDefault();
    list[to].focus();
  });
  sync();
  return sync;
}
