// A training run with a known plan: 2 processes, 2 GPUs, forward / backward / optimizer per step, gradients
// reduced on a second stream, one blocking synchronisation per step. Everything the tests expect is counted
// here from the plan, never read back from the page.

export const HOSTILE = [
  'void evil<</script><script>alert(1)</script>>(float*)',
  '"><img src=x onerror=alert(2)>',
  'quotes " \' ` and | pipes and \\ backslash',
  '\u0634\u0628\u0643\u0629_kernel(\u05d0\u05d1\u05d2)',
  '=HYPERLINK("http://example.invalid")',
  '<!--<script>',
  'line\u2028separator\u2029end',
];

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const KERNELS = [
  [
    'void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8>(cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8::Params)',
    'cutlass_80_tensorop_bf16_s16816gemm_relu_256x128',
    'gemm',
    220000,
  ],
  [
    'void flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, cutlass::bfloat16_t>, true, false>(Flash_fwd_params)',
    'flash_fwd_kernel<…>',
    'attention',
    340000,
  ],
  [
    'void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, at::detail::Array<char*, 3>>(int, at::native::AddFunctor<float>, at::detail::Array<char*, 3>)',
    'vectorized_elementwise_kernel<4, AddFunctor>',
    'elementwise',
    12000,
  ],
  [
    'void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float>>>(at::native::ReduceOp<float>)',
    'reduce_kernel<512, 1, MeanOps>',
    'reduction',
    18000,
  ],
  [
    'void layer_norm_kernel<c10::BFloat16, float>(int, float, c10::BFloat16 const*)',
    'layer_norm_kernel<BFloat16>',
    'normalization',
    26000,
  ],
  ['void softmax_warp_forward<c10::BFloat16, float, 10, false>(float*, int)', 'softmax_warp_forward<…>', 'softmax', 21000],
];
const NCCL = [
  'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)',
  'ncclDevKernel_AllReduce_Sum_bf16_RING_LL',
  'communication',
  600000,
];
const ADAM = [
  'void multi_tensor_apply_kernel<TensorListMetadata<4>, FusedAdamMathFunctor<float, 4>>(TensorListMetadata<4>)',
  'multi_tensor_apply_kernel<FusedAdam>',
  'optimizer',
  150000,
];
const CATEGORIES = [
  'communication',
  'attention',
  'gemm',
  'convolution',
  'normalization',
  'softmax',
  'embedding',
  'optimizer',
  'reduction',
  'elementwise',
  'copy',
  'other',
];
export const ORIGIN = 60111418026n;

/** @param options {steps, layers, hostile, noWallClock, name} */
export function makePlan({ steps = 6, layers = 8, hostile = true, noWallClock = false, name = 'synthetic.sqlite' } = {}) {
  const names = [];
  const shortNames = [];
  const nameCategory = [];
  const byName = new Map();
  const intern = (text, short = text, category = -1) => {
    let id = byName.get(text);
    if (id === undefined) {
      byName.set(text, (id = names.length));
      names.push(text);
      shortNames.push(short);
      nameCategory.push(category === -1 ? -1 : CATEGORIES.indexOf(category));
    }
    return id;
  };
  const lanes = [];
  const processes = [];
  const threads = [];
  const configs = [
    [128, 8, 1, 256, 1, 1, 168, 0, 98304],
    [4096, 1, 1, 128, 1, 1, 32, 0, 0],
  ];
  let nvtxRow = 1;
  for (let gpu = 0; gpu < 2; gpu++) {
    const rnd = random(17 + gpu);
    const pid = 144 + gpu;
    processes.push({ pid, name: 'python3' });
    threads.push({ pid, tid: pid, name: 'python3' }, { pid, tid: pid + 200, name: 'pt_autograd_0' });
    const lane = (kind, tid, stream) => {
      const made = {
        kind,
        gpu: ['nvtx', 'nvtx_async', 'api'].includes(kind) ? -1 : gpu,
        pid,
        tid,
        context: stream ? gpu + 1 : 0,
        stream,
        events: [],
      };
      lanes.push(made);
      return made;
    };
    const compute = lane('kernel', 0, 7);
    const copies = lane('copy', 0, 7);
    const sets = lane('set', 0, 7);
    const comm = lane('kernel', 0, 20);
    const host = {
      [pid]: { nvtx: lane('nvtx', pid, 0), api: lane('api', pid, 0), at: gpu * 40000 },
      [pid + 200]: { nvtx: lane('nvtx', pid + 200, 0), api: lane('api', pid + 200, 0), at: gpu * 40000 },
    };
    const async = lane('nvtx_async', pid, 0);
    let correlation = 1000 * (gpu + 1);
    let streamFree = 0;
    let commFree = 0;
    const range = (tid, text, depth, body) => {
      const thread = host[tid];
      const event = { start: Math.round(thread.at), duration: 0, name: intern(text), corr: nvtxRow++, aux: depth };
      thread.nvtx.events.push(event);
      thread.at += 1500 + rnd() * 1500;
      body(depth + 1);
      thread.at += 1000;
      event.duration = Math.round(thread.at) - event.start;
      return event;
    };
    const call = (tid, api, ns, aux = 0) => {
      const thread = host[tid];
      const event = { start: Math.round(thread.at), duration: Math.round(ns), name: intern(api), corr: ++correlation, aux };
      thread.api.events.push(event);
      thread.at = event.start + event.duration;
      return event;
    };
    const launch = (tid, [text, short, category, ns], onComm = false) => {
      const api = call(tid, 'cudaLaunchKernel', 4000 + rnd() * 5000);
      host[tid].at += 2500 + rnd() * 3000;
      const free = onComm ? Math.max(commFree, streamFree - 250000) : streamFree;
      const start = Math.round(Math.max(api.start + api.duration * 0.8 + 900, free + 700));
      const event = {
        start,
        duration: Math.round(ns * (0.75 + rnd() * 0.5)),
        name: intern(text, short, category),
        corr: api.corr,
        aux: category === 'gemm' ? 1 : 2,
        link: api,
      };
      (onComm ? comm : compute).events.push(event);
      if (onComm) commFree = start + event.duration;
      else streamFree = start + event.duration;
      return event;
    };
    for (let step = 0; step < steps; step++) {
      const main = pid;
      const autograd = pid + 200;
      const asyncStart = Math.round(host[main].at);
      range(main, 'step', 0, (depth) => {
        range(main, 'load_batch', depth, () => {
          host[main].at += step === 2 ? 1_900_000 : 180_000;
          const api = call(main, 'cudaMemcpyAsync', 9000);
          const copy = {
            start: Math.round(Math.max(streamFree + 500, api.start + 6000)),
            duration: 210_000,
            name: intern('HtoD', 'HtoD', 'copy'),
            corr: api.corr,
            aux: 8 << 20,
            link: api,
          };
          copies.events.push(copy);
          streamFree = copy.start + copy.duration;
          const setApi = call(main, 'cudaMemsetAsync', 3000);
          const set = {
            start: Math.round(Math.max(streamFree + 300, setApi.start + 4000)),
            duration: 2400,
            name: intern('memset', 'memset', 'copy'),
            corr: setApi.corr,
            aux: 65536,
            link: setApi,
          };
          sets.events.push(set);
          streamFree = set.start + set.duration;
        });
        range(main, 'forward', depth, (inner) => {
          for (let layer = 0; layer < layers; layer++) {
            range(main, `layer ${layer}`, inner, (deeper) => {
              range(main, 'aten::layer_norm', deeper, () => launch(main, KERNELS[4]));
              range(main, 'attention', deeper, (deepest) => {
                range(main, 'aten::linear', deepest, () => launch(main, KERNELS[0]));
                range(main, 'flash_attn::_flash_attn_forward', deepest, () => launch(main, KERNELS[1]));
                range(main, 'aten::softmax', deepest, () => launch(main, KERNELS[5]));
              });
              range(main, 'aten::linear', deeper, () => launch(main, KERNELS[0]));
              range(main, 'aten::add', deeper, () => launch(main, KERNELS[2]));
              if (hostile && step === 0 && layer < HOSTILE.length)
                launch(main, [HOSTILE[layer], HOSTILE[layer], 'other', 30000]);
            });
          }
        });
        host[autograd].at = Math.max(host[autograd].at, host[main].at);
        range(autograd, 'backward', 0, (inner) => {
          for (let layer = layers - 1; layer >= 0; layer--) {
            range(autograd, `layer ${layer} backward`, inner, (deeper) => {
              range(autograd, 'aten::mm', deeper, () => {
                launch(autograd, KERNELS[0]);
                launch(autograd, KERNELS[0]);
              });
              range(autograd, 'aten::sum', deeper, () => launch(autograd, KERNELS[3]));
              if (layer % 2 === 0) range(autograd, 'c10d::allreduce_', deeper, () => launch(autograd, NCCL, true));
            });
          }
        });
        host[main].at = Math.max(host[main].at, host[autograd].at);
        range(main, 'optimizer', depth, (inner) => {
          range(main, 'synchronize', inner, () => {
            const wait = Math.max(20000, Math.max(streamFree, commFree) - host[main].at);
            call(main, 'cudaStreamSynchronize', wait + 6000, 1);
            host[main].at += 140_000;
          });
          call(main, 'cudaEventQuery', 1200, 2);
          streamFree = Math.max(streamFree, commFree);
          range(main, 'Optimizer.step', inner, () => {
            launch(main, ADAM);
            launch(main, ADAM);
          });
        });
      });
      async.events.push({
        start: asyncStart,
        duration: Math.round(host[main].at) - asyncStart + 30000,
        name: intern(`iteration window`),
        corr: nvtxRow++,
        aux: 0,
      });
    }
  }
  for (const lane of lanes) lane.events.sort((a, b) => a.start - b.start || b.duration - a.duration);
  const events = lanes.flatMap((lane) => lane.events);
  return {
    options: { steps, layers },
    fileName: name,
    names,
    shortNames,
    nameCategory,
    categories: CATEGORIES,
    lanes: lanes.filter((lane) => lane.events.length > 0),
    processes,
    threads,
    configs,
    gpus: [0, 1].map((id) => ({ id, label: `GPU ${id} NVIDIA H100 80GB HBM3` })),
    endNs: events.reduce((most, event) => Math.max(most, event.start + event.duration), 0),
    utcEpoch: noWallClock ? null : '1764000000000000000',
  };
}
