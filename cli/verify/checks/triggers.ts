/** Checks the triggers, which start executions without the API, and the events about ends. */

import { type Finding, finding, type Run } from '../check.ts';
import type { Ports } from '../ports.ts';
import { again, ended, is, until } from '../starting.ts';

/** A number that JavaScript would round. */
const LARGE = '9007199254740993';

export const TRIGGERS: Readonly<Record<string, Run>> = {
  'event-trigger': async (ports) => {
    const id = `${ports.runId}-event`;
    const detail = JSON.stringify({ id, text: 'by event' });
    for (let twice = 0; twice < 2; twice += 1) await ports.probes.putEvent(detail);
    return begunBy(ports, id);
  },
  'message-trigger': async (ports) => {
    const id = `${ports.runId}-message`;
    await ports.probes.send(ports.probes.requests, JSON.stringify({ id, text: 'by message' }));
    return begunBy(ports, id);
  },
  'refused-start': refusedStart,
  'schedule-trigger': scheduleTrigger,
  'end-once': async (ports) => {
    const { executionId } = await ended(ports, 'verify-part', { n: 1 }, 'end-once');
    const seen = await again(ports, async () => (await ports.probes.ends()).get(executionId));
    return finding(is('events', seen, 1), `${executionId}: ${seen}`);
  },
};

/**
 * Checks that a message with a number that would be rounded is refused. It uses the event trigger, whose
 * messages are whole events.
 */
async function refusedStart(ports: Ports): Promise<Finding> {
  const queues = await ports.queues();
  const dead = queues.find(({ url }) => url === ports.probes.requests)?.deadLetters;
  const url = queues.find(({ name }) => name === dead)?.url;
  if (url === undefined) return { ok: false, evidence: 'the queue of the trigger has no dead-letter queue' };
  const id = `${ports.runId}-refused`;
  await ports.probes.send(ports.probes.requests, `{"id":${JSON.stringify(id)},"text":${LARGE}}`);
  const found = await until(ports, async () =>
    (await ports.probes.take(url)).find((body) => body.includes(id)),
  );
  const begun = (await begunNow(ports)).filter(({ input }) => input.includes(id));
  return finding(
    [
      ...(found === undefined ? ['it did not come to the dead-letter queue'] : []),
      ...(found === undefined || found.includes(LARGE) ? [] : [`it came as ${found}`]),
      ...begun.map(({ executionId }) => `it started ${executionId}`),
    ],
    found ?? '',
  );
}

/** Checks that there is exactly one execution of `verify-event` with this id in its input. */
async function begunBy(ports: Ports, id: string): Promise<Finding> {
  const found = await again(ports, async () => {
    const all = await begunNow(ports);
    return all.some(({ input }) => input.includes(id)) ? all : undefined;
  });
  const own = (found ?? []).filter(({ input }) => input.includes(id));
  return finding(is('executions', own.length, 1), own.map(({ executionId }) => executionId).join(', '));
}

interface Begun {
  readonly executionId: string;
  readonly input: string;
}
async function begunNow({ api }: Ports, since?: number): Promise<readonly Begun[]> {
  const { items } = await api.list({
    workflow: 'verify-event',
    limit: 50,
    ...(since === undefined ? {} : { since }),
  });
  const views = await Promise.all(items.map(({ executionId }) => api.get(executionId)));
  return views.map(({ executionId, input }) => ({ executionId, input: JSON.stringify(input) }));
}

async function scheduleTrigger(ports: Ports): Promise<Finding> {
  // Counts only executions started from now on, because earlier ones do not prove that the schedule works
  // now.
  const since = ports.clock.now() - CLOCKS_DIFFER_MS;
  await ports.probes.tick('rate(5 minutes)');
  const found = await until(
    ports,
    async () => (await begunNow(ports, since)).find(({ input }) => /"id":"\d{4}-\d\d-\d\dT/.test(input)),
    LONGEST_RATE_MS,
  );
  return finding(found === undefined ? ['no execution was started'] : [], found?.input ?? '');
}
/** The longest time between two runs of the schedule, which fires every five minutes. */
const LONGEST_RATE_MS = 6 * 60_000;
const CLOCKS_DIFFER_MS = 60_000;
