/** The order of the checks of `verify`, which of them count as not run, and the report. */

import type { Check, Entry } from '../../../cli/verify/check.ts';
import type { Ports } from '../../../cli/verify/ports.ts';
import { countsOf, jsonReport, markdownReport } from '../../../cli/verify/report.ts';
import { run } from '../../../cli/verify/run.ts';
import { FakeDeployment, fakePorts } from './fake-deployment.ts';

const check = (id: string, more: Partial<Check> = {}): Check => ({
  id,
  row: `The row of ${id}.`,
  area: 'Executions',
  phase: 'executions',
  needs: [],
  expected: 'something',
  run: async () => ({ ok: true, evidence: `${id} was seen` }),
  ...more,
});
const ports = (lacks: Ports['lacks'] = {}): Ports => ({ ...fakePorts(new FakeDeployment()), lacks });
const outcomes = async (entries: readonly Entry[], lacks = {}) => {
  const results = await run(entries, ports(lacks), { say: () => {} });
  return results.map(({ entry, outcome, evidence }) => [entry.id, outcome, evidence]);
};

it('says of each row what came of it, in the order of the rows', async () => {
  const entries: Entry[] = [
    check('later'),
    { id: 'month', area: 'Executions', row: 'A month.', byHand: 'it takes a month' },
    check('first', { phase: 'preflight' }),
    check('bad', { run: async () => ({ ok: false, evidence: 'it was not' }) }),
    check('threw', { run: () => Promise.reject(new Error('no connection')) }),
  ];
  expect(await outcomes(entries)).toEqual([
    ['later', 'held', 'later was seen'],
    ['month', 'not run', 'by hand: it takes a month'],
    ['first', 'held', 'first was seen'],
    ['bad', 'failed', 'it was not'],
    ['threw', 'failed', 'no connection'],
  ]);
});

it('never reports success for a check that had no answer (V1)', async () => {
  const entries = [check('signed', { needs: ['signature'] })];
  expect(await outcomes(entries, { signature: 'nothing verifies it' })).toEqual([
    ['signed', 'not run', 'nothing verifies it'],
  ]);
});

const SECRET =
  'User: arn:aws:iam::123456789012:user/ann (Request ID: 0f34aa41-7b13-4c8a-9d3a-2f6a1b2c3d4e) AKIAABCDEFGHIJKLMNOP, arn:aws:sts::123456789012:assumed-role/Admin/ann@shop.example, "RequestId":"V7QKAS0BVV4KQNSO5AEMVJF66Q9ASUAAJG", Request ID: 4442587FB7D0A2F9';

it('reports without accounts, requests and keys, and counts', async () => {
  const entries = [
    check('one', { run: async () => ({ ok: false, evidence: `${SECRET} | more` }) }),
    check('two'),
  ];
  const results = await run(entries, ports(), { say: () => {} });
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
