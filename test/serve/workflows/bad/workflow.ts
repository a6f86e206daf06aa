/** A healthy agent, and one for each way in which an agent ends its process. */

import * as z from 'zod/mini';
import { agent, retry, workflow } from 'steadfast';

const none = z.object({});
const way = {
  input: none,
  output: none,
  effect: 'idempotent',
  undo: 'none',
  timeout: '4s',
  lease: '3s',
  lateEffectWithin: '1s',
} as const;

export const waits = agent('waits', {
  input: z.object({ file: z.string() }),
  output: z.object({ attempt: z.number() }),
  effect: 'idempotent',
  undo: 'none',
  timeout: '10m',
  lease: '1m',
});
export const rejects = agent('rejects', way);
export const throwsLater = agent('throws-later', way);
export const exits = agent('exits', way);
export const aborts = agent('aborts', way);
export const never = agent('never', way);
export const blocks = agent('blocks', way);
export const blocksLater = agent('blocks-later', way);
export const isKilled = agent('is-killed', way);
export const unmeasured = agent('unmeasured', way);
/** Fills its memory, which takes a while, so its timeout is longer. */
export const leaks = agent('leaks', { ...way, timeout: '30s' });
export const fills = agent('fills', { ...way, timeout: '30s', lease: '20s' });

export const healthy = workflow(
  'healthy',
  { input: z.object({ file: z.string() }), within: '1h' },
  (w) => w.step('work', waits, { file: w.input.file }).output,
);

const recovery = [retry(1, { delay: '1s' })];
const bad = (name: string, its: typeof rejects): ReturnType<typeof workflow> =>
  workflow(name, { input: none, within: '1h' }, (w) => w.step('work', its, {}, { recovery }).output);

export const wRejects = bad('w-rejects', rejects);
export const wThrowsLater = bad('w-throws-later', throwsLater);
export const wExits = bad('w-exits', exits);
export const wAborts = bad('w-aborts', aborts);
export const wNever = bad('w-never', never);
export const wBlocks = bad('w-blocks', blocks);
export const wBlocksLater = bad('w-blocks-later', blocksLater);
export const wIsKilled = bad('w-is-killed', isKilled);
export const wUnmeasured = bad('w-unmeasured', unmeasured);
export const wLeaks = workflow(
  'w-leaks',
  { input: none, within: '1h' },
  (w) => w.step('work', leaks, {}, { recovery }).output,
);
export const wFills = workflow(
  'w-fills',
  { input: none, within: '1h' },
  (w) => w.step('work', fills, {}, { recovery }).output,
);
