/**
 * Puts a day's files into the bucket of `npm start`, and then the manifest that starts their batch; with
 * `--compare`, compares the warehouse's rows with the content of the files.
 *
 *   npx tsx examples/etl-from-s3/put-sample.ts [--files 50] [--bad 1] [--lines 20] [--compare]
 *
 * Owns: the command. Does not own: what is in the files (`sample.ts`).
 */

import { isDeepStrictEqual, parseArgs } from 'node:util';
import * as z from 'zod/mini';
import { Row } from './rows.ts';
import { manifestOf, sampleFile, sorted } from './sample.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '50' },
    bad: { type: 'string', default: '1' },
    lines: { type: 'string', default: '20' },
    compare: { type: 'boolean', default: false },
    cloud: { type: 'string', default: 'http://127.0.0.1:4510' },
    warehouse: { type: 'string', default: 'http://127.0.0.1:4533' },
  },
});
const files = Array.from({ length: Number(values.files) }, (_, number) =>
  sampleFile(number, Number(values.lines), number < Number(values.bad)),
);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.compare) await compare();
else await putAll();

/** Writes the files, and the manifest last, because it means that all of them exist. */
async function putAll(): Promise<void> {
  const manifest = { key: 'incoming/2026-03-01.manifest', text: manifestOf(files) };
  for (const { key, text } of [...files, manifest]) {
    const url = `${values.cloud}/_local/buckets/drop/objects`;
    const response = await fetch(url, { method: 'POST', body: JSON.stringify({ key, body: text }) });
    if (!response.ok) throw new Error(`${url} answers ${response.status}: ${await response.text()}`);
  }
  say(`${files.length} files are there, ${values.bad} of them bad, and ${manifest.key}`);
}

async function compare(): Promise<void> {
  const response = await fetch(`${values.warehouse}/warehouse/rows`);
  const { rows } = z.parse(z.object({ rows: z.array(Row) }), await response.json());
  const expected = sorted(files.flatMap((file) => file.rows));
  const isSame = isDeepStrictEqual(rows, expected);
  say(JSON.stringify({ rows: rows.length, expected: expected.length, isSame }));
  if (!isSame) process.exitCode = 1;
}
