/**
 * An agent is renamed while running executions need it for an undo. Two templates run on the same data: every
 * view names the missing agent, and with the first template again the work is undone.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { createClient } from '../../lib/api/client.ts';
import { executionKey, stepKey } from '../../lib/aws/dynamo-items.ts';
import { missingAgentsText } from '../../cli/dev/banner.ts';
import { synthesize } from '../../lib/infra/synth.ts';
import { type Cloud, startCloud } from '../../local/cloud.ts';

const folder = mkdtempSync(join(tmpdir(), 'steadfast-missing-'));
const lines: string[] = [];
const problems: string[] = [];
let cloud: Cloud | undefined;

const synthesized = (version: string): Promise<{ assembly: string }> =>
  synthesize({ outdir: join(folder, version), folders: [`test/e2e/renamed/${version}`], validation: false });

async function deployed(assembly: string): Promise<ReturnType<typeof createClient>> {
  await cloud?.stop();
  cloud = await startCloud({
    assembly,
    dataDir: join(folder, 'data'),
    port: 0,
    schedules: false,
    onLog: ({ line }) => lines.push(line),
    onDenied: ({ message }) => problems.push(message),
  });
  return createClient({ url: cloud.apiUrl });
}

/** Starts every supervisor's tick without waiting for its end. */
function ring(): void {
  for (const { name } of cloud?.control.schedules() ?? [])
    void cloud?.control.tick(name).catch(() => undefined);
}

async function until<Value>(ask: () => Promise<Value>, isIt: (value: Value) => boolean): Promise<Value> {
  for (;;) {
    const value = await ask();
    if (isIt(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/**
 * Skips the half minute until a missing agent is tried again, by a change in the table.
 * `test/supervisor/missing-agent.test.ts` tests the wait itself in virtual time.
 */
async function waitIsOver(executionId: string, step: string): Promise<void> {
  const table = [...(cloud?.resources.values() ?? [])].find(
    ({ type }) => type === 'AWS::DynamoDB::GlobalTable',
  );
  const client = new DynamoDBClient({
    endpoint: cloud?.gatewayUrl ?? '',
    region: 'us-east-1',
    credentials: { accessKeyId: 'hand', secretAccessKey: 'x' },
  });
  const now = { N: String(Date.now()) };
  const set = (Key: ReturnType<typeof stepKey>, attribute: string, condition: string): Promise<unknown> =>
    client.send(
      new UpdateItemCommand({
        TableName: table?.ref ?? '',
        Key,
        UpdateExpression: 'SET #at = :now',
        ConditionExpression: condition,
        ExpressionAttributeNames: { '#at': attribute },
        ExpressionAttributeValues: { ':now': now },
      }),
    );
  await set(stepKey(executionId, step), 'retryAt', '#at > :now');
  await set(executionKey(executionId), 'wakeAt', 'attribute_exists(#at)');
  client.destroy();
}

afterAll(async () => {
  await cloud?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('an agent that is gone is named everywhere, holds only its own work up, and goes on when it is back', async () => {
  const [{ assembly: before }, { assembly: after }] = [
    await synthesized('before'),
    await synthesized('after'),
  ];
  let api = await deployed(before);
  const { executionId } = await api.start('trip', { input: { to: 'Oslo' } });
  const waiting = await until(
    () => api.get(executionId),
    ({ steps }) => steps.some(({ token, waitsUntil }) => token !== undefined && waitsUntil !== undefined),
  );
  const { token = '' } = waiting.steps.find(({ name }) => name === 'confirm') ?? {};

  api = await deployed(after);
  expect(await missingAgentsText(cloud?.apiUrl ?? '')).toBe(
    "WARNING: No agent 'book-trip' is deployed: 1 of 1 examined open executions have it in their plan. Deploy it again until they have ended; the waiting executions continue within a minute.\n",
  );
  expect((await api.health()).status).not.toBe('down');
  await api.failCallback(token, { message: 'not this year' });
  expect((await api.why(executionId)).next).toMatchObject({
    what: "no agent 'book-trip' is deployed: deploy it again, and a supervisor sends it undo 1",
    who: 'person',
  });
  ring();
  const health = await until(
    () => api.health(),
    ({ status }) => status === 'down',
  );
  expect(health).toMatchObject({ status: 'down', missing: { 'book-trip': 1 } });
  expect(await api.agents()).toMatchObject({
    items: [{ name: 'reserve-trip' }],
    missing: [{ name: 'book-trip', waiting: 1, planned: 1 }],
  });
  const why = await api.why(executionId);
  expect(why.warnings).toEqual([
    expect.stringMatching(/^no agent 'book-trip' is deployed, and step 'book' needs it/),
  ]);
  expect(why.steps[0]?.because).toMatch(/^no agent 'book-trip' was deployed, from .*, so it was deferred/);
  const logged = lines.filter((line) => line.includes('"agent-missing"')).map((line) => JSON.parse(line));
  expect(logged[0]).toMatchObject({
    level: 'WARN',
    role: 'supervisor',
    detail: "no agent 'book-trip' is deployed, and executions under way need it: deploy it again",
  });
  expect(lines.filter((line) => line.includes('evaluation-failed'))).toEqual([]);

  api = await deployed(before);
  expect(await missingAgentsText(cloud?.apiUrl ?? '')).toBe('');
  expect((await api.health()).status).not.toBe('down');
  await waitIsOver(executionId, 'book');
  ring();
  const ended = await until(
    () => api.get(executionId, { wait: '20s' }),
    ({ endedAt }) => endedAt !== undefined,
  );
  expect(ended).toMatchObject({
    status: 'compensated',
    steps: [{ name: 'book', status: 'compensated' }, { name: 'confirm' }],
  });
  expect(ended.steps[0]?.attempts.filter(({ mode }) => mode === 'undo')).toHaveLength(1);
  expect(problems).toEqual([]);
});
