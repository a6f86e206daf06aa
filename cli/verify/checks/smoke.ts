/**
 * Checks that let executions run, one of each kind, in a minute or two.
 *
 * Owns: what each must become. Does not own: the workflows (`../stack/workflows/proof/`), what starts them
 * beside the API (`triggers.ts`).
 */

import { ApiError } from '../../../lib/api/client.ts';
import { openQuestions } from '../../incidents.ts';
import { type Entry, type Finding, finding } from '../check.ts';
import type { Ports } from '../ports.ts';
import { begin, endOf, ended, expects, is, smoke, until } from '../starting.ts';

/** The same key for each step of the execution (`effects.ts` of the stack). */
const effectsOf = ({ probes }: Ports, id: string, step: string): Promise<number> =>
  probes.effects(`${id}/${step}`);

const LONG = 40;
/** Too many for a record, and few enough for the output in an answer. */
const LARGE_CHARS = 60_000;

export const SMOKE: readonly Entry[] = [
  {
    ...smoke(
      { id: 'health', area: 'API and access', row: 'The API answers that all is well.', expected: 'ok' },
      async ({ api }) => {
        const { status } = await api.health();
        return finding(status === 'down' ? ['health is down'] : [], `health ${status}`);
      },
    ),
    needs: [],
  },
  {
    ...smoke(
      {
        id: 'unsigned',
        area: 'API and access',
        stops: true,
        row: 'An unsigned request is refused.',
        expected: '403 for a route and for none',
      },
      async ({ raw }) => {
        const answers = await Promise.all([raw('GET', '/health'), raw('GET', '/nothing')]);
        return finding(
          answers.flatMap(({ status }) => is('status', status, 403)),
          answers.map(({ status }) => status).join(', '),
        );
      },
    ),
    needs: ['signature'],
  },
  {
    ...smoke(
      {
        id: 'unknown-route',
        area: 'API and access',
        row: 'An allowed request of no route gets 404 with a code.',
        expected: '404 {"error":{"code":"unknown-route"}}',
      },
      async ({ raw }) => {
        const { status, text } = await raw('GET', '/nothing', { signed: true });
        return finding(
          [...is('status', status, 404), ...(text.includes('"unknown-route"') ? [] : [text.slice(0, 100)])],
          `${status} ${text.slice(0, 60)}`,
        );
      },
    ),
    needs: [],
  },
  smoke(
    {
      id: 'order',
      area: 'Executions',
      stops: true,
      row: 'An order succeeds past a lost answer, and acts once.',
      expected: 'succeeded; a probe finds the effect; one effect',
    },
    async (ports) => {
      const view = await ended(ports, 'verify-order', { mode: 'lose-answer' }, 'order');
      const { executionId: id } = view;
      const why = JSON.stringify(await ports.api.why(id));
      return expects(view, 'succeeded', [
        ...is('effects of the first step', await effectsOf(ports, id, 'first'), 1),
        ...is('effects of the second step', await effectsOf(ports, id, 'second'), 1),
        ...(why.includes('probe') ? [] : ['why names no probe']),
      ]);
    },
  ),
  smoke(
    {
      id: 'undone',
      area: 'Executions',
      row: 'A declined order is undone.',
      expected: 'compensated; no effect is left',
    },
    async (ports) => {
      const view = await ended(ports, 'verify-order', { mode: 'decline' }, 'undone');
      return expects(
        view,
        'compensated',
        is('effects left', await effectsOf(ports, view.executionId, 'first'), 0),
      );
    },
  ),
  smoke(
    {
      id: 'chain',
      area: 'Executions',
      stops: true,
      row: 'A chain of 40 steps over one agent is not cut.',
      expected: `succeeded; ${LONG} steps done`,
    },
    async (ports) => {
      const view = await ended(ports, 'verify-chain', { n: 7 }, 'chain');
      const done = view.steps.filter(({ status }) => status === 'done').length;
      return expects(view, 'succeeded', is('steps done', done, LONG));
    },
  ),
  smoke(
    { id: 'list', area: 'Executions', row: 'A list of 40 succeeds.', expected: 'succeeded' },
    async (ports) =>
      expects(
        await ended(ports, 'verify-list', { items: Array.from({ length: LONG }, (_, at) => at) }, 'list'),
        'succeeded',
      ),
  ),
  smoke(
    {
      id: 'large',
      area: 'Executions',
      row: 'A large value takes the bucket.',
      expected: `succeeded; an input of ${LARGE_CHARS} characters is read back`,
    },
    async (ports) => {
      const text = 'x'.repeat(LARGE_CHARS);
      const view = await ended(ports, 'verify-large', { n: 1, text }, 'large');
      const { text: read } = Object(view.output) as { readonly text?: unknown };
      return expects(view, 'succeeded', is('characters read back', String(read ?? '').length, LARGE_CHARS));
    },
  ),
  smoke(
    {
      id: 'erase',
      area: 'Executions',
      row: 'An execution is erased.',
      expected: 'erased; unknown-execution afterwards',
    },
    erased,
  ),
  smoke(
    { id: 'child', area: 'Executions', row: 'A child’s end reaches its parent.', expected: 'succeeded' },
    async (ports) => expects(await ended(ports, 'verify-parent', { n: 1 }, 'child'), 'succeeded'),
  ),
  smoke(
    {
      id: 'callback',
      area: 'API and access',
      row: 'A callback takes its token alone; a person approves.',
      expected: '404 unknown-callback; succeeded',
    },
    callback,
  ),
  smoke(
    {
      id: 'cors',
      area: 'API and access',
      row: '`cors` answers a preflight with 204.',
      expected: '204 for its page, with its origin; none for another',
    },
    cors,
  ),
  smoke(
    {
      id: 'bulk',
      area: 'Observation and cost',
      row: 'A bulk action may do all that it must.',
      expected: 'both of its executions canceled',
    },
    bulk,
  ),
  smoke(
    {
      id: 'incident',
      area: 'Executions',
      row: 'An incident is listed and resolved by a person.',
      expected: 'listed while open; ended after the answer',
    },
    incident,
  ),
  smoke(
    {
      id: 'same-key',
      area: 'Executions',
      row: 'Two starts with one key are one execution.',
      expected: 'one id',
    },
    async (ports) => {
      const ids = await Promise.all([1, 1].map((n) => begin(ports, 'verify-part', { n }, 'same-key')));
      return finding(is('ids', new Set(ids).size, 1), ids.join(', '));
    },
  ),
  smoke(
    {
      id: 'pages',
      area: 'Executions',
      row: 'Pages skip no execution of one millisecond.',
      expected: `${LONG} of ${LONG} listed in pages of 3`,
    },
    pages,
  ),
  smoke(
    {
      id: 'cancel',
      area: 'Executions',
      row: 'A canceled execution ends.',
      expected: 'canceled',
    },
    async (ports) => {
      const id = await begin(ports, 'verify-ask', { n: 1 }, 'cancel');
      await ports.api.cancel(id, { reason: 'verified' });
      return expects(await endOf(ports, id), 'canceled');
    },
  ),
];

async function erased(ports: Ports): Promise<Finding> {
  const text = 'x'.repeat(LARGE_CHARS);
  const { executionId } = await ended(ports, 'verify-large', { n: 1, text }, 'erase');
  const answer = await until(ports, () =>
    ports.api.erase(executionId).catch((error: unknown) => {
      // Its end is announced in a moment, and its step began less than a minute ago.
      if (error instanceof ApiError && error.code === 'not-erasable') return undefined;
      throw error;
    }),
  );
  // What is erased is not lost.
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

/** As the stack of verify allows it. */
const PAGE = 'https://verify.example';
async function cors({ raw }: Ports): Promise<Finding> {
  const ask = (origin: string) =>
    raw('OPTIONS', '/executions', { headers: { origin, 'access-control-request-method': 'GET' } });
  const [own, other] = await Promise.all([PAGE, 'https://other.example'].map(ask));
  return finding(
    [
      ...is('status', own?.status, 204),
      ...is('origin', own?.allowsOrigin, PAGE),
      ...is('origin of another page', other?.allowsOrigin, undefined),
    ],
    `${own?.status} for ${own?.allowsOrigin}`,
  );
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

async function pages(ports: Ports): Promise<Finding> {
  const wanted = await Promise.all(
    Array.from({ length: LONG }, (_, n) => begin(ports, 'verify-part', { n }, `page-${n}`)),
  );
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await ports.api.list({
      workflow: 'verify-part',
      limit: 3,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { executionId } of page.items) seen.add(executionId);
    ({ cursor } = page);
  } while (cursor !== undefined && !wanted.every((id) => seen.has(id)));
  const missing = wanted.filter((id) => !seen.has(id));
  return finding(
    missing.map((id) => `${id} is on no page`),
    `${wanted.length} of ${wanted.length}`,
  );
}
