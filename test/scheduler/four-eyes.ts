/**
 * For tests of callers and of four eyes: workflows with an approval by another person, people, and their
 * commands.
 */

import { askPerson, retry as again, workflow } from '../../lib/author/builder/workflow.ts';
import type { Workflow } from '../../lib/core/plan/workflow.ts';
import type { Caller } from '../../lib/core/values/caller.ts';
import { PermanentError } from '../../lib/core/values/errors.ts';
import { callbackToken, type Execution } from '../../lib/core/records/state.ts';
import { closeCallback } from '../../lib/scheduler/callbacks.ts';
import { resolveIncident, type ResolutionRequest } from '../../lib/scheduler/incidents.ts';
import { type Scheduler, start } from '../../lib/scheduler/start.ts';
import { anAgent, anyObject, drain, harness, type Harness } from '../engine/harness.ts';

export const input = anyObject as never;
export const worker = anAgent('worker');
export const person = (name: string): Caller => ({ kind: 'local', name });
export const [ann, bob, carl] = [person('ann'), person('bob'), person('carl')];
export const session = (role: string, name: string): Caller => ({
  kind: 'iam',
  name: `arn:aws:sts::123456789012:assumed-role/${role}/${name}`,
});
export const user = (name: string): Caller => ({
  kind: 'iam',
  name: `arn:aws:iam::123456789012:user/${name}`,
});
export const token = (issuer: string, subject: string): Caller => ({
  kind: 'jwt',
  name: `${issuer} ${subject}`,
});

export const asks = workflow('asks', { input, within: '3h' }, (w) => {
  const release = w.approval('release', { within: '1h', by: 'another' });
  const sign = w.approval('sign', { within: '2h', after: [release], by: 'another' });
  return { by: release.output.by, and: sign.output.by };
}) as Workflow;

export const inner = workflow('inner', { input, within: '2h' }, (w) => {
  w.step('work', worker, {}, { recovery: [again(0), askPerson({ within: '1h' })], undo: 'none' });
  w.approval('plain', { within: '1h' });
  w.approval('check', { within: '1h', by: 'another' });
}) as Workflow;

export const tree = workflow('tree', { input, within: '3h' }, (w) => {
  w.child('one', inner, {}, { undo: 'none' });
  w.child('two', inner, {}, { undo: 'none' });
  w.approval('top', { within: '1h', by: 'another' });
}) as Workflow;

export const NOTHING = { execute: async () => ({}), undo: async () => undefined };
export const DECLINED = {
  ...NOTHING,
  execute: async (): Promise<never> => {
    throw new PermanentError('declined');
  },
};

export const begin = (h: Harness, of: string, by?: Caller, key?: string): Promise<Execution> =>
  start(h.scheduler, {
    workflow: of,
    input: {},
    ...(by === undefined ? {} : { by }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  });

export const of = (flow: Workflow, work: typeof NOTHING = NOTHING): Harness =>
  harness(flow, { worker: work });

export async function answer(
  h: Harness,
  id: string,
  step: string,
  by: Caller | undefined,
  { reject = false, scheduler = h.scheduler }: { reject?: boolean; scheduler?: Scheduler } = {},
): Promise<unknown> {
  const key = callbackToken((await h.state(id)).execution, step) ?? '';
  const given = reject
    ? ({ kind: 'fail', failure: { code: 'rejected', message: 'no' } } as const)
    : ({ kind: 'complete', output: { comment: 'fine' } } as const);
  return closeCallback(scheduler, key, given, by);
}

export const statusOf = async (h: Harness, id: string, step: string): Promise<string | undefined> =>
  (await h.state(id)).steps[step]?.status;
export const peopleOf = async (h: Harness, id: string) => (await h.state(id)).execution.people;

/** Starts a parent execution whose two children are running. */
export async function grown(
  by: Caller = ann,
  work: typeof NOTHING = NOTHING,
): Promise<{ h: Harness; id: string }> {
  const h = of(tree, work);
  const { id } = await begin(h, 'tree', by);
  await drain(h);
  return { h, id };
}

export const resolution = (h: Harness, id: string, given: Omit<ResolutionRequest, 'incident'>) =>
  resolveIncident(h.scheduler, id, { incident: 1, ...given });
