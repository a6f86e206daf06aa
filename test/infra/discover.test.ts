import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { DiscoveryError } from '../../lib/infra/discovery.ts';
import { AGENT_MODULE, project, workflowModule } from './fixture.ts';

const TWO_FOLDERS = {
  'examples/order/workflow.ts': workflowModule('order', ['pay', 'ship']),
  'examples/order/agents/pay.ts': AGENT_MODULE,
  'examples/order/agents/ship.ts': AGENT_MODULE,
  'examples/report/workflow.ts': workflowModule('report', ['mail'], 5_000),
  'examples/report/agents/mail.ts': AGENT_MODULE,
  'examples/notes/README.md': 'not a workflow folder',
};

const found = (files: Record<string, string>, options: { folders?: string[]; only?: string[] } = {}) =>
  discoverWorkflows({ root: project(files), folders: ['examples'], ...options });

async function refusal(files: Record<string, string>, options: { folders?: string[]; only?: string[] } = {}) {
  const error: unknown = await found(files, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(DiscoveryError);
  return (error as DiscoveryError).message;
}

test('every folder with a workflow.ts is found, with its agents and whom they work with', async () => {
  const { root, workflows, agents, warnings } = await found(TWO_FOLDERS);
  expect(workflows).toEqual([
    { name: 'order', file: `${root}/examples/order/workflow.ts`, exportName: 'it', agents: ['pay', 'ship'] },
    { name: 'report', file: `${root}/examples/report/workflow.ts`, exportName: 'it', agents: ['mail'] },
  ]);
  expect(agents.map(({ name, timeoutMs, peers }) => [name, timeoutMs, peers])).toEqual([
    ['pay', 20_000, ['pay', 'ship']],
    ['ship', 20_000, ['pay', 'ship']],
    ['mail', 5_000, ['mail']],
  ]);
  expect(agents[0]?.file).toBe(`${root}/examples/order/agents/pay.ts`);
  expect(warnings).toEqual([]);
});

test('a workflow says whether an approval of it, or below it, must be another person’s', async () => {
  const module = (body: string): string => `
    import { workflow } from '${process.cwd()}/lib/author/builder/workflow.ts';
    const input = { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } };
    const inner = workflow('inner', { input, within: '1h' }, (w) => void w.approval('ok', { within: '1h', by: 'another' }));
    export const it: unknown = workflow('outer', { input, within: '2h' }, (w) => {${body}});`;
  const asks = async (body: string) =>
    (await found({ 'examples/asks/workflow.ts': module(body) })).workflows.map((one) => one.asksAnother);
  expect(await asks("w.approval('ok', { within: '1h', by: 'another' });")).toEqual([true]);
  expect(await asks("w.child('sub', inner, {}, { undo: 'none' });")).toEqual([true]);
  expect(await asks("w.approval('ok', { within: '1h' });")).toEqual([undefined]);
});

test('other parents can be searched, and some folders taken', async () => {
  const files = { ...TWO_FOLDERS, 'workflows/audit/workflow.ts': workflowModule('audit', []) };
  const everywhere = { folders: ['examples', 'workflows'] };
  const names = async (options: object) => (await found(files, options)).workflows.map(({ name }) => name);
  expect(await names(everywhere)).toEqual(['order', 'report', 'audit']);
  expect(await names({ ...everywhere, only: ['report', 'audit'] })).toEqual(['report', 'audit']);
});

test('one file may export several workflows, which share agents; one workflow may have two names', async () => {
  const { workflows, agents } = await found({
    'examples/order/workflow.ts': `
      const agent = (name) => ({ spec: { name, timeoutMs: 1000 } });
      const pay = agent('pay');
      export const order = { kind: 'steadfast:workflow', name: 'order', agents: [pay, agent('ship')] };
      export const refund = { kind: 'steadfast:workflow', name: 'refund', agents: [pay] };
      export default order;
      export const limits = { kind: 'something else' };`,
    'examples/order/agents/pay.ts': AGENT_MODULE,
    'examples/order/agents/ship.ts': AGENT_MODULE,
  });
  expect(workflows.map(({ name }) => name).sort()).toEqual(['order', 'refund']);
  expect(Object.fromEntries(agents.map(({ name, peers }) => [name, peers]))).toEqual({
    pay: ['pay', 'ship'],
    ship: ['pay', 'ship'],
  });
});

test('a missing agent file is refused with workflow, agent and path', async () => {
  const { 'examples/order/agents/ship.ts': _, ...files } = TWO_FOLDERS;
  expect(await refusal(files)).toBe(
    "workflow 'order' uses the agent 'ship', but examples/order/agents/ship.ts does not exist; it must export its handler (export const handler = ….handler({ … }))",
  );
});

test.each([
  ['whose name is nearly the agent’s', 'shpi'],
  ['that is the only one that is no other agent’s', 'post-letter'],
])('a file %s is named', async (_, name) => {
  const { 'examples/order/agents/ship.ts': file, ...files } = TWO_FOLDERS;
  const meant = new RegExp(`ship\\.ts does not exist; .*; did you mean ${name}\\.ts\\?$`);
  expect(await refusal({ ...files, [`examples/order/agents/${name}.ts`]: file })).toMatch(meant);
});

test('among several files with other names none is suggested', async () => {
  const { 'examples/order/agents/ship.ts': file, ...files } = TWO_FOLDERS;
  const others = ['helper', 'tool'].map((name) => [`examples/order/agents/${name}.ts`, file]);
  expect(await refusal({ ...files, ...Object.fromEntries(others) })).not.toContain('did you mean');
});

test('a reference that leads nowhere is refused with its step and what there is', async () => {
  const known = { type: 'object', properties: { text: {} }, additionalProperties: false };
  const step = (name: string, input: object, after: string[]) => ({
    kind: 'agent',
    name,
    agent: 'pay',
    input,
    after,
    recovery: [],
  });
  const steps = [step('a', {}, []), step('b', { x: { $ref: 'step:a', path: ['txt'] } }, ['a'])];
  const { 'examples/order/workflow.ts': _, 'examples/order/agents/ship.ts': __, ...files } = TWO_FOLDERS;
  const module = `const schema = { '~standard': { jsonSchema: { output: () => (${JSON.stringify(known)}) } } };
    export const it = { kind: 'steadfast:workflow', name: 'order', input: schema, callbacks: {}, children: [],
      agents: [{ spec: { name: 'pay', timeoutMs: 1000 }, output: schema }],
      plan: { steps: ${JSON.stringify(steps)}, output: {} } };`;
  expect(await refusal({ ...files, 'examples/order/workflow.ts': module })).toBe(
    "examples/order/workflow.ts: workflow 'order', step 'b': it reads a.output.txt, which does not exist: a.output has text; did you mean a.output.text?",
  );
});

test('an agent that its workflow.ts exports is there although no workflow uses it any more', async () => {
  const module = `${TWO_FOLDERS['examples/order/workflow.ts']}
    export const before = { kind: 'steadfast:agent', spec: { name: 'fly', timeoutMs: 1000 } };`;
  const { agents, warnings } = await found({
    ...TWO_FOLDERS,
    'examples/order/workflow.ts': module,
    'examples/order/agents/fly.ts': AGENT_MODULE,
  });
  expect(agents.map(({ name }) => name)).toContain('fly');
  expect(warnings).toEqual([]);
});

test('an agent file that nothing uses is a warning; tests beside agents are not', async () => {
  const { warnings } = await found({
    ...TWO_FOLDERS,
    'examples/order/agents/fly.ts': AGENT_MODULE,
    'examples/order/agents/pay.test.ts': '',
  });
  expect(warnings.map(({ message }) => message)).toEqual([
    "examples/order/agents/fly.ts is not deployed: no workflow in its folder uses an agent 'fly'",
  ]);
});

test.each([
  [
    'workflow',
    { 'examples/late/workflow.ts': workflowModule('order', []) },
    "two workflows are named 'order': examples/late/workflow.ts and examples/order/workflow.ts; a name must be unique in a deployment",
  ],
  [
    'agent',
    {
      'examples/late/workflow.ts': workflowModule('late', ['pay']),
      'examples/late/agents/pay.ts': AGENT_MODULE,
    },
    "two agents are named 'pay': examples/late/agents/pay.ts and examples/order/agents/pay.ts; a name must be unique in a deployment",
  ],
])('a %s declared in two folders is refused with both files', async (_, more, message) => {
  expect(await refusal({ ...TWO_FOLDERS, ...more })).toBe(message);
});

test('two agents of one name in one folder are refused, also with equal limits', async () => {
  const files = {
    ...TWO_FOLDERS,
    'examples/order/workflow.ts': `
      const agents = (timeoutMs) => [{ spec: { name: 'pay', timeoutMs } }];
      export const a = { kind: 'steadfast:workflow', name: 'a', agents: agents(1) };
      export const b = { kind: 'steadfast:workflow', name: 'b', agents: agents(1) };`,
  };
  expect(await refusal(files)).toBe(
    "examples/order/workflow.ts: two agents are named 'pay'; give one of them another name, or declare it once and use it in both workflows",
  );
});

test('a workflow file without a workflow, or with an error in it, is refused by its name', async () => {
  expect(await refusal({ 'examples/empty/workflow.ts': 'export const limits = 1;' })).toMatch(
    /^examples\/empty\/workflow\.ts exports no workflow; it must export at least one/,
  );
  expect(
    await refusal({ 'examples/bad/workflow.ts': "\n\nthrow new Error('workflow ‘bad’: no within');" }),
  ).toBe('examples/bad/workflow.ts:3 cannot be loaded: workflow ‘bad’: no within');
});

test('no folder at all, and a folder that does not exist, are refused with what was looked for', async () => {
  expect(await refusal({ 'readme.md': '' })).toMatch(
    /^no workflow folder found: looked for .*\/examples\/\*\/workflow\.ts$/,
  );
  expect(await refusal(TWO_FOLDERS, { only: ['order', 'ordr'] })).toBe(
    "no workflow folder is named 'ordr'; there are order, report",
  );
});

describe('what starts a workflow, in triggers.ts beside it', () => {
  const core = `${process.cwd()}/lib/author/triggers/trigger-declaration.ts`;
  const beside = (body: string, ending = 'ts') => ({
    ...TWO_FOLDERS,
    [`examples/report/triggers.${ending}`]: `import { onMessage, onSchedule } from '${core}';
      const report = { name: 'report', input: { '~standard': {} } };
      ${body}`,
  });

  test('is found, by file and export; what else is exported is not one', async () => {
    const body = `export const nightly = onSchedule(report, { schedule: 'rate(1 day)', input: { day: '$.time' } });
      export const same = nightly;
      export const other = 5;`;
    const { triggers } = await found(beside(body, 'mts'));
    expect(triggers).toEqual([
      {
        file: 'examples/report/triggers.mts',
        exportName: 'nightly',
        trigger: {
          kind: 'steadfast:trigger',
          workflow: 'report',
          on: 'schedule',
          options: { schedule: 'rate(1 day)', input: { day: '$.time' } },
        },
      },
    ]);
    expect((await found(beside(body), { only: ['order'] })).triggers).toEqual([]);
  });

  test.each([
    ['none', 'export const report1 = report;', 'examples/report/triggers.ts exports no trigger; it must'],
    [
      'what is no JSON',
      "export const it = onMessage(report, { input: { day: () => 'today' } });",
      "examples/report/triggers.ts:3 cannot be loaded: a trigger of 'report': /input/day is function, which JSON cannot hold: give what it returns",
    ],
    ['an error', "throw new Error('no room');", 'examples/report/triggers.ts:3 cannot be loaded: no room'],
  ])('is refused by its name: %s', async (_, body, message) => {
    expect(await refusal(beside(body))).toContain(message);
  });

  test('is refused in workflow.ts, which every function has in it', async () => {
    const file = 'examples/report/workflow.ts';
    const files = { ...TWO_FOLDERS };
    files[file] += `import { onMessage } from '${core}';
      export const intake: unknown = onMessage({ name: 'report', input: { '~standard': {} } });`;
    expect(await refusal(files)).toBe(
      `${file} exports the trigger 'intake', but a workflow file must not export triggers; move it to triggers.ts beside it`,
    );
  });
});

describe('forms', () => {
  const module = (schema: string) => `
    import { declareAgent as agent } from '${process.cwd()}/lib/core/plan/agent.ts';
    import { workflow } from '${process.cwd()}/lib/author/builder/workflow.ts';
    import * as z from '${process.cwd()}/node_modules/zod/mini/index.js';
    const pay = agent('pay', { input: z.object({ amount: z.int() }), output: z.any(), effect: 'idempotent', timeout: '20s', lease: '5s', claimWithin: '5s' });
    export const it: unknown = workflow('asks', { input: ${schema}, within: '2h' }, (w) => {
      w.step('pay', pay, { amount: 1 }, { undo: 'none' });
      w.callback('answer', { output: z.object({ ok: z.boolean() }), within: '1h' });
    });`;
  const forms = async (schema: string, example: string) => {
    const files = {
      'examples/asks/workflow.ts': module(schema),
      'examples/asks/agents/pay.ts': AGENT_MODULE,
      'examples/asks/example-input.json': example,
    };
    const [one] = (await found(files)).workflows;
    return one?.forms;
  };

  test('show the input, with the example beside it, and the inputs that a person may give a step', async () => {
    expect(await forms("z.object({ id: z._default(z.string(), 'x') })", '{"id": "o-1"}')).toMatchObject({
      // The form shows the input as a caller gives it: a field with a default may be left out.
      input: { properties: { id: { type: 'string' } } },
      example: { id: 'o-1' },
      steps: {
        pay: { input: { properties: { amount: { type: 'integer' } } } },
        answer: { output: { properties: { ok: { type: 'boolean' } }, required: ['ok'] } },
      },
    });
  });

  test('leave out a schema that is too large, and an example that is not JSON', async () => {
    const large = 'z.object({ id: z.enum(Array.from({ length: 9_000 }, (_, at) => `option-${at}`)) })';
    expect(Object.keys((await forms(large, '{')) ?? {})).toEqual(['steps']);
  });
});

test('no workflow and no agent may have the name of a built-in one', async () => {
  const own = { 'examples/own/workflow.ts': workflowModule('steadfast-bulk', []) };
  expect(await refusal(own)).toBe(
    "examples/own/workflow.ts: no workflow may be named 'steadfast-bulk': names that begin with 'steadfast-' are reserved; choose another name",
  );
  const agent = {
    'examples/own/workflow.ts': workflowModule('own', ['steadfast-pay']),
    'examples/own/agents/steadfast-pay.ts': AGENT_MODULE,
  };
  expect(await refusal(agent)).toContain("no agent may be named 'steadfast-pay'");
});

test('discovery warns of each, with its kind, its line and what to write', async () => {
  const root = project({
    'examples/order/workflow.ts': `import { agent, workflow } from '${process.cwd()}/lib/index.ts';
      const any = { '~standard': { version: 1, vendor: 'none', validate: (value) => ({ value }) } };
      const pay = agent('pay', { input: any, output: any, effect: 'none' });
      export const order = workflow('order', { input: any, within: '1h' }, (w) => {
        w.step('pay', pay, {});
        if (w.input.gift) w.step('wrap', pay, {});
      });`,
    'examples/order/agents/pay.ts': AGENT_MODULE,
  });
  const { warnings } = await discoverWorkflows({ root, folders: ['examples'] });
  expect(warnings).toEqual([
    {
      id: 'steadfast:testedReference[order/input.gift]',
      message: expect.stringMatching(
        /^examples\/order\/workflow\.ts:6: workflow 'order' reads input\.gift and gives it to no step: .*when: exists\(input\.gift\)/,
      ),
    },
  ]);
});
