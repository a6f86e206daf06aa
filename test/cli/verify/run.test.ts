/** The order of `verify`, its budget, what counts as not run, and its report. */

import { CannotAnswer, type Check, type Entry, OPTIONS, PHASES } from '../../../cli/verify/check.ts';
import { phasesOf } from '../../../cli/verify/command.ts';
import type { Ports } from '../../../cli/verify/ports.ts';
import { countsOf, jsonReport, markdownReport } from '../../../cli/verify/report.ts';
import { run } from '../../../cli/verify/run.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';

const check = (id: string, more: Partial<Check> = {}): Check => ({
  id,
  row: `The row of ${id}.`,
  area: 'Executions',
  phase: 'smoke',
  needs: [],
  dollars: 0,
  expected: 'something',
  run: async () => ({ ok: true, evidence: `${id} was seen` }),
  ...more,
});
const ports = (lacks: Ports['lacks'] = {}): Ports => ({ ...fakePorts(new FakeDeployment()), lacks });
const outcomes = async (
  entries: readonly Entry[],
  given: Partial<Parameters<typeof run>[2]> = {},
  lacks = {},
) => {
  const options = { phases: new Set(['settings', 'smoke'] as const), budget: 5, say: () => {}, ...given };
  const results = await run(entries, ports(lacks), options);
  return results.map(({ entry, outcome, evidence }) => [entry.id, outcome, evidence]);
};

it('says of each row what came of it, in the order of the rows', async () => {
  const entries: Entry[] = [
    check('later', { phase: 'smoke' }),
    { id: 'month', area: 'Executions', row: 'A month.', byHand: 'it takes a month' },
    check('first', { phase: 'settings' }),
    check('bad', { run: async () => ({ ok: false, evidence: 'it was not' }) }),
    check('threw', { run: () => Promise.reject(new Error('no connection')) }),
    check('game', { phase: 'game-day' }),
  ];
  expect(await outcomes(entries)).toEqual([
    ['later', 'held', 'later was seen'],
    ['month', 'not run', 'by hand: it takes a month'],
    ['first', 'held', 'first was seen'],
    ['bad', 'failed', 'it was not'],
    ['threw', 'failed', 'no connection'],
    ['game', 'not run', 'only with --game-day'],
  ]);
});

const FLAGS = {
  '--game-day': { gameDay: true },
  '--slow': { slow: true },
  '--load': { load: true },
  '--throwaway': { throwaway: true },
} as const;

it.each(PHASES)('runs the checks of %s with the option that their rows name', (phase) => {
  const option = OPTIONS[phase];
  expect(phasesOf({ budget: 5 }).has(phase)).toBe(option === undefined);
  if (option !== undefined) expect(phasesOf({ budget: 5, ...FLAGS[option] }).has(phase)).toBe(true);
});

it('never says held of what could not be answered (V1)', async () => {
  const entries = [
    check('signed', { needs: ['signature'] }),
    check('asked', { run: () => Promise.reject(new CannotAnswer('there is no alarm here')) }),
  ];
  expect(await outcomes(entries, {}, { signature: 'nothing verifies it' })).toEqual([
    ['signed', 'not run', 'nothing verifies it'],
    ['asked', 'not run', 'there is no alarm here'],
  ]);
});

it('stops at the budget, and goes on with what costs nothing (V2)', async () => {
  const [one, two, cheap] = [0.6, 0.6, 0.1].map((dollars, at) =>
    check(['one', 'two', 'cheap'][at] ?? '', { dollars }),
  );
  const entries = [one, two, cheap, check('free')] as Entry[];
  expect(await outcomes(entries, { budget: 1 })).toEqual([
    ['one', 'held', 'one was seen'],
    ['two', 'not run', 'the budget of $1 is used up'],
    ['cheap', 'not run', 'the budget of $1 is used up'],
    ['free', 'held', 'free was seen'],
  ]);
});

const SECRET =
  'User: arn:aws:iam::123456789012:user/ann (Request ID: 0f34aa41-7b13-4c8a-9d3a-2f6a1b2c3d4e) AKIAABCDEFGHIJKLMNOP, arn:aws:sts::123456789012:assumed-role/Admin/ann@shop.example, "RequestId":"V7QKAS0BVV4KQNSO5AEMVJF66Q9ASUAAJG", Request ID: 4442587FB7D0A2F9';

it('reports without accounts, requests and keys, and counts', async () => {
  const entries = [
    check('one', { run: async () => ({ ok: false, evidence: `${SECRET} | more` }) }),
    check('two'),
  ];
  const results = await run(entries, ports(), { phases: new Set(['smoke']), budget: 0, say: () => {} });
  const subject = {
    deployment: 'stack Shop in 123456789012',
    region: 'eu-central-1',
    version: '1.0.0',
    beganAt: 0,
    endedAt: 60_000,
  };
  expect(countsOf(results)).toEqual({ rows: 2, held: 1, failed: 1, notRun: 0 });
  for (const text of [jsonReport(results, subject), markdownReport(results, subject)]) {
    expect(text).not.toMatch(/123456789012|0f34aa41|AKIA|ann|V7QKAS|4442587F/);
    expect(text).toContain('assumed-role/Admin/<session>');
    expect(text).toContain('<account>');
    expect(text).toContain('two was seen');
  }
  expect(markdownReport(results, subject)).toContain('| failed | The row of one. | something |');
  expect(JSON.parse(jsonReport(results, subject))).toMatchObject({ rows: [{ expected: 'something' }, {}] });
  expect(markdownReport(results, subject)).toContain('\\| more |');
});
