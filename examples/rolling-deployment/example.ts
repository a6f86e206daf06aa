/**
 * The ways in which a deployment goes wrong, and the checks afterwards. `FLEET_HOSTS=200` rolls over 200
 * hosts.
 */

import type { ApiError } from 'steadfast/client';
import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Finding, Played, Scene, Seen, Stage } from '../gallery/example.ts';
import { audit, rested, rolledBack, soaked } from './audit.ts';
import { type Fleet, OUT_OF_WORK, SOAK } from './workflow.ts';
import { DEEDS, type FleetEntry } from './world.ts';

const HOSTS = Number(process.env['FLEET_HOSTS'] ?? 30);
const BATCH = Math.min(20, Math.ceil(HOSTS / 3));
const BATCHES = Math.ceil(HOSTS / BATCH);
const SOAK_MS = Number.parseInt(SOAK, 10) * 1_000;

/** 'shop/2-07' is the seventh host of the second batch. */
const hostOf = (subject: string, batch: number, at: number): string =>
  `${subject}/${batch}-${String(at).padStart(2, '0')}`;

const fleetOf = (subject: string): Fleet => ({
  version: 'v2',
  batches: Array.from({ length: BATCHES }, (_, batch) =>
    Array.from({ length: Math.min(BATCH, HOSTS - batch * BATCH) }, (_each, at) =>
      hostOf(subject, batch + 1, at + 1),
    ),
  ),
});

const start = async ({ client }: Stage, subject: string): Promise<string> =>
  (await client.start('rolling-deployment', { input: fleetOf(subject), idempotencyKey: subject }))
    .executionId;

const sick = ({ world }: Stage, host: string): Promise<void> =>
  world.behave({ service: 'monitor', mode: 'decline', match: { about: host } });

/**
 * Makes requests fail on that host with the release, according to its metrics. No check of the host notices
 * it.
 */
const failing = async ({ world }: Stage, host: string, share: number): Promise<void> => {
  const body = JSON.stringify({ reference: 'v2', host, share });
  const { status } = await fetch(`${world.url}/metrics/errors`, { method: 'POST', body });
  if (status !== 201) throw new Error(`the metrics answer ${status}`);
};

const installsOf = async ({ world }: Stage, subject: string): Promise<readonly FleetEntry[]> =>
  (await world.ledger<FleetEntry>()).filter(
    ({ kind, host }) => kind === 'install' && host.startsWith(`${subject}/`),
  );

/** Whether a command came in time: while the API's processes are killed, it may arrive after the end. */
const inTime = (command: Promise<unknown>): Promise<boolean> =>
  command.then(
    () => true,
    (error: Partial<ApiError>) => {
      if (error.status === 409) return false;
      throw error;
    },
  );

const scenes: readonly Scene[] = [
  {
    name: 'paused',
    wrong:
      'A host is sick, an answer of the installer is lost, its agent is killed, and an operator pauses in mid-fleet',
    ends: ['succeeded'],
    play: async (stage, subject) => {
      await sick(stage, hostOf(subject, 1, 3));
      const match = { about: hostOf(subject, 1, 5) };
      await stage.world.behave({ service: 'installer', mode: 'drop-reply', times: 1, match });
      const executionId = await start(stage, subject);
      await stage.until('the second batch', async () => (await installsOf(stage, subject))[BATCH]);
      stage.cloud.kill('install-release', { nextEvent: true });
      if (!(await inTime(stage.client.pause(executionId, { reason: 'the shop is full' }))))
        return executionId;
      await stage.until('the pause', async () => {
        const { status, endedAt } = await stage.client.get(executionId);
        if (endedAt !== undefined) return true;
        return status === 'paused' && (await installsOf(stage, subject)).length >= 2 * BATCH
          ? true
          : undefined;
      });
      await inTime(stage.client.resume(executionId, { reason: 'the rush is over' }));
      return executionId;
    },
    tell: () =>
      'The sick host went back to the former release by itself. The second batch came to its end in spite of the kill, the third waited for the resume.',
  },
  {
    name: 'gate-closes',
    wrong: 'Too many hosts of the last batch are sick',
    ends: ['compensated'],
    play: async (stage, subject) => {
      for (let at = 1; at <= Math.floor(BATCH / 10) + 1; at += 1)
        await sick(stage, hostOf(subject, BATCHES, at * 2));
      return start(stage, subject);
    },
    tell: () => 'Every host is back on the former release, the last batch went first.',
  },
  {
    name: 'errors',
    wrong:
      'All hosts of the second batch are well, and in three of a hundred of their requests the release fails',
    ends: ['compensated'],
    play: async (stage, subject) => {
      for (const host of fleetOf(subject).batches[1] ?? []) await failing(stage, host, 0.03);
      return start(stage, subject);
    },
    tell: () =>
      'The gate read 3 % after the soak time. Both batches are back on the former release, the third never began.',
  },
];

/** One fleet's findings: how many of its hosts were out of work, and in which order they went back. */
function findingsOf({ scene, subject, end }: Played, entries: readonly FleetEntry[]): Finding[] {
  const own = entries.filter(({ host }) => host.startsWith(`${subject}/`));
  const { batches, version } = fleetOf(subject);
  const { leftOut, outAtMost } = audit(own, batches.flat());
  const back = rolledBack(own, batches, version);
  const begun = batches.filter((batch) =>
    own.some(({ kind, host }) => kind === 'install' && batch.includes(host)),
  ).length;
  const least = Math.min(...rested(own, batches));
  const found = [
    ...(outAtMost > OUT_OF_WORK ? [`${outAtMost} hosts were out of work at the same time`] : []),
    ...(leftOut.length > 0 && end !== undefined ? [`${leftOut.join(', ')} get no requests`] : []),
    ...(end?.status === 'compensated' && back.some((batch, at) => batch !== begun - at)
      ? [`the batches went back in the order ${back.join(', ')}`]
      : []),
    ...(least < SOAK_MS ? [`a batch began ${Math.round(least)} ms after the one before was at work`] : []),
    ...(scene.name === 'errors' && begun > 2 ? ['a batch began behind a gate that was shut'] : []),
  ];
  return found.map((text) => ({ kind: 'other', subject, text }));
}

/** Batches whose errors were read before a bad release had time to show. */
async function earlyGates({ client }: Stage, { subject, end }: Played, entries: readonly FleetEntry[]) {
  const { batches } = fleetOf(subject);
  const found = await Promise.all(
    batches.map(async (batch, at): Promise<Finding[]> => {
      const { children } = end?.steps.find(({ name }) => name === `batch-${at + 1}`) ?? {};
      const [id] = children?.executionIds ?? [];
      if (id === undefined) return [];
      const gate = (await client.get(id)).steps.find(({ name }) => name === 'gate');
      const readAt = gate?.attempts[0]?.claimedAt ?? gate?.claimedAt;
      const soakedMs = readAt === undefined ? SOAK_MS : soaked(entries, batch, readAt);
      const text = `gate ${at + 1} read the errors ${Math.round(soakedMs)} ms after its batch was at work`;
      return soakedMs < SOAK_MS ? [{ kind: 'other', subject, text }] : [];
    }),
  );
  return found.flat();
}

async function look({ stage, played }: Seen) {
  const entries = await stage.world.ledger<FleetEntry>();
  // A host may be checked any number of times, and reading the metrics has no effect.
  const deeds = DEEDS.filter(({ kind }) => kind !== 'check' && kind !== 'error');
  const { ledger, findings } = auditDeeds(deeds, entries, played, ({ end }) =>
    end.status === 'succeeded' ? { install: HOSTS - 1, shift: 2 * (HOSTS - 1) } : {},
  );
  const early = await Promise.all(played.map((one) => earlyGates(stage, one, entries)));
  const own = played.flatMap((one) => findingsOf(one, entries));
  return { ledger, findings: [...findings, ...own, ...early.flat()] };
}

export default {
  title: `Rolling deployment: a release for ${HOSTS} hosts, batch after batch, with a soak time and a gate; it is paused in mid-fleet, or goes back in reverse.`,
  world: 'FLEET_WORLD_URL',
  scenes,
  audit: look,
} satisfies Example;
