// Tiles a plan in time, so that a large report keeps the shape of a small one.

/** Lanes of about `wanted` events; `timeline` is stretched to match. */
export function repeatLanes(plan, timeline, wanted) {
  const single = plan.lanes.reduce((sum, lane) => sum + lane.events.length, 0);
  const times = Math.max(1, Math.ceil(wanted / single));
  const period = plan.endNs + 50_000;
  /** Original event to its copy in the current tile. */
  const copies = new Map();
  // Shorter by up to a tenth, differently in each tile: identical tiles would compress to nothing.
  let seed = 1;
  const shorten = (event, kind) => {
    if (kind === 'nvtx' || kind === 'nvtx_async') return event.duration;
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor(event.duration * (1 - (seed / 4294967296) * 0.1));
  };
  const lanes = plan.lanes.map((lane) => ({ ...lane, events: [] }));
  for (let tile = 0; tile < times; tile++) {
    copies.clear();
    plan.lanes.forEach((lane, index) => {
      for (const event of lane.events) {
        const copy = {
          ...event,
          start: event.start + tile * period,
          corr: event.corr + tile * 100000,
          duration: shorten(event, lane.kind),
        };
        copies.set(event, copy);
        lanes[index].events.push(copy);
      }
    });
    for (const [event, copy] of copies) if (event.link) copy.link = copies.get(event.link);
  }
  timeline.end_ns = times * period;
  for (const data of timeline.utilization) {
    data.bin_ns *= times;
    for (const key of ['compute_ns', 'exposed_comm_ns', 'exposed_copy_ns', 'idle_ns'])
      data[key] = data[key].map((value) => value * times);
  }
  return lanes;
}
