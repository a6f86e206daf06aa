/** parallel-human-approval: three people must approve; the first no ends it. */

import { workflow } from 'steadfast';
import * as z from 'zod/mini';

const Request = z.object({ what: z.string() });
export const approvals = workflow('approvals', { input: Request, within: '7d' }, (w) => {
  const asked = { within: '3d', remindEvery: '1d', by: 'another', show: { what: w.input.what } } as const;
  const all = ['approver-1', 'approver-2', 'approver-3'].map((name) => w.approval(name, asked));
  return { by: all.map(({ output }) => output.by) };
});
