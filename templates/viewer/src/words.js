import { CAUSE_LABELS, causeName } from './colors.js';

/**
 * What the words of the page mean, and where it shows the thing.
 * @type {{word: string, text: string, where?: string}[]}  where: fragment of a link
 */
export const WORDS = [
  {
    word: 'GPU window',
    text: 'From the first to the last operation of a GPU. Its four parts below add up to it exactly.',
    where: '#v=timeline',
  },
  { word: 'Compute', text: 'At least one kernel runs that is no communication (blue in every utilization strip).', where: '#v=timeline' },
  {
    word: 'Exposed communication',
    text:
      'A communication kernel (NCCL and the like) runs and no compute kernel overlaps it: the GPU moves data, or waits for other ranks, and nothing else. ' +
      'Orange in the utilization strips; below it, the kernels of the category communication.',
    where: '#v=timeline&lc=communication',
  },
  {
    word: 'Exposed copy',
    text: 'A memory copy or memset runs and neither compute nor communication does (pink).',
    where: '#v=timeline&q=category:copy',
  },
  {
    word: 'Idle, idle gap',
    text: 'Nothing runs on the GPU. Each gap has the most likely cause, told from the host activity; the legend of the timeline names the causes.',
    where: '#v=tables&t=gpu_idle_gaps',
  },
  {
    word: 'Launch latency, queue delay',
    text:
      'From the begin of the launching call to the begin of the work; from the end of the call. A long queue delay behind a busy GPU is healthy: the host is ahead. ' +
      'The tracks “Launch queue” and “Launch lead” of a GPU show it over time; where they touch zero, the GPU starves.',
  },
  {
    word: 'Blocking call',
    text: 'A CUDA call that keeps the host until the GPU is done (red). It costs GPU time when the launch queue runs empty.',
    where: '#v=tables&t=sync_calls',
  },
  {
    word: 'GPU time of an NVTX range',
    text: 'Time of the kernels whose launching call lies in the range, on its thread. Work runs later than its range: the range of a launch, not of the clock.',
    where: '#v=nvtx&nm=gpu',
  },
  {
    word: 'NVTX on the GPU',
    text: 'A range as the GPU ran it: from the start of the first operation that calls inside the range launched to the end of the last.',
    where: '#v=timeline',
  },
  {
    word: 'Collective: waiting, transfer',
    text:
      'A communication kernel runs from when its GPU comes until the last GPU has come (waiting, pale), then moves data (transfer, dark). ' +
      'Point at one: a line joins it on all GPUs. The GPU that waits least is the late one.',
    where: '#v=tables&t=comm_ranks',
  },
  {
    word: 'Activity, pause',
    text: 'A GPU is active where it works without long breaks. Setup and pauses have their own causes, and no share of active time counts them.',
    where: '#v=tables&t=active_spans',
  },
  {
    word: 'On a CPU, samples, OS runtime',
    text:
      'Rows of a thread where they were recorded: when it ran, the functions it was found in, and the system calls it was in. ' +
      'A thread in host code that is off the CPU waits for something; the system call says for what.',
    where: '#v=tables&t=gap_activity',
  },
  { word: 'Saving', text: 'The time a finding is about, never more than the loss it explains: an upper limit of what a fix can win.', where: '#' },
  {
    word: 'Block of events',
    text:
      'A trace of millions of events does not fit into a page. Outside of the marked stretches, short events are drawn as blocks that keep the share of each category. ' +
      'Numbers of a selected range stay exact; where they cannot be, they are not shown, and the command for a report of that stretch stands there instead.',
  },
];

/** Causes of idle gaps, short and long. */
export const CAUSES = Object.entries(CAUSE_LABELS).map(([cause, text]) => ({ word: causeName(cause), text }));

/** A list of causes with their times, in the page's words: "host_code 1.2 µs, ...". @param {string} text */
export function causesText(text) {
  return text.replace(/[a-z_]+(?= [\d.]+ [a-zµ]+)/gu, causeName);
}
