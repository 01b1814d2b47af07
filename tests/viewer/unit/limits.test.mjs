import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitsOf } from '../../../templates/viewer/src/limits/limits.js';
import { allowed, pointNear, rooflineOf, rooflineScale } from '../../../templates/viewer/src/limits/roofline.js';

const table = (names, ...rows) => ({ columns: names.split(' ').map((name) => ({ name })), rows });
const modelOf = (tables) => ({ table: (name) => tables[name] ?? null });
const SHAPES = 'device_id op batch m n k dtype count kernel_count total_time_ms flop_per_op bytes_per_op achieved_tflops peak_tflops bound pct_of_roofline';
const GPUS = table('device_id memory_bytes_per_s', [0, 2e12], [1, null]);

test('of several GPUs the lowest stands for all, a row without its limit for none', () => {
  const rates = table(
    'device_id direction src_kind dst_kind p50_gb_per_s link limit_gb_per_s p50_pct_of_limit exposed_ms',
    [0, 'Host-to-Device', 'Pinned', 'Device', 25, 'PCIe', 50, 50, 1],
    [1, 'Host-to-Device', 'Pinned', 'Device', 20, 'PCIe', 50, 40, 1],
    [0, 'Device-to-Host', 'Device', 'Pageable', 3, null, null, null, 9],
  );
  const limits = limitsOf(modelOf({ copy_rates: rates }));
  assert.deepEqual(limits.map(({ label, percent, row, gpus }) => [label, percent, row, gpus]), [['Host-to-Device, Pinned to Device', 40, 1, 2]]);
  assert.deepEqual(limitsOf(modelOf({})), []);
});

test('a product that memory limits is held against the bandwidth', () => {
  const shapes = table(SHAPES, [0, 'aten::mm', 1, 8, 16, 32, 'bf16', 10, 10, 1, 8192, 4e7, 0.1, 100, 'memory', 20]);
  const [limit] = limitsOf(modelOf({ gemm_shapes: shapes, gpus: GPUS }));
  assert.deepEqual([limit.label, limit.reached, limit.peak, limit.unit, limit.percent], ['aten::mm 8 × 16 × 32 bf16', 400, 2000, 'GB/s', 20]);
});

test('what exceeds its peak is said to', () => {
  const moved = (percent) => table('op elements dtype total_time_ms achieved_gb_per_s limit_gb_per_s pct_of_limit', ['aten::mul', 4096, 'bf16', 2, 20 * percent, 2000, percent]);
  assert.deepEqual([99, 104, 222].map((percent) => limitsOf(modelOf({ elementwise_shapes: moved(percent) }))[0].above), [false, false, true]);
});

test('an elementwise operation is held against the bandwidth, one without a percentage is not', () => {
  const moved = table(
    'device_id op elements dtype kernel_count total_time_ms achieved_gb_per_s limit_gb_per_s pct_of_limit',
    [0, 'aten::mul', 4096, 'bf16', 5, 2, 1500, 2000, 75],
    [0, 'aten::add', 64, 'bf16', 7, 1, 900, 2000, null],
  );
  const model = modelOf({ elementwise_shapes: moved, gpus: GPUS });
  assert.deepEqual(limitsOf(model).map(({ kind, label, reached, peak, percent, row }) => [kind, label, reached, peak, percent, row]), [
    ['Elementwise operations', 'aten::mul 4,096 bf16', 1500, 2000, 75, 0],
  ]);
  assert.equal(rooflineOf(model).elementwise, 5);
});

test('the roofline says how many kernels it leaves out', () => {
  const row = (device, peak) => [device, 'aten::mm', 1, 8, 8, 8, 'bf16', 1, 2, 3, 1000, 10, 50, peak, 'compute', 50];
  const launches = table('scope kernel_count kernel_time_ms', ['gpu', 7, 5], ['all', 12, 10]);
  const { points, roofs, ...rest } = rooflineOf(modelOf({ gemm_shapes: table(SHAPES, row(0, 100), row(0, null), row(1, 100)), gpus: GPUS, launch_rates: launches }));
  assert.deepEqual(rest, { placed: 2, elementwise: 0, kernels: 12, placedMs: 3, ms: 10 });
  assert.deepEqual([points.length, points[0].intensity, roofs.length], [1, 100, 1]);
  assert.deepEqual([allowed(roofs[0], 1), allowed(roofs[0], 1000)], [2, 100]);
});

test('a place of the picture means the point under it, and a point on the roof stands on it', () => {
  const roof = { peak: 100, bandwidth: 2000, label: 'bf16' };
  const points = [1, 1000].map((intensity, row) => ({ intensity, tflops: allowed(roof, intensity), ns: 1, row, label: '', attention: false }));
  const { x, y } = rooflineScale(points, [roof], 400);
  assert.equal(pointNear(points, [roof], 400, x(1000) + 2, y(100) - 2).row, 1);
  assert.equal(pointNear(points, [roof], 400, x(30), y(2)), null);
  assert.ok(y(100) < y(2) && x(1) < x(1000));
});
