/**
 * Libraries as kernel names give them away. For the search only: nothing is computed from it.
 * @type {[string, RegExp][]}
 */
const PATTERNS = [
  ['nccl', /^nccl|ncclDevKernel|ncclKernel/u],
  ['flash-attention', /flash::|flash_fwd|flash_bwd|flash_attn|FlashAttn/u],
  ['cudnn', /cudnn/u],
  ['cublas', /cublas|^nvjet|^(ampere|volta|turing|maxwell|hopper|sm\d+_xmma)_.*gemm|^gemmSN|^gemvx|splitKreduce/u],
  ['cutlass', /cutlass/u],
  ['triton', /^triton_/u],
  ['tensorrt', /nvinfer|trt_|tensorrt/iu],
  ['transformer-engine', /transformer_engine/u],
  ['cufft', /cufft|_fft_|^regular_fft|^vector_fft/u],
  ['cusparse', /cusparse/u],
  ['cusolver', /cusolver/u],
  ['cub', /cub::/u],
  ['thrust', /thrust::/u],
  ['cupy', /^cupy_/u],
  ['pytorch', /at::native|at::cuda|at_cuda|c10::/u],
];

/** Libraries a kernel belongs to, most specific first. @param {string} kernelName */
export function librariesOf(kernelName) {
  return PATTERNS.filter(([, pattern]) => pattern.test(kernelName)).map(([library]) => library);
}
