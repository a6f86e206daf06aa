/**
 * Checks that deploy the stack again, or stop it as a whole, while a trigger goes on: the last of a run.
 *
 * Owns: what is begun before and asked for afterwards. Does not own: how a stack is stopped, restored or
 * deployed (`../throwaway.ts`).
 */

import { ApiError } from '../../../lib/api/client.ts';
import { type Check, type Entry, type Finding, finding } from '../check.ts';
import type { Ports } from '../ports.ts';
import { again, begin, ended, endOf, is, until } from '../starting.ts';

const EVENT_EVERY_MS = 30_000;
/** What waits in the triggers' queues is begun, and ends. */
const EVENTS_END_WITHIN_MS = 15 * 60_000;
const CLOCKS_DIFFER_MS = 60_000;
const PAGE = 100;

type Rest = Pick<Check, 'id' | 'area' | 'row' | 'expected' | 'needs' | 'run'>;
const ofDeployments = (rest: Rest): Check => ({ phase: 'deployments', dollars: 0.2, ...rest });

export const DEPLOYMENTS: readonly Entry[] = [
  ofDeployments({
    id: 'quiesce',
    area: 'Upgrade and removal',
    needs: ['deployment', 'probes'],
    row: '`quiesce` stops all parts, `unquiesce` restores them.',
    expected: 'nothing runs, starts get 429; events in between start one execution each',
    run: (ports) => withEvents(ports, 'quiesce', () => atRest(ports)),
  }),
  ofDeployments({
    id: 'release-before',
    area: 'Upgrade and removal',
    needs: ['deployment', 'release', 'probes'],
    row: '`upgrade` goes back to the release before and on (`--from`): nothing with data is replaced or lost.',
    expected: 'an execution begun under either ends under the other',
    run: (ports) => withEvents(ports, 'release', () => backAndOn(ports)),
  }),
  ofDeployments({
    id: 'restore',
    area: 'Supervision',
    needs: ['deployment', 'probes'],
    row: 'A [restored table](OPERATIONS.md#restore-the-table) takes over.',
    expected: 'what had ended is there, what was open acts once, events start one execution each',
    run: (ports) => withEvents(ports, 'restore', () => restored(ports)),
  }),
];

interface Acted {
  readonly problems: readonly string[];
  /** What was seen beside the events. */
  readonly evidence: string;
}

/** Sends events all the while. Each starts one execution, which succeeds. */
async function withEvents(ports: Ports, what: string, act: () => Promise<Acted>): Promise<Finding> {
  const { clock, probes, runId } = ports;
  const beganAt = clock.now();
  const sent: string[] = [];
  const progress = { isOver: false };
  const send = async (): Promise<void> => {
    do {
      const id = `${runId}-${what}-${sent.length}`;
      sent.push(id);
      await probes.putEvent(JSON.stringify({ id, text: what }));
      await clock.sleep(EVENT_EVERY_MS);
    } while (!progress.isOver);
  };
  const sending = send();
  // A failure is thrown where it is waited for: until then it must not end the process, and leave the stack.
  sending.catch(() => undefined);
  try {
    const { problems, evidence } = await act();
    const seconds = Math.round((clock.now() - beganAt) / 1_000);
    progress.isOver = true;
    await sending;
    const left = await again(
      ports,
      async () => ((await wrongEvents(ports, beganAt, sent)).length === 0 ? [] : undefined),
      EVENTS_END_WITHIN_MS,
    );
    const wrong = left ?? (await wrongEvents(ports, beganAt, sent));
    const events = `${sent.length} events in ${seconds} s, each one execution`;
    return finding([...problems, ...wrong], `${evidence}; ${events}`);
  } finally {
    progress.isOver = true;
    await sending.catch(() => undefined);
  }
}

/** Events that have not started exactly one execution that succeeded. */
async function wrongEvents(ports: Ports, since: number, ids: readonly string[]): Promise<string[]> {
  const ends = new Map<string, string[]>();
  let cursor: string | undefined;
  do {
    const page = await ports.api.list({
      workflow: 'verify-event',
      since: since - CLOCKS_DIFFER_MS,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const { executionId } of page.items) {
      const { input, status } = await ports.api.get(executionId);
      const id = String((Object(input) as { readonly id?: string }).id);
      ends.set(id, [...(ends.get(id) ?? []), status]);
    }
    ({ cursor } = page);
  } while (cursor !== undefined);
  return ids.flatMap((id) => is(`executions of ${id}`, (ends.get(id) ?? []).join(' '), 'succeeded'));
}

async function atRest(ports: Ports): Promise<Acted> {
  let status = 0;
  const running = await ports.deployment.atRest(async () => {
    ({ status } = await ports.raw('POST', '/workflows/verify-part/executions', { signed: true }));
  });
  const after = await endOf(
    ports,
    await unthrottled(ports, () => begin(ports, 'verify-part', { n: 1 }, 'quiesce')),
  );
  return {
    problems: [
      ...running.map((part) => `${part} still ran`),
      ...is('a start meanwhile', status, 429),
      ...is('status after it', after.status, 'succeeded'),
    ],
    evidence: `a start got ${status}, and after it ${after.executionId} ${after.status}`,
  };
}

/** The limits of a route are lifted by and by. */
async function unthrottled<Answer>(ports: Ports, call: () => Promise<Answer>): Promise<Answer> {
  const answer = await until(ports, () =>
    call().then(
      (got) => ({ got }),
      (error: unknown) => {
        if (error instanceof ApiError && error.status === 429) return undefined;
        throw error;
      },
    ),
  );
  return answer === undefined ? call() : answer.got;
}

/** Open until its callback is answered, and then acts. */
async function beginOpen(
  ports: Ports,
  key: string,
): Promise<{ readonly id: string; readonly token: string }> {
  const id = await begin(ports, 'verify-open', { n: 1 }, key);
  const token = await until(
    ports,
    async () => (await ports.api.get(id)).steps.find(({ name }) => name === 'answer')?.token,
  );
  if (token === undefined) throw new Error(`${id} opened no callback`);
  return { id, token };
}

/** @returns what is wrong with its end, and with what it has done */
async function answered(ports: Ports, { id, token }: { id: string; token: string }): Promise<string[]> {
  await unthrottled(ports, () => ports.api.completeCallback(token, { n: 2 }));
  const { status } = await endOf(ports, id);
  const effects = await ports.probes.effects(`${id}/act`);
  return [...is(`status of ${id}`, status, 'succeeded'), ...is(`effects of ${id}`, effects, 1)];
}

async function backAndOn(ports: Ports): Promise<Acted> {
  const problems: string[] = [];
  const releases: string[] = [];
  for (const to of ['before', 'this'] as const) {
    const open = await beginOpen(ports, `until-${to}`);
    const change = await ports.deployment.change(to);
    releases.push(change.release);
    problems.push(...change.problems, ...(await answered(ports, open)));
  }
  return { problems, evidence: `to ${releases.join(', and on to ')}` };
}

async function restored(ports: Ports): Promise<Acted> {
  const { api, deployment, probes } = ports;
  const { executionId: past } = await ended(ports, 'verify-order', { mode: 'plain' }, 'before-restore');
  const open = await beginOpen(ports, 'at-restore');
  let table = '';
  let used: readonly string[] = [];
  const running = await deployment.atRest(async () => {
    ({ name: table, used } = await deployment.restoreTable());
  });
  const { status } = await api.get(past);
  const acted = [await probes.effects(`${past}/first`), await probes.effects(`${past}/second`)];
  return {
    problems: [
      ...running.map((part) => `${part} still ran`),
      ...is('the table in use', used.join(' '), table),
      ...is('status of what had ended', status, 'succeeded'),
      ...acted.flatMap((count) => is(`effects of ${past}`, count, 1)),
      ...(await answered(ports, open)),
    ],
    evidence: `${table} is used; ${past} had ended, ${open.id} was open`,
  };
}
