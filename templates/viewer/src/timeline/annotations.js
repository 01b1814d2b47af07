/** @import { TimelineView } from './view.js' */
/** @import { Mark, Measure } from './marks.js' */
import { h } from '../dom.js';
import { duration } from '../format.js';
import { fields } from './event-details.js';
import { formatMarks, formatMeasure } from './marks.js';

const SNAP_PX = 7;

/** Marks with notes and the two-point ruler. Both stand in the link. */
export class Annotations {
  /** @param {TimelineView} view */
  constructor(view) {
    this.view = view;
    /** @type {Mark[]} */
    this.marks = [];
    /** @type {Measure} */
    this.measure = null;
    /** First point, while the second one is still chosen. @type {number | null} */
    this.from = null;
  }

  /** Where the next mark or point goes: the nearest edge of what is under the pointer, else of the selection. */
  here() {
    const { view } = this;
    const { pointerX, viewport, width, model, hovered, selected, range } = view;
    if (pointerX >= 0) {
      const time = viewport.time(pointerX, width);
      if (hovered < 0) return time;
      const edges = [model.events.start[hovered], model.end(hovered)];
      const near = edges.reduce((best, edge) => (Math.abs(edge - time) < Math.abs(best - time) ? edge : best));
      return Math.abs(viewport.x(near, width) - pointerX) <= SNAP_PX ? near : time;
    }
    if (selected >= 0) return model.events.start[selected];
    return range ? range[0] : (viewport.from + viewport.to) / 2;
  }

  save() {
    this.view.app.state.set({ mk: formatMarks(this.marks), mr: formatMeasure(this.measure) });
    this.view.draw();
  }

  addMark() {
    const mark = { time: Math.round(this.here()), text: '' };
    this.marks = [...this.marks, mark].sort((a, b) => a.time - b.time);
    this.save();
    this.showMarks(mark);
    this.view.app.announce(`Mark at ${this.view.model.clock.format(mark.time)}`);
  }

  /** First point, second point, and away with it. */
  measureHere() {
    const { clock } = this.view.model;
    if (this.from === null && this.measure) this.measure = null;
    else if (this.from === null) {
      this.from = this.here();
      this.view.app.announce(`Measuring from ${clock.format(this.from)}: choose the other point and press R`);
    } else {
      const to = this.here();
      this.measure = [Math.min(this.from, to), Math.max(this.from, to)];
      this.from = null;
      this.view.app.announce(`Distance ${duration(this.measure[1] - this.measure[0])}`);
    }
    this.save();
  }

  /** What the ruler shows now, with the second point still moving. @returns {Measure} */
  shown() {
    if (this.from === null) return this.measure;
    const to = this.here();
    return [Math.min(this.from, to), Math.max(this.from, to)];
  }

  /** @param {Mark} [focused] */
  showMarks(focused) {
    const { view } = this;
    const { clock } = view.model;
    view.panel.refresh = () => this.showMarks();
    /** @type {HTMLInputElement | null} */
    let wanted = null;
    const items = this.marks.map((mark, index) => {
      const note = h('input', {
        value: mark.text,
        placeholder: 'Note',
        maxlength: 200,
        'aria-label': `Note of the mark at ${clock.format(mark.time)}`,
        oninput: () => {
          mark.text = note.value;
          this.save();
        },
        // Written: the keyboard goes back to the tracks.
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          if (event.key !== 'Enter' && event.key !== 'Escape') return;
          event.preventDefault();
          event.stopPropagation();
          view.canvas.focus({ preventScroll: true });
        },
      });
      if (mark === focused) wanted = note;
      const before = index > 0 ? `${duration(mark.time - this.marks[index - 1].time)} after the one before` : null;
      return h(
        'li',
        {},
        fields([
          ['Time', clock.format(mark.time)],
          ['Distance', before],
        ]),
        note,
        h(
          'div',
          { class: 'buttons' },
          h('button', { type: 'button', onclick: () => view.goTo(mark.time) }, 'Show'),
          h(
            'button',
            {
              type: 'button',
              onclick: () => {
                this.marks = this.marks.filter((other) => other !== mark);
                this.save();
                if (this.marks.length > 0) this.showMarks();
                else view.panel.close();
              },
            },
            'Delete',
          ),
        ),
      );
    });
    view.panel.show('Marks', [
      h('p', { class: 'muted' }, 'Kept in the link. B adds one, R measures between two points.'),
      h('ol', { class: 'marks' }, items),
    ]);
    /** @type {HTMLInputElement | null} */ (wanted)?.focus();
  }

  /** The mark at a place of the ruler. @param {number} x px */
  markAt(x) {
    const { viewport, width } = this.view;
    return this.marks.find((mark) => Math.abs(viewport.x(mark.time, width) - x) <= SNAP_PX) ?? null;
  }
}
