/** The function to which `steadfast dev --inspect <agent>` lets a debugger attach. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectIn } from '../../cli/dev/inspect.ts';
import { EXIT } from '../../cli/io.ts';

const functionAt = (path: string) => ({
  Type: 'AWS::Lambda::Function',
  Metadata: { 'aws:cdk:path': `Shop/${path}/Resource` },
});
/** An agent's queue, and its consumer. */
const queueOf = (deployment: string, agent: string, logicalId: string) => ({
  [`Queue${logicalId}${agent}`]: {
    Type: 'AWS::SQS::Queue',
    Metadata: { 'aws:cdk:path': `Shop/${deployment}/Agents/${agent}/Queue/Resource` },
  },
  [`Mapping${logicalId}${agent}`]: {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: {
      FunctionName: { Ref: logicalId },
      EventSourceArn: { 'Fn::GetAtt': [`Queue${logicalId}${agent}`, 'Arn'] },
    },
  },
});
const Resources = {
  First: functionAt('Orders/Agents/charge-card/Function'),
  ...queueOf('Orders', 'charge-card', 'First'),
  Second: functionAt('Reports/Agents/charge-card/Function'),
  ...queueOf('Reports', 'charge-card', 'Second'),
  Third: functionAt('Orders/Agents/Host-parcels/Function'),
  ...queueOf('Orders', 'book-parcel', 'Third'),
  ...queueOf('Orders', 'weigh-parcel', 'Third'),
  Scheduler: functionAt('Orders/Scheduler/Function'),
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

it('is the one that it shares with others', async () => {
  for (const agent of ['book-parcel', 'weigh-parcel'])
    expect(await inspect(agent)).toEqual({ inspect: { logicalId: 'Third', port: 9_229 } });
});

it('is absent unless asked for', async () => {
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
    message: `--inspect: ${problem}; there are book-parcel, charge-card, weigh-parcel`,
    exit: EXIT.usage,
  });
});
