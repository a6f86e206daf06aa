/** From one machine to the local cloud: what is under way goes on there, once. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCloud } from 'steadfast/testing';
import { Calls } from '../../cli/aws/calls.ts';
import { CLOCK } from '../../cli/io.ts';
import { run } from '../../cli/main.ts';
import { createClient } from '../../lib/client.ts';
import { folderValues } from '../../serve/folder-values.ts';
import { serveProcess } from './processes.ts';

const WORKFLOWS = join(import.meta.dirname, 'workflows');

it('has executions under way end on the local cloud', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'steadfast-export-'));
  const [data, items] = [join(folder, 'state.db'), join(folder, 'items.jsonl')];
  const said: string[] = [];
  const command = (args: readonly string[], env = {}): Promise<number> =>
    run(args, { out: (text) => said.push(text), err: (text) => said.push(text), env, isTTY: false });
  const server = await serveProcess([WORKFLOWS, '--data', data, '--stop-within', '1']);
  const local = createClient({ url: server.url });
  const { executionId } = await local.start('hello', { input: { name: 'wait 5000' } });
  await server.wrote((lines) => lines.some((line) => line.includes('"message":"sending"')));
  expect(await server.kill('SIGTERM')).toBe(0);
  expect(await command(['export', items, '--data', data])).toBe(0);
  const key = `${executionId}/life/input/hash/write`;
  await folderValues(`${data}-values`).put(key, '"large"');
  expect(await command(['export', items, '--data', data])).toBe(0);
  const cloud = await startCloud({ workflows: WORKFLOWS, project: import.meta.dirname });
  try {
    const facts = (await (await fetch(`${cloud.url}/_local/`)).json()) as { readonly gatewayUrl: string };
    const credentials = { accessKeyId: 'operator', secretAccessKey: 'local' };
    const place = { region: 'us-east-1', endpoint: facts.gatewayUrl, credentials, clock: CLOCK };
    const { TableNames } = await new Calls(place).json('dynamodb', 'ListTables', {});
    const env = {
      AWS_ENDPOINT_URL: facts.gatewayUrl,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: 'operator',
      AWS_SECRET_ACCESS_KEY: 'local',
    };
    Object.assign(process.env, env);
    const bare = ['import', items, '--table', (TableNames as readonly string[])[0] ?? '', '--json'];
    expect(await command(bare, env)).not.toBe(0);
    expect(said.at(-1)).toContain("name the deployment's bucket with --values");
    const buckets = (await (await fetch(`${cloud.url}/_local/buckets`)).json()) as {
      readonly name: string;
    }[];
    const bucket = buckets.find(({ name }) => name.includes('values'))?.name ?? '';
    const taking = [...bare, '--values', bucket];
    expect(await command(taking, env)).toBe(0);
    expect(await (await fetch(`${facts.gatewayUrl}/${bucket}/${key}`)).text()).toBe('"large"');
    expect(await cloud.client.untilEnd(executionId)).toMatchObject({ status: 'succeeded' });
    expect(await command(taking, env)).toBe(0);
    expect(JSON.parse(said.at(-1) ?? '')).toMatchObject({ taken: 0 });
  } finally {
    await cloud.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});
