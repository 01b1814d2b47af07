/** @import { TimelineView } from './view.js' */
import { context2d } from '../dom.js';
import { download, fileName } from '../download.js';
import { paintOverlays } from './paint-overlays.js';
import { paintRankLines } from './rank-lines.js';
import { paintRuler } from './ruler.js';
import { SvgContext } from './svg-context.js';

const LABELS_PX = 210;
const RULER_PX = 26;
const CAPTION_PX = 22;

/** px of tracks in sight. @param {TimelineView} view */
const shownHeight = ({ height, layout, scrollTop }) => Math.min(height, layout.height - scrollTop);

/** Labels of the tracks, and below them what the picture shows. @param {CanvasRenderingContext2D} context @param {TimelineView} view */
function paintLabels(context, view) {
  const { theme, layout, scrollTop, model, viewport } = view;
  const shown = shownHeight(view);
  context.font = theme.font;
  context.textBaseline = 'middle';
  for (const track of layout.visible) {
    const top = layout.screenTop(track, scrollTop);
    if (top + track.height < (track.pinned ? 0 : layout.pinnedHeight) || top > shown) continue;
    context.fillStyle = track.parents.length === 0 ? theme.text : theme.muted;
    const label = track.label.length > 32 ? `${track.label.slice(0, 31)}…` : track.label;
    context.fillText(label, 8 + 9 * track.parents.length, RULER_PX + top + Math.min(track.height, 44) / 2);
  }
  context.fillStyle = theme.muted;
  const caption = `${model.report.trace.file}, ${model.clock.format(viewport.from, 1000)} to ${model.clock.format(viewport.to, 1000)}`;
  context.fillText(caption, 8, RULER_PX + shown + CAPTION_PX / 2);
}

/** What the timeline shows now, with labels, ruler and a caption. @param {TimelineView} view */
export function timelineImage(view) {
  const { theme, width } = view;
  view.drawNow();
  const shown = shownHeight(view);
  const ratio = view.canvas.width / Math.max(1, width);
  const canvas = document.createElement('canvas');
  canvas.width = Math.round((LABELS_PX + width) * ratio);
  canvas.height = Math.round((RULER_PX + shown + CAPTION_PX) * ratio);
  const context = context2d(canvas);
  context.fillStyle = theme.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(view.ruler, LABELS_PX * ratio, 0);
  const rows = Math.round(shown * ratio);
  context.drawImage(view.canvas, 0, 0, view.canvas.width, rows, LABELS_PX * ratio, RULER_PX * ratio, view.canvas.width, rows);
  context.scale(ratio, ratio);
  paintLabels(context, view);
  return canvas;
}

/** The same as the text of an SVG file: painted once more, as shapes. @param {TimelineView} view */
export function timelineSvg(view) {
  const { theme, width } = view;
  const shown = shownHeight(view);
  const svg = new SvgContext();
  const context = /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (svg));
  const [wide, high] = [LABELS_PX + width, RULER_PX + shown + CAPTION_PX];
  context.fillStyle = theme.background;
  context.fillRect(0, 0, wide, high);
  const frame = view.frame();
  svg.begin({ transform: `translate(${LABELS_PX} 0)` });
  paintRuler(context, view, view.tickStep, frame.ticks);
  svg.end();
  svg.begin({ transform: `translate(${LABELS_PX} ${RULER_PX})` });
  context.beginPath();
  context.rect(0, 0, width, shown);
  context.clip();
  view.painter.paint(context, { ...frame, pointerX: -1, hovered: -1 });
  paintRankLines(context, view);
  paintOverlays(context, view);
  while (svg.open > 0) svg.end();
  paintLabels(context, view);
  return svg.text(wide, high, theme.font.replace(/^\S+\s/u, ''));
}

/** @param {TimelineView} view @param {string} kind */
const nameOf = (view, kind) => fileName(view.model.report.trace.file, 'timeline', kind);

/** @param {TimelineView} view */
export function saveImage(view) {
  timelineImage(view).toBlob((blob) => {
    if (blob) download(nameOf(view, 'png'), blob);
    else view.app.announce('The browser refused to make the picture');
  });
}

/** @param {TimelineView} view */
export function saveSvg(view) {
  download(nameOf(view, 'svg'), new Blob([timelineSvg(view)], { type: 'image/svg+xml' }));
}
