/**
 * The ways in which a batch fails. Afterwards the warehouse must contain exactly the rows of its good files.
 */

import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import type { Example, Finding, Played, Scene, Stage } from '../gallery/example.ts';
import { Row } from './rows.ts';
import { manifestOf, type Sample, sampleFile, sorted } from './sample.ts';

/** How many files a scene has, and how many of them are bad. */
const SIZES: Readonly<Record<string, readonly [files: number, bad: number]>> = {
  'bad-file': [60, 1],
  'dies-at-it': [3, 0],
  'too-many-bad': [4, 2],
  'written-again': [3, 0],
};

/** Each subject has different tills. */
function filesOf(subject: string): readonly Sample[] {
  const [, name = '', round = '1'] = /^(.*)-(\d+)$/.exec(subject) ?? [];
  const [count, bad] = SIZES[name] ?? [1, 0];
  const first = (Number(round) * 10 + Object.keys(SIZES).indexOf(name)) * 100;
  return Array.from({ length: count }, (_, at) => sampleFile(first + at, 5, at < bad));
}

const manifestKey = (subject: string): string => `incoming/${subject}.manifest`;

/** Writes the files, and the manifest last, because it means that all of them exist. */
function put({ cloud }: Stage, subject: string): void {
  for (const { key, text } of filesOf(subject)) cloud.putObject('drop', key, text);
  putManifest({ cloud }, subject);
}

const putManifest = ({ cloud }: Pick<Stage, 'cloud'>, subject: string): void =>
  cloud.putObject('drop', manifestKey(subject), manifestOf(filesOf(subject)));

/** Delivers the bucket's event again, as S3 may. */
function deliverAgain({ cloud }: Stage, subject: string): void {
  const event = cloud
    .events()
    .find(
      ({ source, detail }) => source === 'aws.s3' && JSON.stringify(detail).includes(manifestKey(subject)),
    );
  if (event === undefined) throw new Error('the bucket has told nobody of its manifest');
  cloud.putEvent(event);
}

/** The executions that the manifest started. */
async function startedBy({ client }: Stage, subject: string): Promise<readonly string[]> {
  const { items } = await client.list({ workflow: 'etl-from-s3', limit: 100 });
  const all = await Promise.all(items.map(({ executionId }) => client.get(executionId)));
  const ofSubject = all.filter(({ input }) => JSON.stringify(input).includes(manifestKey(subject)));
  return ofSubject.map(({ executionId }) => executionId);
}

const started = (stage: Stage, subject: string): Promise<string> =>
  stage.until('the start of the batch', async () => (await startedBy(stage, subject))[0]);

const scenes: readonly Scene[] = [
  {
    name: 'bad-file',
    wrong:
      'Of sixty files, read in two pages, one breaks off, and the event that starts the batch is delivered twice',
    ends: ['succeeded'],
    play: async (stage, subject) => {
      put(stage, subject);
      deliverAgain(stage, subject);
      return started(stage, subject);
    },
    tell: ({ output }) => `One batch, ${JSON.stringify(output)}: one bad file of a page is tolerated.`,
  },
  {
    name: 'dies-at-it',
    wrong: 'The agent that transforms dies at what it is given, twice',
    ends: ['succeeded'],
    play: async (stage, subject) => {
      put(stage, subject);
      const id = await started(stage, subject);
      const { hit } = stage.cloud.kill('transform-file', { afterCall: 1, operation: 'PutItem' });
      void hit.then(() => stage.cloud.kill('transform-file', { afterCall: 1, operation: 'PutItem' }));
      return id;
    },
    tell: () => 'What died twice went to the agent that reads line by line, and its rows are the same.',
  },
  {
    name: 'too-many-bad',
    wrong: 'Of four files two break off',
    ends: ['compensated'],
    play: async (stage, subject) => {
      put(stage, subject);
      return started(stage, subject);
    },
    tell: () => 'More than is tolerated: what had been loaded of it was dropped.',
  },
  {
    name: 'written-again',
    wrong: 'The manifest is written a second time when its batch is loaded',
    ends: ['succeeded'],
    play: async (stage, subject) => {
      put(stage, subject);
      const first = await started(stage, subject);
      await stage.client.waitForEnd(first);
      putManifest(stage, subject);
      return await stage.until('the start of the second batch', async () =>
        (await startedBy(stage, subject)).find((id) => id !== first),
      );
    },
    tell: () =>
      'Another batch loaded the same files again, in the place of the first: no row is there twice.',
  },
];

/** How many batches a manifest of the scene starts. */
const batchesOf = (subject: string): number => (subject.startsWith('written-again') ? 2 : 1);

const Rows = z.object({ rows: z.array(Row) });
const Loads = z.object({
  loads: z.array(z.object({ label: z.string(), source: z.string(), dropped: z.boolean() })),
});

async function ask<T>({ world }: Stage, what: string, schema: z.ZodMiniType<T>): Promise<T> {
  return z.parse(schema, await (await fetch(`${world.url}/warehouse/${what}`)).json());
}

/** One subject's finding about the rows of its tills. */
export function rowsFinding(
  rows: readonly Row[],
  { subject, end }: Pick<Played, 'subject' | 'end'>,
): readonly Finding[] {
  const files = filesOf(subject);
  const tills = new Set(files.flatMap(({ key }) => /(till-\d+)\.jsonl$/.exec(key)?.[1] ?? []));
  const own = rows.filter(({ till }) => tills.has(till));
  const wanted = end?.status === 'succeeded' ? sorted(files.flatMap((file) => file.rows)) : [];
  if (end === undefined || isDeepStrictEqual(own, wanted)) return [];
  const kind = wanted.length === 0 ? 'leftBehind' : own.length < wanted.length ? 'lost' : 'doubled';
  return [{ kind, subject, text: `${own.length} rows are there, and not the ${wanted.length} of its files` }];
}

export default {
  title:
    'ETL from S3: an object starts it; files are read in pages, extracted, transformed and loaded, of which two in a hundred may be bad.',
  world: 'WAREHOUSE_URL',
  scenes,
  audit: async ({ stage, played }) => {
    const { rows } = await ask(stage, 'rows', Rows);
    const { loads } = await ask(stage, 'loads', Loads);
    const labels = loads.map(({ label }) => label);
    const twice = labels.filter((label, at) => labels.indexOf(label) !== at);
    const batches = await Promise.all(
      played.map(async ({ subject }) => ({ subject, count: (await startedBy(stage, subject)).length })),
    );
    const dropped = loads.filter((load) => load.dropped).length;
    return {
      ledger: `${loads.length} loads, ${dropped} of them dropped, ${rows.length} rows`,
      findings: [
        ...played.flatMap((one) => rowsFinding(rows, one)),
        ...twice.map((label): Finding => ({ kind: 'doubled', text: `a second load under ${label}` })),
        ...batches
          .filter(({ subject, count }) => count > batchesOf(subject))
          .map(
            ({ subject, count }): Finding => ({
              kind: 'doubled',
              subject,
              text: `${count} batches of one manifest`,
            }),
          ),
      ],
    };
  },
} satisfies Example;
