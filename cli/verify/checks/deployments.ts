/**
 * Checks that deploy the stack again, or stop it as a whole, while a trigger goes on: the last of a run.
 *
 * Owns: what is begun before and asked for afterwards. Does not own: how a stack is stopped, restored or
 * deployed (`../throwaway.ts`).
 */

import { type Check, type Entry, type Finding, finding } from '../check.ts';
import type { Ports } from '../ports.ts';
import { begin, ended, endOf, is, until } from '../starting.ts';

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

/** Sends events all the while. Each starts one execution, which succeeds. */
async function withEvents(
  ports: Ports,
  what: string,
  act: () => Promise<readonly string[]>,
): Promise<Finding> {
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
    const problems = await act();
    const seconds = Math.round((clock.now() - beganAt) / 1_000);
    progress.isOver = true;
    await sending;
    const left = await until(
      ports,
      async () => ((await wrongEvents(ports, beganAt, sent)).length === 0 ? [] : undefined),
      EVENTS_END_WITHIN_MS,
    );
    const wrong = left ?? (await wrongEvents(ports, beganAt, sent));
    return finding([...problems, ...wrong], `${sent.length} events in ${seconds} s, each one execution`);
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

async function atRest(ports: Ports): Promise<readonly string[]> {
  let status = 0;
  const running = await ports.deployment.atRest(async () => {
    ({ status } = await ports.raw('POST', '/workflows/verify-part/executions', { signed: true }));
  });
  const after = await ended(ports, 'verify-part', { n: 1 }, 'quiesce');
  return [
    ...running.map((part) => `${part} still ran`),
    ...is('a start meanwhile', status, 429),
    ...is('status after it', after.status, 'succeeded'),
  ];
}

async function backAndOn(ports: Ports): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const to of ['before', 'this'] as const) {
    const id = await begin(ports, 'verify-ask', { n: 1 }, `until-${to}`);
    const token = await until(ports, async () => tokenOf(ports, id, 'answer'));
    problems.push(...(await ports.deployment.change(to)));
    await ports.api.completeCallback(token ?? '', { n: 2 });
    await until(ports, async () => tokenOf(ports, id, 'check'));
    await ports.api.approve(id, 'check');
    problems.push(...is(`${id} under the other release`, (await endOf(ports, id)).status, 'succeeded'));
  }
  return problems;
}

const tokenOf = async ({ api }: Ports, id: string, name: string): Promise<string | undefined> =>
  (await api.get(id)).steps.find((step) => step.name === name)?.token;

async function restored(ports: Ports): Promise<readonly string[]> {
  const { api, deployment, probes } = ports;
  const past = await ended(ports, 'verify-order', { mode: 'plain' }, 'before-restore');
  const open = await begin(ports, 'verify-order', { mode: 'plain' }, 'at-restore');
  const running = await deployment.atRest(async () => {
    await deployment.restoreTable();
  });
  const [known, end] = [await api.get(past.executionId), await endOf(ports, open)];
  const most = end.status === 'succeeded' ? 1 : 0;
  const acted = [await probes.effects(`${open}/first`), await probes.effects(`${open}/second`)];
  return [
    ...running.map((part) => `${part} still ran`),
    ...is('status of what had ended', known.status, 'succeeded'),
    ...(end.endedAt === undefined ? [`${open} is still ${end.status}`] : []),
    ...acted.flatMap((count) => is(`effects of ${open}`, count, most)),
  ];
}
