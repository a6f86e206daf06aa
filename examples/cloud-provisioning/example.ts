/** The ways in which building an environment fails, and the resources that must remain. */

import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Finding, Scene, Stage } from '../gallery/example.ts';
import { type CloudEntry, DEEDS, standing } from './world.ts';

/**
 * The resources of a complete environment of 18 steps: the check makes none, there is no replica, and
 * machines come with disks.
 */
const BUILT = { part: 7, resource: 7, disk: 4, name: 2 };

const start = async ({ client }: Stage, environment: string, region: string, otherwise: string) => {
  const input = { environment, region, otherwise, machines: 4, replica: false };
  return (await client.start('cloud-provisioning', { input, idempotencyKey: environment })).executionId;
};

const ledgerOf = ({ world }: Pick<Stage, 'world'>): Promise<readonly CloudEntry[]> =>
  world.ledger() as Promise<readonly CloudEntry[]>;

const scenes: readonly Scene[] = [
  {
    name: 'lost-reply',
    wrong: 'A cluster is made, and the answer is lost',
    ends: ['succeeded'],
    play: async (stage, environment) => {
      const match = { about: environment, reference: '.cluster.' };
      await stage.world.behave({ service: 'compute', mode: 'drop-reply', times: 1, match });
      return start(stage, environment, 'north', 'south');
    },
    tell: ({ output }) => `A probe found it by its tag; there is one. Built in ${regionOf(output)}.`,
  },
  {
    name: 'full',
    wrong: 'The region has no room for the second pool of machines',
    ends: ['succeeded'],
    play: (stage, environment) => start(stage, environment, 'east', 'south'),
    tell: ({ output, steps }) =>
      `Half-built and given up, disks and names included; the ${nth(steps[0]?.children?.try)} try is in ${regionOf(output)}.`,
  },
  {
    name: 'nowhere',
    wrong: 'Neither region has room',
    ends: ['compensated'],
    play: (stage, environment) => start(stage, environment, 'east', 'west'),
    tell: ({ steps }) => `Given up ${steps[0]?.children?.try} times, and of none anything is left.`,
  },
  {
    name: 'killed',
    wrong:
      'The agent that makes the database is killed before it can report, and then the site does not answer',
    ends: ['succeeded'],
    play: async (stage, environment) => {
      const { behave } = stage.world;
      const made = { about: environment, reference: '.database.' };
      await behave({ service: 'compute', mode: 'slow-reply', ms: 3_000, times: 1, match: made });
      // Declines only the first try.
      const first = { about: environment, reference: '.site.0.check' };
      await behave({ service: 'site', mode: 'decline', match: first });
      const executionId = await start(stage, environment, 'north', 'south');
      await stage.until('the database', async () =>
        (await ledgerOf(stage)).find(
          (entry) => entry.type === 'database' && entry.environment === environment,
        ),
      );
      stage.cloud.kill('create-resource');
      return executionId;
    },
    tell: ({ output }) =>
      `Its lease ran out, and a probe found the one database by its tag. All was removed, and the second try is in ${regionOf(output)}, too.`,
  },
];

const regionOf = (output: unknown): string => String((output as { region?: string } | undefined)?.region);
const nth = (number = 1): string => ['first', 'second', 'third'][number - 1] ?? `${number}th`;

/** Finds environments that exist in two regions at once. */
function inTwoRegions(entries: readonly CloudEntry[]): Finding[] {
  const found = new Map<string, Finding>();
  const stands = new Map<string, CloudEntry>();
  for (const entry of entries) {
    if (entry.of === undefined) stands.set(entry.id, entry);
    else stands.delete(entry.of);
    const { environment: subject = '', region } = entry;
    const others = [...stands.values()].some(
      (other) => other.environment === subject && other.region !== region,
    );
    if (others) found.set(subject, { kind: 'doubled', subject, text: 'it was in two regions at once' });
  }
  return [...found.values()];
}

export default {
  title:
    'Cloud provisioning: 18 steps in a region, and in another if the first has no room; of a region that is given up nothing is left.',
  world: 'CLOUD_URL',
  scenes,
  audit: async ({ stage, played }) => {
    const entries = (await ledgerOf(stage)).filter(({ kind }) => kind !== 'check');
    const deeds = DEEDS.filter(({ kind }) => kind !== 'check');
    const { ledger, findings } = auditDeeds(deeds, entries, played, ({ end }) =>
      end.status === 'succeeded' ? BUILT : {},
    );
    return {
      ledger: `${ledger}; ${standing(entries).length} stand`,
      findings: [...findings, ...inTwoRegions(entries)],
    };
  },
} satisfies Example;
