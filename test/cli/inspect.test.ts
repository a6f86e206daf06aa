/** Which function `steadfast dev --inspect <agent>` opens for a debugger. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectIn } from '../../cli/dev/inspect.ts';
import { EXIT } from '../../cli/io.ts';

const functionAt = (path: string) => ({
  Type: 'AWS::Lambda::Function',
  Metadata: { 'aws:cdk:path': `Shop/${path}/Resource` },
});
const Resources = {
  First: functionAt('Orders/Agents/charge-card/Function'),
  Second: functionAt('Reports/Agents/charge-card/Function'),
  Third: functionAt('Orders/Agents/book-parcel/Function'),
  Scheduler: functionAt('Orders/Scheduler/Function'),
  Queue: {
    Type: 'AWS::SQS::Queue',
    Metadata: { 'aws:cdk:path': 'Shop/Orders/Agents/charge-card/Queue/Resource' },
  },
};

let assembly: string;
beforeEach(() => {
  assembly = mkdtempSync(join(tmpdir(), 'steadfast-inspect-'));
  writeFileSync(join(assembly, 'Shop.template.json'), JSON.stringify({ Resources }));
  mkdirSync(join(assembly, 'bundles', 'Shop-Orders-0A1B2C3D', 'containers', 'encode'), { recursive: true });
});
afterEach(() => rmSync(assembly, { recursive: true }));

const found = (path: string) => ({
  assembly,
  stack: 'Shop',
  stackPath: 'Shop',
  path,
  api: 'Api',
  template: join(assembly, 'Shop.template.json'),
  agents: ['encode'],
  lanes: [],
});
const inspect = (agent: string, path = 'Shop/Orders') => inspectIn(found(path), { agent, port: 9_229 });

it('is that of the agent, of the Steadfast that was chosen', async () => {
  expect(await inspect('charge-card')).toEqual({ inspect: { logicalId: 'First', port: 9_229 } });
  expect(await inspect('charge-card', 'Shop/Reports')).toEqual({
    inspect: { logicalId: 'Second', port: 9_229 },
  });
});

it('is none where none is asked for', async () => {
  expect(await inspectIn(found('Shop/Orders'), undefined)).toEqual({});
});

it.each([
  ['scheduler', "no agent is named 'scheduler'"],
  [
    'encode',
    "agent 'encode' runs in a container, and a debugger can only reach functions: leave out its runsIn while you debug",
  ],
])('is no other part: %s', async (agent, problem) => {
  await expect(inspect(agent)).rejects.toMatchObject({
    message: `--inspect: ${problem}; there are book-parcel, charge-card`,
    exit: EXIT.usage,
  });
});
