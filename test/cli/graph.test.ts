/**
 * `graph`: the plan of a workflow, of an execution with the states of its steps, and of a file that is not
 * deployed.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionView, StepView } from '../../lib/api/answers.ts';
import type { WorkflowView } from '../../lib/api/deployment-answers.ts';
import { graphOfExecution, graphOfWorkflow } from '../../lib/view/graph.ts';
import { mermaidText } from '../../cli/graph/mermaid.ts';
import { planSource } from '../../cli/graph/plan-source.ts';
import { createClient } from '../../lib/api/client.ts';
import { STEP_STATUSES } from '../../lib/core/moves.ts';
import { eachFakeApi, type Ran, steadfast } from './fake-api.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const AT = Date.UTC(2026, 0, 2, 3, 4, 5);

const api = eachFakeApi();

const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);
const answer = (...bodies: unknown[]): void => {
  for (const body of bodies) api.answers.push({ status: 200, body });
};
const refuse = (code: string): void => {
  api.answers.push({ status: 404, body: { error: { code, message: code } } });
};

const order: WorkflowView = {
  workflow: 'order',
  plan: 'p1',
  withinMs: 60_000,
  steps: [
    { name: 'charge', kind: 'agent', after: [], agent: 'charge-card' },
    { name: 'reserve', kind: 'agent', after: [], agent: 'reserve-stock', pointOfNoReturn: true },
    { name: 'pack', kind: 'map', after: ['charge', 'reserve'], agent: 'pack-item', tolerate: { items: 1 } },
    { name: 'check', kind: 'approval', after: ['charge', 'pack'], withinMs: 3_600_000 },
    { name: 'bill', kind: 'child', after: ['pack'], workflow: 'billing' },
    { name: 'rest', kind: 'wait', after: ['check', 'bill', 'charge'], forMs: 5_000 },
    { name: 'notify', kind: 'agent', after: ['rest'], agent: 'send-mail', tolerate: true },
    { name: 'tell', kind: 'agent', after: [], agent: 'send-mail', onFailure: true },
  ],
};

const STATES: Readonly<Record<string, Partial<StepView>>> = {
  charge: { status: 'compensated', agent: 'charge-by-bank', attempt: 3 },
  pack: {
    status: 'failed',
    children: {
      executionIds: ['e1.pack.0'],
      count: 1,
      started: 1,
      ended: { succeeded: 1 },
      items: { count: 3, begun: 3, ended: { succeeded: 1, failed: 2 } },
    },
  },
  check: { status: 'waiting', waitsUntil: AT + 60_000, token: 'SECRET' },
  bill: { status: 'skipped' },
  notify: { status: 'tolerated', failure: { code: 'x', message: 'PAYLOAD' } },
  tell: { status: 'running', leaseUntil: AT + 5_000 },
};
const execution: ExecutionView = {
  executionId: 'e1',
  workflow: 'order',
  status: 'following-up',
  startedAt: AT,
  plan: 'p1',
  deadlineAt: AT + 60_000,
  input: { secret: 'PAYLOAD' },
  incidents: [],
  steps: order.steps.map(({ name, kind, after, agent, onFailure }) => ({
    name,
    kind,
    after,
    ...(agent === undefined || kind !== 'agent' ? {} : { agent }),
    ...(onFailure === undefined ? {} : { onFailure }),
    status: 'pending',
    attempts: [],
    ...STATES[name],
  })),
};

test('a workflow is a flowchart, each kind of step in its shape, on-failure steps apart, no line that another one says', async () => {
  answer({ items: [order] });
  const { out, err, exitCode } = await cli('graph', 'order');
  expect([exitCode, err]).toEqual([0, '']);
  expect(api.asked.map(({ path }) => path)).toEqual(['/workflows']);
  expect(out).toBe(`---
title: "order"
---
flowchart TD
  s0["charge<br/>charge-card"]
  s1["reserve<br/>reserve-stock<br/>point of no return"]
  s2[["pack<br/>map pack-item"]]
  s3{{"check<br/>approval within 1 h"}}
  s4[["bill<br/>child billing"]]
  s5(["rest<br/>wait 5 s"])
  s6["notify<br/>send-mail, may fail"]
  subgraph onFailure ["on failure"]
    s7["tell<br/>send-mail"]
  end
  s0 --> s2
  s1 --> s2
  s2 --> s3
  s2 --> s4
  s3 --> s5
  s4 --> s5
  s5 --> s6
`);
});

test('an execution has the state of each step: counts of its executions, whom it waits for, which agent is tried', async () => {
  answer({ items: [order] }, execution);
  const { out } = await cli('graph', 'e1');
  expect(api.asked.map(({ path }) => path)).toEqual(['/workflows', '/executions/e1']);
  expect(out.split('\n').filter((line) => /title|"\S+<br|classDef/.test(line))).toEqual([
    'title: "order e1 following-up"',
    '  s0["charge<br/>charge-by-bank<br/>compensated, attempt 3"]:::compensated',
    '  s1["reserve<br/>reserve-stock<br/>point of no return<br/>not reached"]:::pending',
    '  s2[["pack<br/>map pack-item<br/>failed<br/>3 of 3 items ended: 1 succeeded, 2 failed"]]:::failed',
    '  s3{{"check<br/>approval within 1 h<br/>waiting<br/>until 2026-01-02 03:05:05Z"}}:::waiting',
    '  s4[["bill<br/>child billing<br/>skipped"]]:::skipped',
    '  s5(["rest<br/>wait 5 s<br/>not reached"]):::pending',
    '  s6["notify<br/>send-mail, may fail<br/>tolerated"]:::tolerated',
    '    s7["tell<br/>send-mail<br/>running"]:::active',
    ...out.split('\n').filter((line) => line.includes('classDef')),
  ]);
  const defined = [...out.matchAll(/classDef (\w+) /g)].map(([, name]) => name);
  const used = [...out.matchAll(/:::(\w+)/g)].map(([, name]) => name);
  expect(new Set(defined)).toEqual(new Set(used));
});

test('a plan that is not deployed any more shows what the execution says', () => {
  const graph = graphOfExecution(execution, [{ ...order, plan: 'p2' }]);
  const text = mermaidText(graph);
  expect(text).toContain('s5(["rest<br/>wait<br/>not reached"])');
  expect(text).toContain('s6["notify<br/>send-mail<br/>tolerated"]');
});

test('--json has the steps and how they are, no payload and no token', async () => {
  answer({ items: [order] }, execution);
  const { out } = await cli('graph', 'e1', '--json');
  expect(JSON.parse(out)).toMatchObject({
    workflow: 'order',
    plan: 'p1',
    executionId: 'e1',
    status: 'following-up',
    steps: expect.arrayContaining([
      {
        name: 'charge',
        kind: 'agent',
        after: [],
        agent: 'charge-by-bank',
        status: 'compensated',
        attempt: 3,
      },
    ]) as unknown,
  });
  expect(out).not.toMatch(/PAYLOAD|SECRET/);
});

test('whatever a step is named, it is text', () => {
  const hostile = [
    'end',
    '"]; click s0 "javascript:alert(1)"',
    '<img src=x onerror=alert(1)>',
    '`**bold**`',
    '%% comment',
    'two\nlines',
    '- list',
    '#quot;',
    '\u001b[31m\u202eder',
  ];
  const steps = hostile.map((name) => ({ name, kind: 'agent' as const, agent: name, after: [] }));
  const graph = graphOfWorkflow({ workflow: 'x"\n---\nflowchart', steps });
  const lines = mermaidText(graph).split('\n');
  expect(lines.slice(0, 4)).toEqual(['---', 'title: "x??---?flowchart"', '---', 'flowchart TD']);
  const text = String.raw`(?:[A-Za-z0-9 ,:/()-]|#\d+;)`;
  const box = new RegExp(String.raw`^  s\d+\["(?!-)${text}+<br/>(?!-)${text}+"\]$`);
  expect(lines.slice(4, -1).filter((line) => !box.test(line))).toEqual([]);
  expect(lines).toHaveLength(4 + hostile.length + 1);
});

test('every status of a step has a colour', () => {
  for (const status of [...STEP_STATUSES, 'pending'] as const) {
    const steps = [{ ...execution.steps[0]!, status }];
    const text = mermaidText(graphOfExecution({ ...execution, steps }, []));
    const [, look = ''] = /:::(\w+)/.exec(text) ?? [];
    expect(text).toContain(`classDef ${look} fill:`);
  }
});

test('more lines than Mermaid draws are said, with what draws them', async () => {
  const names = Array.from({ length: 502 }, (_, index) => `s${index}`);
  const steps = names.map((name, index) => ({
    name,
    kind: 'agent',
    agent: 'a',
    after: names.slice(Math.max(0, index - 1), index),
  }));
  answer({ items: [{ ...order, steps }] }, { items: [{ ...order, steps: steps.slice(1) }] });
  const { err } = await cli('graph', 'order');
  expect(err).toBe(
    `it has 501 lines between steps, and Mermaid draws at most 500; use the console, or print it as data: npx steadfast graph order --json --url ${api.url}\n`,
  );
  expect((await cli('graph', 'order')).err).toBe('');
});

describe('a workflow that is not deployed', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'steadfast-graph-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (name: string, code: string): void => {
    mkdirSync(join(folder, 'workflows', name), { recursive: true });
    writeFileSync(join(folder, 'cdk.json'), '{"app":"node app.js"}');
    writeFileSync(join(folder, 'workflows', name, 'workflow.mjs'), `${code}\n`);
  };

  test('is that of the project here, whether or not an API answers', async () => {
    answer({ items: [] });
    refuse('unknown-execution');
    const { out, err } = await cli('graph', 'video-encoding');
    expect(out).toContain('s1[["encode<br/>child video-rendition"]]');
    expect(err).toBe(
      "'video-encoding' is not deployed: this is the plan of examples/video-encoding/workflow.ts\n",
    );
    const silent = createClient({ url: 'http://127.0.0.1:9' });
    const { graph, file } = await planSource(silent, 'video-encoding', join(ROOT, 'test'));
    expect([graph.steps.length > 0, file]).toEqual([true, '../examples/video-encoding/workflow.ts']);
  });

  test('is found in a folder of another name, also beside one that cannot be loaded', async () => {
    const plan =
      "{ workflow: 'order', steps: [{ name: 'a', kind: 'wait', after: [], forMs: 5 }], onFailure: [] }";
    write('broken', "throw new Error('no such thing');");
    write('shop', `export const order = { kind: 'steadfast:workflow', name: 'order', plan: ${plan} };`);
    const { graph, file } = await planSource(createClient({ url: 'http://127.0.0.1:9' }), 'order', folder);
    expect(graph).toEqual({
      workflow: 'order',
      detailed: true,
      steps: [{ name: 'a', kind: 'wait', after: [], forMs: 5 }],
    });
    expect(file).toBe('workflows/shop/workflow.mjs');
  });

  test('and in no project either is refused with the workflows there are', async () => {
    answer({ items: [order] });
    refuse('unknown-execution');
    await expect(planSource(createClient({ url: api.url }), 'odrer', folder)).rejects.toMatchObject({
      code: 'unknown-plan',
      message: `'odrer' is neither an execution or workflow of ${api.url} nor a workflow of this project. Workflows of the API: order`,
    });
    const silent = createClient({ url: 'http://127.0.0.1:9' });
    await expect(planSource(silent, 'order', folder)).rejects.toMatchObject({ code: 'no-answer' });
  });

  test('whose file cannot be loaded is refused with the file and why', async () => {
    write('order', "throw new Error('no such thing');");
    const silent = createClient({ url: 'http://127.0.0.1:9' });
    await expect(planSource(silent, 'order', folder)).rejects.toMatchObject({
      code: 'bad-workflow',
      message: 'workflows/order/workflow.mjs cannot be loaded: no such thing',
    });
  });
});
