/** The whole local cloud on a tiny assembly: real processes, the real DynamoDB binary, the real clients. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { type Cloud, startCloud } from '../../local/cloud.ts';
import { cloudFor, Lines, template, until, writeAssembly } from './fixture.ts';
import { ManualClock } from './manual-clock.ts';

describe('a running stack', () => {
  const lines = new Lines();
  const problems: string[] = [];
  const clock = new ManualClock(Date.now());
  let cloud: Cloud;
  let dataDir = '';
  let end: () => Promise<void>;

  beforeAll(async () => {
    ({ cloud, dataDir, end } = await cloudFor({
      clock,
      schedules: true,
      environment: { OUTSIDE_URL: 'http://outside' },
      onLog: lines.onLog,
      onProblem: (message) => problems.push(message),
    }));
  });
  afterAll(async () => await end());

  const get = async (path: string, init?: RequestInit) => await fetch(`${cloud.apiUrl}${path}`, init);

  const emit = async (entry: object) =>
    (await (await get('/emit', { method: 'POST', body: JSON.stringify(entry) })).json()) as {
      FailedEntryCount: number;
    };

  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await get(`/_local${path}`, init);
    return [response.status, await response.json()] as const;
  };

  test('has its outputs resolved to local addresses and lists what does not run', () => {
    expect(cloud.outputs).toEqual({ ApiUrl: `${cloud.apiUrl}/`, TableName: 'Shop-Table' });
    expect(cloud.notRun).toEqual(['Zone (AWS::Route53::HostedZone)']);
    expect(cloud.resources.get('Work')?.ref).toBe(`${cloud.gatewayUrl}/000000000000/Shop-Work`);
  });

  test('goes from HTTP through DynamoDB and SQS to the worker and back', async () => {
    expect((await get('/order?id=e2e')).status).toBe(202);
    expect(await lines.next(/"e2e"/)).toBe('record {"id":"e2e"} receive 1');
    await until('the message is deleted', () =>
      cloud.control.queues().every((queue) => queue.inFlight === 0),
    );
    const item: unknown = await (await get('/items?pk=e2e')).json();
    expect(item).toEqual({ pk: { S: 'e2e' }, sk: { S: 'x' }, by: { S: 'web' } });
  });

  test('attributes and counts every AWS call', async () => {
    cloud.control.resetCalls();
    cloud.control.measureCapacity(true);
    await get('/order?id=counted');
    await until('the worker wrote', () =>
      cloud.control.calls().some((each) => each.operation === 'UpdateItem'),
    );
    cloud.control.measureCapacity(false);
    const count = (caller: string, operation: string) =>
      cloud.control.calls().find((each) => each.caller === caller && each.operation === operation);
    expect(count('Web', 'PutItem')).toMatchObject({
      service: 'dynamodb',
      resource: 'Shop-Table',
      calls: 1,
      capacityUnits: 1,
    });
    expect(count('Web', 'SendMessage')).toMatchObject({
      service: 'sqs',
      resource: 'Shop-Work',
      calls: 1,
      errors: 0,
    });
    expect(count('Worker', 'PutItem')).toMatchObject({ calls: 1 });
    await until('the worker is done', () => cloud.control.queues().every((queue) => queue.inFlight === 0));
  });

  test('gives functions the environment and context of Lambda', async () => {
    const { env, context, remainingMs } = (await (await get('/env')).json()) as {
      env: Record<string, string>;
      context: Record<string, unknown>;
      remainingMs: number;
    };
    expect(env).toMatchObject({
      TABLE: 'Shop-Table',
      OUTSIDE_URL: 'http://outside',
      AWS_LAMBDA_FUNCTION_NAME: 'Shop-Web',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '256',
      AWS_LAMBDA_LOG_LEVEL: 'DEBUG',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL: cloud.gatewayUrl,
    });
    expect(env['AWS_ACCESS_KEY_ID']).toMatch(/^Web-\d+$/);
    expect(env['AWS_PROFILE']).toBeUndefined();
    expect(env['_X_AMZN_TRACE_ID']).toMatch(/^Root=1-/);
    expect(context).toMatchObject({
      functionName: 'Shop-Web',
      invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:Shop-Web',
      memoryLimitInMB: '256',
      logGroupName: '/aws/lambda/Shop-Web',
    });
    expect(remainingMs).toBeGreaterThan(1000);
    expect(remainingMs).toBeLessThanOrEqual(2000);
  });

  test('answers 500 when the function throws, dies or hangs beyond its timeout, and serves the next event', async () => {
    for (const path of ['/fail', '/exit', '/hang']) {
      const response = await get(path);
      expect([path, response.status, await response.json()]).toEqual([
        path,
        500,
        { message: 'Internal Server Error' },
      ]);
    }
    expect(await lines.next(/on purpose/)).toBe('TypeError: on purpose');
    expect(await (await get('/text')).text()).toBe('just text');
    expect(cloud.control.functions().find((each) => each.logicalId === 'Web')).toMatchObject({ timeouts: 1 });
  });

  test("tells an invoker the error in Lambda's shape", async () => {
    expect(await cloud.control.invoke('web', { rawPath: '/fail' })).toMatchObject({
      ok: false,
      kind: 'error',
      error: { errorType: 'TypeError', errorMessage: 'on purpose' },
    });
    expect(await cloud.control.invoke('web', { rawPath: '/exit' })).toMatchObject({
      ok: false,
      kind: 'exit',
      error: { errorType: 'Runtime.ExitError', errorMessage: expect.stringMatching(/exit status 3$/) },
    });
  });

  test('refuses a body over 10 MB, and a payload over 6 MB, with 413', async () => {
    for (const megabytes of [11, 7]) {
      const response = await get('/', { method: 'POST', body: 'x'.repeat(megabytes * 1024 * 1024) });
      expect([megabytes, response.status]).toEqual([megabytes, 413]);
    }
  });

  test('a message that fails comes back after its visibility and ends in the dead-letter queue', async () => {
    cloud.control.send('work', '{"poison":true}');
    expect(await lines.next(/poison/)).toMatch(/receive 1$/);
    await until('the batch is over', () =>
      cloud.control.functions().every((each) => each.processes.every((p) => p.state === 'idle')),
    );
    clock.advance(1000);
    expect(await lines.next(/poison/)).toMatch(/receive 2$/);
    await until('the batch is over', () =>
      cloud.control.functions().every((each) => each.processes.every((p) => p.state === 'idle')),
    );
    clock.advance(1000);
    await until('it is moved', () => cloud.control.peek('dead').length > 0);
    expect(cloud.control.peek('dead').map((message) => [message.body, message.receiveCount])).toEqual([
      ['{"poison":true}', 2],
    ]);
    cloud.control.purge('dead');
  });

  test('routes events by pattern, and keeps a log of them', async () => {
    const entry = { Source: 'shop', DetailType: 'Done', Detail: '{"total":50}' };
    expect((await emit(entry)).FailedEntryCount).toBe(0);
    await emit({ ...entry, Detail: '{"total":5}' });
    expect((await emit({ ...entry, EventBusName: 'nope' })).FailedEntryCount).toBe(1);
    expect((await emit({ ...entry, Detail: 'no json' })).FailedEntryCount).toBe(1);
    const delivered = cloud.control.peek('dead').map((message) => JSON.parse(message.body) as unknown);
    expect(delivered).toMatchObject([{ source: 'shop', 'detail-type': 'Done', detail: { total: 50 } }]);
    expect(cloud.control.events()).toMatchObject([
      { detailType: 'Done', detail: { total: 50 }, rules: ['Shop-OnDone'] },
      { detail: { total: 5 }, rules: [] },
    ]);
    cloud.control.purge('dead');
  });

  test('ticks a schedule by its rate and by hand, and not when it is disabled', async () => {
    clock.advance(60_000);
    expect(await lines.next(/^tick/)).toMatch(/Scheduled Event/);
    cloud.control.disable('every');
    clock.advance(120_000);
    await cloud.control.tick('every');
    expect(await lines.next(/^tick/)).toMatch(/Scheduled Event/);
    cloud.control.enable('every');
    expect(cloud.control.schedules()).toMatchObject([{ name: 'Shop-Every', enabled: true, ticks: 2 }]);
  });

  test('says so when a service is not emulated', async () => {
    const response = await fetch(cloud.gatewayUrl, {
      method: 'PUT',
      headers: { authorization: 'AWS4-HMAC-SHA256 Credential=Web-1/20260101/us-east-1/s3/aws4_request' },
      body: 'x',
    });
    expect(response.status).toBe(501);
    expect(await response.text()).toMatch(/s3 .* is not emulated/);
  });

  test('keeps what functions write in a file each', async () => {
    const log = join(dataDir, 'logs', 'Shop-Ticker.log');
    await until(
      'the line is in the file',
      () => existsSync(log) && readFileSync(log, 'utf8').includes('tick Scheduled Event 1'),
    );
  });

  test('offers the control over HTTP, to this machine only', async () => {
    expect(await call('GET', '')).toMatchObject([200, { gatewayUrl: cloud.gatewayUrl }]);
    expect((await call('GET', '/functions'))[1]).toMatchObject([
      { logicalId: 'Web' },
      { logicalId: 'Worker' },
      {},
    ]);
    expect(await call('POST', '/functions/web/invoke', { rawPath: '/text' })).toEqual([
      200,
      { ok: true, payload: '"just text"' },
    ]);
    expect(await call('POST', '/schedules/every/tick')).toEqual([200, { ok: true }]);
    expect(await call('DELETE', '/calls')).toEqual([200, { ok: true }]);
    expect(await call('POST', '/functions/nobody/kill')).toMatchObject(
      [400, { error: { message: /Web, Worker, Ticker/ } }].map((each) =>
        typeof each === 'number' ? each : expect.anything(),
      ),
    );
    expect(await call('POST', '/functions/web/kill', { soon: true })).toMatchObject([400, expect.anything()]);
    expect(await call('GET', '/nothing')).toMatchObject([404, expect.anything()]);
    expect(JSON.stringify(await call('GET', '/functions/a/kill'))).toContain('POST functions/*/kill,');
    expect(await call('GET', '/queues', undefined, { origin: 'https://evil.example' })).toMatchObject([
      403,
      expect.anything(),
    ]);
    expect((await call('GET', '/functions', undefined, { origin: 'http://localhost:5173' }))[0]).toBe(200);
  });

  test('had nothing to complain about', () => {
    expect(problems).toEqual([]);
  });
});

const open = async (options: Parameters<typeof cloudFor>[0] & { dataDir: string; assembly: string }) =>
  await startCloud({ port: 0, schedules: false, ...options });

describe('starting and stopping', () => {
  test('a second start finds tables and messages; a fresh one does not', async () => {
    const { root, assembly, dataDir } = writeAssembly();
    const first = await open({ assembly, dataDir });
    await fetch(`${first.apiUrl}/order?id=kept`);
    // Waits, because a message in work would come back after the restart and end in the dead-letter queue.
    await until('the worker is done', () =>
      first.control.queues().every(({ visible, inFlight }) => visible + inFlight === 0),
    );
    first.control.send('dead', 'kept');
    await first.stop();
    const second = await open({ assembly, dataDir });
    expect(await (await fetch(`${second.apiUrl}/items?pk=kept`)).json()).toMatchObject({ pk: { S: 'kept' } });
    expect(second.control.peek('dead').map((message) => message.body)).toEqual(['kept']);
    await second.stop();
    const third = await open({ assembly, dataDir, fresh: true });
    expect(await (await fetch(`${third.apiUrl}/items?pk=kept`)).json()).toBeNull();
    expect(third.control.peek('dead')).toEqual([]);
    await third.stop();
    rmSync(root, { recursive: true });
  });

  test("a stranger's folder is neither used nor wiped", async () => {
    const { root, assembly, dataDir } = writeAssembly();
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'thesis.txt'), 'precious');
    await expect(open({ assembly, dataDir, fresh: true })).rejects.toThrow(
      /is not empty and no local cloud made it/,
    );
    expect(readFileSync(join(dataDir, 'thesis.txt'), 'utf8')).toBe('precious');
    rmSync(root, { recursive: true });
  });

  test('two clouds on one folder are refused; the lock of a dead one is not', async () => {
    const { assembly, dataDir, end } = await cloudFor();
    await expect(open({ assembly, dataDir })).rejects.toThrow(/a local cloud \(process \d+\) is running on/);
    await end();
    const again = writeAssembly();
    mkdirSync(again.dataDir);
    writeFileSync(join(again.dataDir, '.local-cloud'), '');
    writeFileSync(join(again.dataDir, 'lock'), '{"pid":4194304}');
    const cloud = await open(again);
    await cloud.stop();
    rmSync(again.root, { recursive: true });
  });

  test('a taken port is named, with what to do, and leaves nothing running', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const { root, assembly, dataDir } = writeAssembly();
    await expect(open({ assembly, dataDir, port })).rejects.toThrow(
      `port ${port} (the HTTP API) is taken: stop the other program, or choose another with --port`,
    );
    expect(existsSync(join(dataDir, 'lock'))).toBe(false);
    other.close();
    rmSync(root, { recursive: true });
  });

  test('a table whose keys changed is explained', async () => {
    const { root, assembly, dataDir } = writeAssembly();
    await (await open({ assembly, dataDir })).stop();
    const changed = template();
    const table = changed.Resources['Table'];
    if (table !== undefined) table.Properties['KeySchema'] = [{ AttributeName: 'pk', KeyType: 'HASH' }];
    writeFileSync(join(assembly, 'Shop.template.json'), JSON.stringify(changed));
    await expect(open({ assembly, dataDir })).rejects.toThrow(
      /table Table has other keys or indexes now: .*\(pk HASH, sk RANGE\) \+ byDue.* the template says \(pk HASH\)/,
    );
    rmSync(root, { recursive: true });
  });

  test('a function never has more processes than its cap; events wait for one', async () => {
    const { cloud, end } = await cloudFor({ concurrencyPerFunction: 1 });
    const answers = await Promise.all(
      [1, 2, 3].map(async () => await (await fetch(`${cloud.apiUrl}/text`)).text()),
    );
    expect(answers).toEqual(['just text', 'just text', 'just text']);
    expect(cloud.control.functions()[0]).toMatchObject({ invocations: 3, coldStarts: 1 });
    await end();
  });

  test('AWS_ENDPOINT_URL_DYNAMODB is used instead of the embedded server', async () => {
    const outside = await cloudFor();
    process.env['AWS_ENDPOINT_URL_DYNAMODB'] = outside.cloud.gatewayUrl;
    try {
      const inside = await cloudFor();
      expect((await fetch(`${inside.cloud.apiUrl}/order?id=outside`)).status).toBe(202);
      expect(await (await fetch(`${outside.cloud.apiUrl}/items?pk=outside`)).json()).toMatchObject({
        by: { S: 'web' },
      });
      await expect(inside.cloud.control.restartDynamo()).rejects.toThrow(/cannot restart DynamoDB/);
      await inside.end();
    } finally {
      delete process.env['AWS_ENDPOINT_URL_DYNAMODB'];
      await outside.end();
    }
  });

  test('an invalid assembly names the command to run', async () => {
    const { root, dataDir } = writeAssembly();
    await expect(open({ assembly: join(root, 'nothing'), dataDir })).rejects.toThrow(/run "cdk synth" first/);
    rmSync(root, { recursive: true });
  });
});
