/** @import { TimelineView } from './view.js' */
import { context2d } from '../dom.js';
import { download, fileName } from '../download.js';

const LABELS_PX = 210;
const RULER_PX = 26;
const CAPTION_PX = 22;

/** What the timeline shows now, with labels, ruler and a caption. @param {TimelineView} view */
export function timelineImage(view) {
  const { theme, width, height, layout, scrollTop, model, viewport } = view;
  view.drawNow();
  const ratio = view.canvas.width / Math.max(1, width);
  const shown = Math.min(height, layout.height - scrollTop);
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
  return canvas;
}

/** @param {TimelineView} view */
export function saveImage(view) {
  timelineImage(view).toBlob((blob) => {
    if (blob) download(fileName(view.model.report.trace.file, 'timeline', 'png'), blob);
    else view.app.announce('The browser refused to make the picture');
  });
}
