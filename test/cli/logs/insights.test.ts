/** Reading an execution's log lines from CloudWatch Logs: the HTTP requests, and reading the answers. */

import { Calls } from '../../../cli/aws/calls.ts';
import type { Clock } from '../../../cli/io.ts';
import { Insights, type InsightsOptions } from '../../../cli/logs/insights.ts';
import { type FakeApi, fakeApi, steadfast } from '../fake-api.ts';
import { FakeAws } from '../fake-aws.ts';
import { AT, entry, execution, messages, WANTED } from './lines.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const LOGS = 'arn:aws:logs:eu-central-1:123456789012:log-group';
const former = { ...process.env };
let api: FakeApi;
let aws: FakeAws;
let clock: Clock & { at: number; slept: number };
beforeEach(async () => {
  api = await fakeApi();
  process.env['AWS_ACCESS_KEY_ID'] = KEYS.accessKeyId;
  process.env['AWS_SECRET_ACCESS_KEY'] = KEYS.secretAccessKey;
  aws = new FakeAws();
  aws.tagged = [...aws.tagged, [`${LOGS}:Shop-ApiLogs`, 'logs']];
  clock = {
    at: AT + 600_000,
    slept: 0,
    now: () => clock.at,
    async sleep(ms) {
      clock.slept += ms;
    },
  };
  await aws.open();
});
afterEach(async () => {
  await api.stop();
  aws.close();
  process.env = { ...former };
});

const says = (what: string, body: Record<string, unknown>, status = 200): void => {
  aws.refusals.push({ what: new RegExp(`^${what}$`), status, body, times: 1 });
};
const found = (...rows: readonly (readonly [pointer: string, text: string])[]): void => {
  says('StartQuery', { queryId: 'q1' });
  says('GetQueryResults', {
    status: 'Complete',
    statistics: { bytesScanned: 2_500_000 },
    results: rows.map(([pointer, text]) => [
      { field: '@timestamp', value: '2026-01-02 03:04:05.000' },
      { field: '@message', value: text },
      { field: '@log', value: '123456789012:Shop-PayLogs' },
      { field: '@ptr', value: pointer },
    ]),
  });
};
const source = (more: Partial<InsightsOptions> = {}): Insights =>
  new Insights({
    calls: new Calls({ region: 'eu-central-1', endpoint: aws.url, credentials: KEYS, clock }),
    clock,
    stack: 'Shop',
    wanted: WANTED,
    from: AT,
    ...more,
  });
const asked = (what: string): Record<string, unknown>[] =>
  aws.calls.filter((call) => call.what === what).map(({ body }) => body);

test('all log groups are asked at once for the time of the execution, signed for its service', async () => {
  found(['p2', entry(200, 'b')], ['p1', entry(100, 'a')]);
  api.answers.push({ status: 200, body: execution({ endedAt: AT + 1_000 }) });
  const { exitCode, out, err } = await steadfast(
    ['logs', 'e1', '--stack', 'Shop', '--url', api.url, '--json'],
    { AWS_ENDPOINT_URL: aws.url, AWS_REGION: 'eu-central-1' },
  );
  expect([exitCode, err, messages(out)]).toEqual([0, 'CloudWatch Logs has scanned 2.5 MB\n', ['a', 'b']]);
  expect(JSON.parse(out.split('\n')[0]!)).toMatchObject({ source: 'Shop-PayLogs' });
  expect(asked('StartQuery')).toEqual([
    {
      logGroupNames: ['Shop-ApiLogs', 'Shop-PayLogs'],
      startTime: AT / 1_000 - 60,
      endTime: AT / 1_000 + 1 + 15 * 60,
      queryString:
        "fields @timestamp, @message, @log | filter correlation_id = 'e1' | sort @timestamp asc | limit 10000",
    },
  ]);
  const [call] = aws.calls.filter(({ what }) => what === 'StartQuery');
  expect([call?.service, call?.headers['x-amz-target']]).toEqual(['logs', 'Logs_20140328.StartQuery']);
});

test('levels and children are filtered there', async () => {
  found();
  await source({ wanted: { executionId: 'e1.pack.0', children: true, level: 'error' } }).next();
  expect(asked('StartQuery')[0]?.['queryString']).toBe(
    String.raw`fields @timestamp, @message, @log | filter correlation_id = 'e1.pack.0' or correlation_id like /^e1\.pack\.0\./ | filter level in ['ERROR', 'CRITICAL'] | sort @timestamp asc | limit 10000`,
  );
  expect(() => source({ wanted: { ...WANTED, executionId: "e1' or 1 = 1" } })).toThrow('is not the id');
});

test('it waits for the query, and asks again only for what may have come since; no line twice', async () => {
  const insights = source();
  says('StartQuery', { queryId: 'q0' });
  says('GetQueryResults', { status: 'Running' });
  says('GetQueryResults', { status: 'Complete', results: [] });
  expect(await insights.next()).toEqual([]);
  expect(clock.slept).toBe(1_000);
  found(['p1', entry(100, 'a')]);
  expect(await insights.next()).toHaveLength(1);
  clock.at += 5_000;
  found(['p1', entry(100, 'a')], ['p2', entry(100, 'a')]);
  expect(await insights.next()).toHaveLength(1);
  expect(asked('StartQuery').map(({ startTime }) => Number(startTime) - AT / 1_000)).toEqual([0, 480, 480]);
  expect(asked('GetQueryResults').map(({ queryId }) => queryId)).toEqual(['q0', 'q0', 'q1', 'q1']);
  expect(asked('GetResources').length).toBeGreaterThan(0);
  expect(insights.scannedBytes).toBe(5_000_000);
});

test('more log groups than a query takes are asked in several', async () => {
  const many = Array.from({ length: 51 }, (_, index) => [`${LOGS}:G${index}`, 'logs'] as const);
  aws.tagged = many;
  found(['p1', entry(300, 'b')]);
  found(['p2', entry(100, 'a')]);
  expect((await source().next()).map((line) => line.entry['message'])).toEqual(['a', 'b']);
  expect(asked('StartQuery').map((body) => (body['logGroupNames'] as string[]).length)).toEqual([50, 1]);
});

test('more lines than a query returns are said', async () => {
  const rows = Array.from({ length: 10_000 }, (_, index) => [`p${index}`, ''] as const);
  found(...rows);
  const insights = source();
  await insights.next();
  expect(insights.isCut).toBe(true);
});

test('a refusal names the action; a query that fails and a stack without log groups say what to do', async () => {
  says('StartQuery', { __type: 'AccessDeniedException', Message: 'User x is not authorized' }, 400);
  await expect(source().next()).rejects.toMatchObject({
    code: 'not-allowed',
    message:
      'AWS denied logs:StartQuery: User x is not authorized\ndocs/SECURITY.md lists the actions that this command needs',
  });
  says('StartQuery', { queryId: 'q1' });
  says('GetQueryResults', { status: 'Timeout' });
  await expect(source().next()).rejects.toMatchObject({
    code: 'query-failed',
    message: "the query of CloudWatch Logs ended as 'Timeout'; narrow it with --since",
  });
  aws.tagged = aws.tagged.filter(([, part]) => part !== 'logs');
  await expect(source().next()).rejects.toMatchObject({ code: 'no-logs' });
  await expect(source({ stack: 'Shoop' }).next()).rejects.toMatchObject({
    message: "no stack named 'Shoop' holds a Steadfast deployment; there are Shop",
  });
});
