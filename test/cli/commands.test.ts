import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ExecutionView } from '../../lib/api/answers.ts';
import { eachFolder } from '../fresh-folder.ts';
import { type Answer, eachFakeApi, ok, type Ran, steadfast } from './fake-api.ts';

const api = eachFakeApi();
let folder: string;
eachFolder('cli', (path) => (folder = path));

const refusal = (status: number, code: string, message: string, details?: unknown): Answer => ({
  status,
  body: { error: { code, message, ...(details === undefined ? {} : { details }) } },
});
const cli = (...args: string[]): Promise<Ran> => steadfast([...args, '--url', api.url]);

const AT = Date.UTC(2026, 0, 2, 3, 4, 5);
const ended: ExecutionView = {
  executionId: 'e1',
  workflow: 'order-fulfilment',
  status: 'compensated',
  startedAt: AT,
  endedAt: AT + 2_500,
  cause: { kind: 'failure', at: AT, step: 'ship', failure: { code: 'PermanentError', message: 'declined' } },
  plan: 'p1',
  deadlineAt: AT + 900_000,
  input: { orderId: 'order-1' },
  incidents: [],
  steps: [
    {
      name: 'charge',
      kind: 'agent',
      agent: 'charge-card',
      after: [],
      status: 'compensated',
      attempts: [
        {
          number: 1,
          mode: 'execute',
          variant: 1,
          agent: 'charge-card',
          input: { cents: 5 },
          claimedAt: AT + 20,
          endedAt: AT + 80,
          outcome: 'done',
        },
        { number: 1, mode: 'undo', claimedAt: AT + 2_300, endedAt: AT + 2_400, outcome: 'compensated' },
      ],
    },
    {
      name: 'ship',
      kind: 'agent',
      agent: 'schedule-shipping',
      after: ['charge'],
      status: 'failed',
      attempts: [
        {
          number: 1,
          mode: 'execute',
          variant: 3,
          agent: 'other-carrier',
          inputBytes: 2_000,
          inputGiven: true,
          claimedAt: AT + 100,
          endedAt: AT + 200,
          outcome: 'failed',
          failure: { code: 'PermanentError', message: 'declined' },
        },
      ],
    },
    {
      name: 'notify',
      kind: 'agent',
      agent: 'notify-customer',
      after: ['ship'],
      status: 'pending',
      attempts: [],
    },
  ],
};

describe('start', () => {
  test('sends the input and the key, and says how to go on', async () => {
    api.answers.push(ok({ executionId: 'e1', status: 'running' }, 202));
    const { exitCode, out } = await cli('start', 'order-fulfilment', '--input', '{"total":1}', '--key', 'k1');
    expect(exitCode).toBe(0);
    expect(out).toBe(`e1  running\nSee it: npx steadfast show e1 --wait --url ${api.url}\n`);
    expect(api.asked).toEqual([
      {
        method: 'POST',
        path: '/workflows/order-fulfilment/executions',
        body: { input: { total: 1 }, idempotencyKey: 'k1' },
      },
    ]);
  });

  test('takes the input from a file, and none as an empty object', async () => {
    const file = join(folder, 'order.json');
    writeFileSync(file, '{"total": 2}');
    api.answers.push(ok({ executionId: 'e1', status: 'running' }, 202));
    api.answers.push(ok({ executionId: 'e2', status: 'running' }, 202));
    await cli('start', 'order', '--input', `@${file}`);
    await cli('start', 'order');
    expect(api.asked.map(({ body }) => body)).toEqual([{ input: { total: 2 } }, { input: {} }]);
  });

  test('with --wait asks until the end; an execution that did not succeed is exit code 4', async () => {
    const { endedAt: _, ...open } = ended;
    api.answers.push(ok({ executionId: 'e1', status: 'running' }, 202));
    api.answers.push(ok({ ...open, status: 'running' }), ok(ended));
    const { exitCode, out } = await cli('start', 'order-fulfilment', '--wait', '--json');
    expect(exitCode).toBe(4);
    expect(JSON.parse(out)).toEqual(ended);
    expect(api.asked.map(({ path }) => path).slice(1)).toEqual(['/executions/e1?wait=1s', '/executions/e1']);
  });

  test('an input that is not JSON is refused before anything is sent', async () => {
    const { exitCode, err } = await cli('start', 'order', '--input', '{total:1}');
    expect(exitCode).toBe(2);
    expect(err).toMatch(/^--input is not JSON: .*\nGive JSON in single quotes, or @file\n$/);
    const long = await cli('start', 'order', '--input', '{"id":9007199254740993}');
    expect([long.exitCode, long.err]).toEqual([
      1,
      expect.stringMatching(/^--input has at 'id' a whole number beyond ±9007199254740991.*in quotes\n$/),
    ]);
    const missing = await cli('start', 'order', '--input', `@${folder}/none.json`);
    expect(missing.exitCode).toBe(2);
    expect(missing.err).toContain(`cannot read the input file ${folder}/none.json: ENOENT`);
    expect(api.asked).toEqual([]);
  });

  test('an input that the schema refuses names the issues and the next step', async () => {
    const message = "the input does not fit workflow 'order': total: wanted";
    const details = { issues: [{ path: 'total', message: 'wanted' }] };
    api.answers.push(
      refusal(400, 'bad-input', message, details),
      refusal(400, 'bad-input', message, details),
    );
    const { exitCode, out, err } = await cli('start', 'order');
    expect([exitCode, out]).toEqual([1, '']);
    expect(err).toBe(
      `${message}\nGive a valid one with --input JSON or --input @file; its schema is in the workflow’s workflow.ts\n`,
    );
    const json = await cli('start', 'order', '--json');
    expect(JSON.parse(json.err)).toEqual({ error: { code: 'bad-input', message, details } });
  });
});

describe('show', () => {
  test('prints the facts, the steps, and every attempt in the order in which it began', async () => {
    api.answers.push(ok(ended));
    const { exitCode, out } = await cli('show', 'e1');
    expect(exitCode).toBe(0);
    expect(out).toBe(
      [
        'execution  e1',
        'workflow   order-fulfilment',
        'status     compensated',
        'started    2026-01-02 03:04:05Z',
        'took       2.5 s',
        'cause      failure: ship: declined',
        '',
        'STEP    STATUS       AGENT              NOTE',
        'charge  compensated  charge-card',
        'ship    failed       schedule-shipping',
        'notify  not reached  notify-customer',
        '',
        'AT       STEP    ATTEMPT    AGENT                      INPUT             OUTCOME      TOOK    WHY',
        '+20 ms   charge  execute 1  charge-card                {"cents":5}       done         60 ms',
        '+100 ms  ship    execute 1  other-carrier (variant 3)  2000 bytes given  failed       100 ms  PermanentError: declined',
        '+2.3 s   charge  undo 1                                                  compensated  100 ms',
        '',
      ].join('\n'),
    );
  });

  test('--json is the answer itself', async () => {
    api.answers.push(ok(ended));
    const { out } = await cli('show', 'e1', '--json');
    expect(out).toBe(`${JSON.stringify(ended, null, 2)}\n`);
  });

  test('says what the API has left out, and how to get it', async () => {
    const steps = ended.steps.map((step, at) =>
      at < 2 ? { ...step, attempts: [], omitted: ['attempts'] } : step,
    );
    api.answers.push(ok({ ...ended, steps, omitted: ['incidents'] }));
    const { out } = await cli('show', 'e1');
    expect(out).toContain('\nLeft out because too large: incidents.\n');
    expect(out).toContain(
      `\nOutputs of 2 steps are left out, because all together would be too large: charge, ship\nShow one step: npx steadfast show e1 --step charge --url ${api.url}\n`,
    );
  });

  test('--step shows one of its steps, with what it answered', async () => {
    const [charge] = ended.steps;
    const steps = [{ ...charge, output: { chargeId: 'c-1' } }];
    api.answers.push(ok({ ...ended, steps }), ok({ ...ended, steps }));
    const { out } = await cli('show', 'e1', '--step', 'charge');
    expect(api.asked[0]?.path).toBe('/executions/e1?step=charge');
    expect(out).toMatch(/^STEP +STATUS +AGENT +NOTE\ncharge +compensated +charge-card\n/);
    expect(out).toMatch(/\nOUTPUT\n\{\n {2}"chargeId": "c-1"\n\}\n$/);
    const json = await cli('show', 'e1', '--step', 'charge', '--json');
    expect(JSON.parse(json.out)).toEqual(steps[0]);
  });

  test('an unknown execution is exit code 1 and says where the known ones are', async () => {
    api.answers.push(refusal(404, 'unknown-execution', "there is no execution 'e9'"));
    const { exitCode, err } = await cli('show', 'e9');
    expect(exitCode).toBe(1);
    expect(err).toBe(`there is no execution 'e9'\nSee the executions: npx steadfast list --url ${api.url}\n`);
  });
});

test('why prints the past, and each step with its reason and what is next', async () => {
  const next = { what: 'a message is on its way to its agent', who: 'agent', step: 'ship' };
  const explanation = {
    executionId: 'e1',
    status: 'running',
    past: [
      { at: AT, what: "workflow 'order' was started", evidence: {} },
      { at: AT + 90, step: 'charge', what: 'attempt 1 was done', evidence: {} },
    ],
    steps: [
      { name: 'charge', status: 'done', because: 'it is done', next: { what: 'nothing' } },
      { name: 'ship', status: 'ready', because: 'nothing stands before it', next: { ...next, at: AT } },
    ],
    warnings: [],
    next,
  };
  const attempt = { mode: 'execute', number: 1, outcome: 'done', claimedAt: AT + 40, endedAt: AT + 90 };
  const view = {
    executionId: 'e1',
    status: 'running',
    startedAt: AT,
    incidents: [],
    steps: [
      { name: 'charge', kind: 'agent', status: 'done', after: [], attempts: [attempt] },
      { name: 'ship', kind: 'agent', status: 'pending', after: ['charge'], attempts: [] },
    ],
  };
  api.answers.push(ok(explanation), ok(view), ok(explanation), ok(view));
  expect((await cli('why', 'e1')).out).toBe(
    [
      'e1  running',
      'next: a message is on its way to its agent (agent)',
      '',
      'AT      STEP    WHAT HAPPENED',
      "+0 ms           workflow 'order' was started",
      '+90 ms  charge  attempt 1 was done',
      '',
      'STEP    STATUS   BECAUSE',
      'charge  done     it is done',
      'ship    pending  nothing stands before it',
      '                 next: a message is on its way to its agent (agent, due now)',
      '',
      'STEP    QUEUED  RAN',
      'charge  40 ms   50 ms',
      '',
    ].join('\n'),
  );
  const queued = { kind: 'queue', from: AT, to: AT + 40, note: 'in its queue' };
  const ran = { kind: 'run', from: AT + 40, to: AT + 90, note: 'attempt 1: done' };
  expect(JSON.parse((await cli('why', 'e1', '--json')).out)).toEqual({
    ...explanation,
    timeline: [
      { step: 'charge', status: 'done', stretches: [queued, ran] },
      { step: 'ship', status: 'pending', stretches: [] },
    ],
  });
  api.answers.push(ok({ ...explanation, omittedPast: 7 }), ok(view));
  expect((await cli('why', 'e1')).out).toMatch(
    /WHAT HAPPENED\n +\(7 earlier entries: too many for one answer\)\n/,
  );
  expect(api.asked.slice(0, 2).map(({ path }) => path)).toEqual(['/executions/e1/why', '/executions/e1']);
});

test('cancel sends the reason and says how to watch the undo', async () => {
  api.answers.push(ok({ executionId: 'e1', status: 'compensating' }, 202));
  const { out } = await cli('cancel', 'e1', '--reason', 'ordered twice');
  expect(out).toBe(
    `e1  compensating\nSee its steps being undone: npx steadfast show e1 --wait --url ${api.url}\n`,
  );
  expect(api.asked).toEqual([
    { method: 'POST', path: '/executions/e1/cancel', body: { reason: 'ordered twice' } },
  ]);
  api.answers.push(
    refusal(409, 'not-cancelable', 'execution e1 cannot be canceled: it has succeeded', {
      status: 'succeeded',
    }),
  );
  const late = await cli('cancel', 'e1');
  expect([late.exitCode, late.err]).toEqual([
    1,
    `execution e1 cannot be canceled: it has succeeded\nSee it: npx steadfast show e1 --url ${api.url}\n`,
  ]);
});

test('workflows prints each step with its agent', async () => {
  const steps = [
    { name: 'charge', agent: 'charge-card', after: [], effect: 'probed', undo: 'required' },
    { name: 'notify', kind: 'agent', agent: 'notify', after: ['charge'], effect: 'idempotent', undo: 'none' },
  ];
  api.answers.push(ok({ items: [{ workflow: 'order', plan: 'p', withinMs: 3_600_000, steps }] }));
  expect((await cli('workflows')).out).toBe(
    [
      'WORKFLOW  WITHIN  STEP    AGENT        AFTER   EFFECT      UNDO',
      'order     1 h     charge  charge-card          probed      required',
      '                  notify  notify       charge  idempotent  none',
      '',
    ].join('\n'),
  );
});
