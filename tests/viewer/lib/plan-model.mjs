// The viewer's own model of a plan, without a page: what its pure parts are tested on.
import { inflateRawSync } from 'node:zlib';
import { decodeEvents } from '../../../templates/viewer/src/decode.js';
import { Model } from '../../../templates/viewer/src/model.js';
import { analyse } from './analyse.mjs';
import { encodeEvents } from './encode.mjs';
import { makePlan } from './synthetic.mjs';

/** @returns {{plan, report, timeline, model: Model}} */
export function planModel({ lanes = null, timeline: more = {}, ...options } = {}) {
  const plan = makePlan(options);
  const { report, timeline } = analyse(plan);
  const { base64, ...encoded } = encodeEvents(lanes ? lanes(plan) : plan.lanes);
  const whole = {
    ...timeline,
    ...encoded,
    embedded_events: encoded.events,
    total_events: encoded.events,
    ...(typeof more === 'function' ? more(encoded, timeline, plan) : more),
  };
  const bytes = inflateRawSync(Buffer.from(base64, 'base64'));
  return { plan, report, timeline: whole, model: new Model(report, whole, decodeEvents(whole, bytes)) };
}
