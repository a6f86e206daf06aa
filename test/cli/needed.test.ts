/** Finding agents and plans that open executions need but a deployment would remove. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eachFolder } from '../fresh-folder.ts';
import { eachFakeApi, steadfast } from './fake-api.ts';

let folder: string;
const api = eachFakeApi();
eachFolder('needed', (path) => (folder = path));
beforeEach(() => {
  const at = (path: string, Properties: object): object => ({
    Properties,
    Metadata: {
      'aws:cdk:path': `Shop/Steadfast/Scheduler/${path}/Resource`,
      'steadfast:lanes': 'order/customer,refund/customer',
    },
  });
  const Variables = { STEADFAST_TABLE: 't', STEADFAST_AGENTS: 'pay,mail' };
  const Resources = { Fn: at('Function', { Environment: { Variables } }), Api: at('Api', {}) };
  writeFileSync(join(folder, 'Shop.template.json'), JSON.stringify({ Resources }));
  const Shop = { type: 'aws:cloudformation:stack', properties: { templateFile: 'Shop.template.json' } };
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ artifacts: { Shop } }));
});

const NONE = { items: [], missing: [], examined: 0 };
const asked = async (needed: object, ...more: string[]) => {
  api.answers.push({ status: 200, body: { ...NONE, needed } });
  return steadfast(['agents', '--needed', '--assembly', folder, '--url', api.url, ...more]);
};

test('a deployment that takes away what an open execution may need fails', async () => {
  const needed = {
    agents: [
      { name: 'pay', executions: 3 },
      { name: 'ship', executions: 2 },
    ],
    examined: 3,
  };
  expect(await asked(needed)).toMatchObject({
    exitCode: 1,
    out: "'Shop' would take away the agent 'ship': 2 of 3 open executions may need it\nDeploy these agents until the executions have ended.\n",
  });
  expect(api.asked.at(-1)?.path).toBe('/agents?needed=true');
  const { exitCode, out } = await asked({ ...needed, atLeast: true }, '--json');
  expect([exitCode, JSON.parse(out)]).toEqual([
    1,
    { stack: 'Shop', takenAway: [{ name: 'ship', executions: 2 }], examined: 3, atLeast: true },
  ]);
});

test('one that drops or renames a lane in which open executions are fails, and says that both are in use', async () => {
  const lanes = [
    { workflow: 'order', lane: 'customer', executions: 1 },
    { workflow: 'order', lane: 'account', executions: 2 },
  ];
  const needed = { agents: [{ name: 'pay', executions: 3 }], lanes, examined: 3 };
  expect(await asked(needed)).toMatchObject({
    exitCode: 1,
    out: "'Shop' has every agent that 3 open executions may need\n'Shop' has no lane 'account' for the workflow 'order': 2 of 3 open executions are in it, and new ones run beside them\nWhere both must not act at the same time, pause the workflow until they have ended.\n",
  });
  const { out } = await asked(needed, '--json');
  expect(JSON.parse(out)).toMatchObject({ takenAway: [], otherLanes: [lanes[1]] });
});

test('one that takes away nothing of it passes', async () => {
  const needed = { agents: [{ name: 'pay', executions: 3 }], examined: 3 };
  expect(await asked(needed)).toMatchObject({
    exitCode: 0,
    out: "'Shop' has every agent that 3 open executions may need\n",
  });
});

test('a deployment that takes away nothing that was counted does not pass if there is more', async () => {
  const needed = { agents: [{ name: 'pay', executions: 3 }], examined: 3, atLeast: true };
  expect(await asked(needed)).toMatchObject({
    exitCode: 6,
    out: "'Shop' has every agent that ≥ 3 open executions may need\nNot known: there are more, or a plan could not be read. Keep every agent until fewer executions are open\n",
  });
  expect(await asked(needed, '--json')).toMatchObject({ exitCode: 6 });
});

test('a stack that is not in the app is refused', async () => {
  expect(await asked({ agents: [], examined: 0 }, '--stack', 'Other')).toMatchObject({ exitCode: 2 });
});
