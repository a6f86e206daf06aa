/** segment-detection-workflow: a job is asked each minute until it is done, then another one is started. */

import { agent, workflow } from 'steadfast';
import * as z from 'zod/mini';

const Place = z.object({ bucket: z.string(), key: z.string() });
const Film = z.object({ from: Place, to: Place });
/** Both services recognise a repeated request by its `ClientRequestToken`, and report a job's progress. */
const job = { effect: 'idempotent', probe: 'required', undo: 'none', acceptedWithin: '6h' } as const;
export const detectSegments = agent('detect-segments', {
  ...job,
  input: Place,
  output: z.object({ endTimecode: z.string() }),
});
export const convert = agent('convert', {
  ...job,
  input: z.object({ film: Film, startTimecode: z.string() }),
  output: z.object({}),
});

export const poll = workflow('poll', { input: Film, within: '1d' }, (w) => {
  const { endTimecode } = w.step('segments', detectSegments, w.input.from).output;
  w.step('convert', convert, { film: w.input, startTimecode: endTimecode });
});
