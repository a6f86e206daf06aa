/** A trigger is refused when it is declared if its workflow's input can never accept its constants. */

import { discoverWorkflows } from '../../lib/infra/discover.ts';
import { handlersIn } from '../../lib/infra/handlers.ts';
import { project } from './fixture.ts';

const LIB = `${process.cwd()}/lib`;
const ZOD = `${process.cwd()}/node_modules/zod/mini/index.js`;
const INPUT = 'z.object({ x: z.string(), n: z.number(), kind: z.optional(z.enum(["red", "green"])) })';

function discovered(trigger: string, input = INPUT) {
  const root = project({
    'workflows/ww/workflow.ts': `import { workflow } from '${LIB}/index.ts';
      import * as z from '${ZOD}';
      export const ww = workflow('ww', { input: ${input}, within: '1h' }, (w) => { w.callback('a', { output: z.any(), within: '1s' });
        w.receive('paid', { message: z.any(), within: '1s' }); });`,
    'workflows/ww/triggers.ts': `import { onMessage, onSchedule, onWebhook, hmacSha256, secret } from '${LIB}/index.ts';
      import { ww } from './workflow.ts';
      const every = 'rate(1 minute)';
      export const it = ${trigger};`,
  });
  return discoverWorkflows({ root, folders: ['workflows'] }, handlersIn);
}

const at = "workflows/ww/triggers.ts, it: trigger 'ww-schedule': ";

test.each([
  ["{ x: 'a', nn: 1 }", 'input.nn does not exist: input has x, n, kind; input.n is required, and left out'],
  [
    "{ x: '$.time', n: '1' }",
    "workflow 'ww' refuses its input: n: Invalid input: expected number, received string",
  ],
  ["{ x: 'a', n: 1, kind: 'blue' }", "workflow 'ww' refuses its input: kind: Invalid option"],
  ["{ x: '$.date', n: 1 }", "input.x: '$.date' is not in events of this kind; $ has time, schedule"],
])('a schedule that gives %s', async (input, message) => {
  await expect(discovered(`onSchedule(ww, { schedule: every, input: ${input} })`)).rejects.toThrow(
    expect.objectContaining({ message: expect.stringContaining(message) }),
  );
});

test.each([
  [
    "send: 'payed', key: '$.body.id'",
    "it sends 'payed', and workflow 'ww' takes no such message; there are: paid",
  ],
  ["send: 'paid', key: 'o-1'", "key: 'o-1' is the same for every event"],
  ["send: 'paid', key: '$.body.id', startWith: { x: 'a', n: '1' }", "workflow 'ww' refuses its input: n:"],
])('a trigger that sends with %s', async (options, message) => {
  await expect(discovered(`onMessage(ww, { ${options} })`)).rejects.toThrow(
    expect.objectContaining({ message: expect.stringContaining(message) }),
  );
});

test('the refusal begins with the file, the export and the trigger', async () => {
  const given = discovered("onSchedule(ww, { schedule: every, input: { x: 'a' } })");
  await expect(given).rejects.toThrow(`${at}input.n is required, and left out`);
});

test('a schema without a JSON form is asked itself', async () => {
  const own = `{ '~standard': { version: 1, vendor: 'own', validate: (value) =>
    value.n === undefined ? { issues: [{ path: ['n'], message: 'give a number' }] } : { value } } }`;
  const trigger = "onSchedule(ww, { schedule: every, input: { x: 'a' } })";
  await expect(discovered(trigger, own)).rejects.toThrow(
    `${at}workflow 'ww' refuses its input: n: give a number`,
  );
});

test.each([
  "onSchedule(ww, { schedule: every, input: { x: '$.time', n: 1, kind: 'red' } })",
  "onSchedule(ww, { schedule: every, input: { x: { $concat: ['at ', '$.time'] }, n: { $literal: 2 } } })",
  'onMessage(ww)',
  "onMessage(ww, { input: { x: '$.body.x', n: '$.body.n' } })",
  "onMessage(ww, { send: 'paid', key: '$.body.id', startWith: { x: '$.body.x', n: 1 } })",
  "onWebhook(ww, { verify: hmacSha256({ header: 'signature', secret: secret('KEY') }), answers: 'a', output: { y: 1 } })",
])('what an event may complete is taken: %s', async (trigger) => {
  expect((await discovered(trigger)).triggers).toHaveLength(1);
});

test('a schema that takes its time is believed', async () => {
  const slow = `{ '~standard': { version: 1, vendor: 'own', validate: async () => ({ issues: [{ message: 'no' }] }) } }`;
  const trigger = "onSchedule(ww, { schedule: every, input: { x: 'a' } })";
  expect((await discovered(trigger, slow)).triggers).toHaveLength(1);
});
