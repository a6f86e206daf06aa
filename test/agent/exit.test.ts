/** A process that exits reports its exit code for each attempt in progress. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { LogContext } from '../../lib/agent/author-code.ts';
import { serviceLogger, tellExit } from '../../lib/aws/telemetry.ts';
import { linesOf } from '../aws/lines.ts';
import { anAgent, anyObject, harness } from '../engine/harness.ts';

it('says of each attempt under way with which code its process ends, and of none that has returned', async () => {
  const underWay = new Set<LogContext>();
  const logger = serviceLogger({ role: 'agent', agent: 'pay' });
  const lines: unknown[] = [];
  const exits = async (): Promise<void> => {
    lines.push(...(await linesOf(() => tellExit(logger, 3, underWay))));
  };
  const flow = workflow('flow', { input: anyObject, within: '1h' }, (w) => {
    w.step('charge', anAgent('pay'), {});
  });
  const pay = {
    execute: async () => {
      await exits();
      return {};
    },
    undo: async () => undefined,
  };
  const h = harness(flow, { pay }, 1, undefined, { underWay });
  const { id } = await h.begin();
  await h.run(id);
  await exits();
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'WARN',
      message: 'process-exits',
      correlation_id: id,
      step: 'charge',
      attempt: 1,
      mode: 'execute',
      exitCode: 3,
    }),
  ]);
});
