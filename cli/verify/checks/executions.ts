/**
 * Checks that run one execution of each kind, in a minute or two.
 *
 * Owns: the expected results. Does not own: the workflows (`../stack/workflows/proof/`), the checks of
 * triggers (`triggers.ts`).
 */

import { ApiError } from '../../../lib/api/client.ts';
import { openQuestions } from '../../incidents.ts';
import { type Finding, finding, type Run } from '../check.ts';
import type { Ports } from '../ports.ts';
import { begin, endOf, ended, expects, is, until } from '../starting.ts';

/** The canary workflow of a stack with `canary`; it uses every part (`lib/scheduler/canary-workflow.ts`). */
const CANARY = 'steadfast-canary';
const LONG = 40;
/** Text of this length is too long for a record, but short enough for an answer. */
const LARGE_CHARS = 60_000;

/** The number of effects under the key of an execution's step (`effects.ts` of the stack). */
const effectsOf = ({ probes }: Ports, id: string, step: string): Promise<number> =>
  probes.effects(`${id}/${step}`);

export const EXECUTIONS: Readonly<Record<string, Run>> = {
  health: async ({ api }) => {
    const { status } = await api.health();
    return finding(status === 'down' ? ['health is down'] : [], `health ${status}`);
  },
  unsigned: async ({ unsigned }) => {
    const answers = await Promise.all(['/health', '/nothing'].map(unsigned));
    return finding(
      answers.flatMap((status) => is('status', status, 403)),
      answers.join(', '),
    );
  },
  canary: async (ports) => expects(await ended(ports, CANARY, {}, 'canary'), 'succeeded'),
  child: async (ports) => expects(await ended(ports, 'verify-parent', { n: 1 }, 'child'), 'succeeded'),
  order: async (ports) => {
    const view = await ended(ports, 'verify-order', { mode: 'lose-answer' }, 'order');
    const { executionId: id } = view;
    const why = JSON.stringify(await ports.api.why(id));
    return expects(view, 'succeeded', [
      ...is('effects of the first step', await effectsOf(ports, id, 'first'), 1),
      ...is('effects of the second step', await effectsOf(ports, id, 'second'), 1),
      ...(why.includes('probe') ? [] : ['why names no probe']),
    ]);
  },
  undone: async (ports) => {
    const view = await ended(ports, 'verify-order', { mode: 'decline' }, 'undone');
    const left = await effectsOf(ports, view.executionId, 'first');
    return expects(view, 'compensated', is('effects left', left, 0));
  },
  chain: async (ports) => {
    const view = await ended(ports, 'verify-chain', { n: 7 }, 'chain');
    const done = view.steps.filter(({ status }) => status === 'done').length;
    return expects(view, 'succeeded', is('steps done', done, LONG));
  },
  list: async (ports) => {
    const items = Array.from({ length: LONG }, (_, at) => at);
    return expects(await ended(ports, 'verify-list', { items }, 'list'), 'succeeded');
  },
  large: async (ports) => {
    const view = await ended(ports, 'verify-large', { n: 1, text: 'x'.repeat(LARGE_CHARS) }, 'large');
    const { text: read } = Object(view.output) as { readonly text?: unknown };
    return expects(view, 'succeeded', is('characters read back', String(read ?? '').length, LARGE_CHARS));
  },
  erase: erased,
  callback,
  bulk,
  incident,
};

async function erased(ports: Ports): Promise<Finding> {
  const text = 'x'.repeat(LARGE_CHARS);
  const { executionId } = await ended(ports, 'verify-large', { n: 1, text }, 'erase');
  const answer = await until(ports, () =>
    ports.api.erase(executionId).catch((error: unknown) => {
      // Not yet erasable: its end is not announced yet, or its step began less than a minute ago.
      if (error instanceof ApiError && error.code === 'not-erasable') return undefined;
      throw error;
    }),
  );
  // Removes it from the begun executions, so that it does not count as lost.
  ports.begun.delete(executionId);
  const left = await ports.api.get(executionId).then(
    ({ status }) => status,
    (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
  );
  return finding(
    [...is('answer', answer?.status, 'erased'), ...is('afterwards', left, 'unknown-execution')],
    `${executionId} ${answer?.status ?? 'not erased'}, then ${left}`,
  );
}

async function callback(ports: Ports): Promise<Finding> {
  const { api } = ports;
  const id = await begin(ports, 'verify-ask', { n: 1 }, 'callback');
  const open = (name: string): Promise<string | undefined> =>
    until(ports, async () => (await api.get(id)).steps.find((step) => step.name === name)?.token);
  const token = (await open('answer')) ?? '';
  const wrong = await api.completeCallback(`${token.slice(0, -2)}zz`, { n: 2 }).then(
    () => 'accepted',
    (error: unknown) => (error instanceof ApiError ? `${error.status}` : 'no answer'),
  );
  await api.completeCallback(token, { n: 2 });
  await open('check');
  await api.approve(id, 'check');
  return expects(await endOf(ports, id), 'succeeded', is('another token', wrong, '404'));
}

async function bulk(ports: Ports): Promise<Finding> {
  const { api, runId } = ports;
  const ids = await Promise.all([1, 2].map((n) => begin(ports, 'verify-ask', { n }, `bulk-${n}`)));
  const { bulkId } = await api.makeBulk({ action: 'cancel', ids, idempotencyKey: `${runId}-bulk` });
  await until(ports, async () =>
    (await api.collectBulk(bulkId)).status === 'collecting' ? undefined : true,
  );
  await api.confirmBulk(bulkId);
  const ends = await Promise.all(ids.map((id) => endOf(ports, id)));
  return finding(
    ends.flatMap(({ executionId, status }) => is(executionId, status, 'canceled')),
    `${bulkId}: ${ends.length} canceled`,
  );
}

async function incident(ports: Ports): Promise<Finding> {
  const { api } = ports;
  const id = await begin(ports, 'verify-incident', { n: 1 }, 'incident');
  const found = await until(ports, async () =>
    (await api.get(id)).incidents?.find(({ closedAt }) => closedAt === undefined),
  );
  if (found === undefined) return { ok: false, evidence: `${id} opened no incident` };
  const listed = await until(ports, async () => {
    const { items } = await openQuestions(api);
    return items.some(({ executionId }) => executionId === id) ? true : undefined;
  });
  await api.resolve(id, found.number, { choice: 'give-output', output: { effect: 'by hand' } });
  return expects(await endOf(ports, id), 'succeeded', listed === true ? [] : ['it was not listed']);
}
