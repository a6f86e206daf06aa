/** A workflow of one step that others use as a child, and their shared agents. */

import { workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import { anAgent, anyObject } from './harness.ts';

export const agentA = anAgent('agent-a');
export const agentB = anAgent('agent-b');
export const input = anyObject as never;
export const DAY = 86_400_000;

export const inner = workflow('inner', { input, within: '1h' }, (w) => {
  const x = w.step('x', agentA, {});
  return { x: x.output['got'] };
}) as Workflow;
