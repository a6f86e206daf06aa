/** The log lines about a full disk: the first failure, the number of refused writes, the end. */

import type { Telemetry } from '../../lib/aws/ports.ts';
import type { Ports } from '../../lib/core/ports.ts';
import { withTelemetry } from '../../serve/ports.ts';
import { troubleOf } from '../../serve/sqlite/trouble.ts';
import { UnkeptWrites } from '../../serve/unkept-writes.ts';

const MINUTE = 60_000;
const failure = { code: 'DiskFull', message: 'the disk is full' };

let lines: [string, Readonly<Record<string, unknown>>][];
let now: number;
let unkept: UnkeptWrites;
let logger: Telemetry['logger'];
beforeEach(() => {
  [lines, now] = [[], 1_000];
  const line = (what: string, fields: Readonly<Record<string, unknown>>) => void lines.push([what, fields]);
  logger = { error: line, warn: line, info: line, level: 0 } as unknown as Telemetry['logger'];
  unkept = new UnkeptWrites({ now: () => now, sleep: async () => undefined }, logger);
});

it('says it once, once a minute how often, and when it is over', () => {
  for (let at = 0; at < 150; at += 1) {
    now = 1_000 + at * 1_000;
    unkept.onFailed(failure);
  }
  unkept.onCommitted();
  now += MINUTE;
  unkept.onCommitted();
  unkept.onCommitted();
  expect(lines).toEqual([
    ['writes-not-kept', { detail: 'the disk is full', refused: 1 }],
    ['writes-not-kept', { detail: 'the disk is full', refused: 61 }],
    ['writes-not-kept', { detail: 'the disk is full', refused: 121 }],
    ['writes-kept-again', { refused: 150, ms: 149_000 }],
  ]);
});

it('is not over where small commits are kept now and then, and says its end then', () => {
  for (let at = 0; at < 150; at += 1) {
    unkept.onFailed(failure);
    unkept.onCommitted();
    expect(unkept.now()).toBeUndefined();
    now += 1_000;
  }
  expect(lines.map(([what, { refused }]) => [what, refused])).toEqual([
    ['writes-not-kept', 1],
    ['writes-not-kept', 61],
    ['writes-not-kept', 121],
  ]);
  now += MINUTE;
  unkept.onCommitted();
  expect(lines.at(-1)).toEqual(['writes-kept-again', { refused: 150, ms: 149_000 }]);
  now += MINUTE;
  unkept.onFailed(failure);
  expect(lines.at(-1)).toEqual(['writes-not-kept', { detail: 'the disk is full', refused: 1 }]);
});

it('has no line for each execution that it keeps from going on, and counts each', () => {
  const counted: string[] = [];
  const meter = { note: ({ what }: { readonly what: string }) => counted.push(what) };
  const telemetry = { logger, meter } as unknown as Telemetry;
  const { log } = withTelemetry({ storageTrouble: unkept.now } as unknown as Ports, telemetry);
  const note = (detail: string) => log.note({ what: 'evaluation-failed', executionId: 'e-1', detail });
  unkept.onFailed(failure);
  note('not-kept: the disk is full: nothing of this was written. Make room and ask again');
  note('conflict: another');
  unkept.onCommitted();
  note('internal: something else');
  const said = lines.filter(([what]) => what === 'evaluation-failed').map(([, { detail }]) => detail);
  expect(said).toEqual(['conflict: another', 'internal: something else']);
  expect(counted).toHaveLength(3);
});

it('takes a quota that is used up for a full disk, though SQLite says that writing failed', () => {
  const failed = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE' });
  expect(troubleOf(failed, () => false)).toMatchObject({ isFinal: false, error: { name: 'DiskFull' } });
  expect(troubleOf(failed, () => true)).toMatchObject({ isFinal: true, error: { name: 'FileBroken' } });
});
