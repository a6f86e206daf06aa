/** The ways in which encoding a film goes wrong, and the checks afterwards. */

import { copyFile } from 'node:fs/promises';
import type { ExecutionView } from 'steadfast/client';
import * as z from 'zod/mini';
import { auditDeeds } from '../gallery/audit.ts';
import type { Example, Finding, Scene, Seen, Stage } from '../gallery/example.ts';
import { audit } from './audit.ts';
import { FILM_SECONDS } from './dev.ts';
import { encoder } from './encoder.ts';
import { segmentAt, segments, uploadAt } from './library.ts';
import { DEEDS, type FilmEntry } from './world.ts';

/** Uploads a film, and starts its encoding. */
async function start({ cloud, client }: Stage, upload: string): Promise<string> {
  process.env['VIDEO_LIBRARY'] = cloud.environment['VIDEO_LIBRARY'];
  await copyFile(uploadAt('harbour'), uploadAt(upload));
  const input = { upload, title: upload };
  return (await client.start('video-encoding', { input, idempotencyKey: upload })).executionId;
}

const scenes: readonly Scene[] = [
  {
    name: 'stall',
    wrong: 'An encoder stands still at 47 % of a chunk, twice, while its heartbeats go on',
    ends: ['succeeded'],
    play: async (stage, upload) => {
      await stage.world.behave({
        service: 'licence',
        mode: 'hang',
        times: 2,
        match: { about: `${upload}/2` },
      });
      return start(stage, upload);
    },
    tell: (end) =>
      `Each time its worker killed it with the programs that it had started. What it had written was removed, and the whole rendition encoded otherwise: its segments have ${heightsIn(end)} lines.`,
  },
  {
    name: 'lost-page',
    wrong: 'The catalogue publishes the page, and its answer is lost',
    ends: ['succeeded'],
    play: async (stage, upload) => {
      const match = { about: upload };
      await stage.world.behave({ service: 'catalogue', mode: 'drop-reply', times: 1, match });
      return start(stage, upload);
    },
    tell: () => 'A probe asked the catalogue for pages with the reference, and found it.',
  },
  {
    name: 'declined',
    wrong: 'The catalogue declines the film for good, when all of it is encoded',
    ends: ['compensated'],
    play: async (stage, upload) => {
      await stage.world.behave({ service: 'catalogue', mode: 'decline', match: { about: upload } });
      return start(stage, upload);
    },
    tell: () => 'Nothing is published, and none of its segments is left in the library.',
  },
];

const Encoded = z.object({ segments: z.array(z.nullable(z.object({ height: z.int() }))) });

function heightsIn({ steps }: ExecutionView): string {
  const output = steps.find(({ name }) => name === 'encode')?.output;
  const { data } = z.safeParse(Encoded, output);
  return (data?.segments ?? []).map((segment) => segment?.height).join(', ');
}

async function look({ stage, played }: Seen) {
  const entries = await stage.world.ledger<FilmEntry>();
  const names = await segments();
  const files = names.map(async (name) => [name, await encoder().secondsOf(segmentAt(name))] as const);
  const { pages, lost, mixed, leftBehind } = audit(entries, new Map(await Promise.all(files)), FILM_SECONDS);
  // Repeated checks of a licence are allowed.
  const deeds = DEEDS.filter(({ kind }) => kind === 'page');
  const { ledger, findings } = auditDeeds(deeds, entries, played, ({ end }) =>
    end.status === 'succeeded' ? { page: 1 } : {},
  );
  const own: Finding[] = leftBehind.map((file) => ({
    kind: 'leftBehind',
    text: `no page has the segment ${file}`,
  }));
  if (lost > 0)
    own.push({ kind: 'lost', text: `${lost} segments or seconds of what is published are missing` });
  if (mixed > 0) own.push({ kind: 'other', text: `${mixed} pages have segments of more than one height` });
  const heights = pages.map((page) => page.join(' ')).join('; ');
  return {
    ledger: `${ledger}; lines of their segments: ${heights}; encoded by ${encoder().name}`,
    findings: [...findings, ...own],
  };
}

export default {
  title:
    'Video encoding: cut a film into chunks, encode them in containers, publish it; where the encoder stalls at a chunk the whole rendition is encoded otherwise.',
  world: 'VIDEO_WORLD_URL',
  scenes,
  audit: look,
} satisfies Example;
