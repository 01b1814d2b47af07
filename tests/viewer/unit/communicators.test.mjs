import assert from 'node:assert/strict';
import { test } from 'node:test';
import { communicatorsOf, knowsArrivals, linkPeak, purposeOf, trafficOf } from '../../../templates/viewer/src/communicators/data.js';
import { bandsOf, collectiveAt } from '../../../templates/viewer/src/communicators/picture.js';

const table = (names, ...rows) => ({ columns: names.split(' ').map((name) => ({ name })), rows });
const modelOf = (tables) => ({ table: (name) => tables[name] ?? null, clock: { relative: (time) => time } });
const INSTANCES = 'device_id op dtype start_ns end_ns exposed_us set_id wait_us skew_us late_device_id busbw communicator';

test('members of a set are one collective, others stand alone', () => {
  const [one, other] = communicatorsOf(
    modelOf({
      comm_instances: table(
        INSTANCES,
        [1, 'AllReduce', 'bf16', 150, 300, 0.1, 7, 0, 0.05, 1, null, '0xa'],
        [0, 'AllReduce', 'bf16', 100, 290, 0.1, 7, 0.05, 0.05, 1, 5, '0xa'],
        [0, 'unknown', null, 10, 20, 0.01, null, null, null, null, null, null],
      ),
    }),
  );
  assert.deepEqual([one.id, one.devices, one.ops], ['0xa', [1, 0], ['AllReduce bf16']]);
  const [{ start, end, skew, last, members }] = one.collectives;
  assert.deepEqual([start, end, skew, last], [100, 300, 50, 1]);
  assert.deepEqual(members.map(({ device, late, busbw }) => [device, late, busbw]), [[1, 50, null], [0, 0, 5]]);
  assert.deepEqual([other.id, other.collectives[0].skew, knowsArrivals(other), bandsOf(other).rows], [null, null, false, []]);
});

test('what a sender says of a message stands before what the receiver says', () => {
  const model = modelOf({
    comm_peers: table('communicator rank peer sent_bytes received_bytes', ['0xa', 0, 1, 10, 4], ['0xa', 1, 0, 5, 9], ['0xa', 1, 2, 0, 8], ['0xb', null, 1, 3, 3]),
  });
  const traffic = trafficOf(model, '0xa');
  assert.deepEqual([traffic.ranks, Object.fromEntries(traffic.bytes), traffic.largest], [[0, 1, 2], { '0>1': 10, '1>0': 5, '2>1': 8 }, 10]);
  assert.equal(trafficOf(model, '0xb'), null);
  assert.equal(trafficOf(model, null), null);
});

test('links that differ have no one peak', () => {
  const peak = (...values) => linkPeak(modelOf({ comm_ops: table('link_gb_per_s', ...values.map((value) => [value])) }));
  assert.deepEqual([peak(450, null, 450), peak(450, 300), peak(null)], [450, null, null]);
});

test('a place of the picture is a collective', () => {
  assert.deepEqual([collectiveAt(10, 158, 57), collectiveAt(10, 158, 58), collectiveAt(10, 158, 157), collectiveAt(10, 158, 158)], [-1, 0, 9, -1]);
});

test('a purpose is told with what tells it, and not where nothing does', () => {
  const model = modelOf({ communicators: table('communicator purpose confidence evidence', ['0xa', null, 'unknown', null], ['0xb', 'tensor', 'named', 'stream TP'], ['0xc', 'world', 'members', 'all 2 ranks']) });
  assert.deepEqual(
    ['0xa', '0xb', '0xc', null].map((id) => purposeOf(model, id)),
    ['', 'Parallelism: tensor (named; stream TP).', 'World: all 2 ranks.', ''],
  );
});
