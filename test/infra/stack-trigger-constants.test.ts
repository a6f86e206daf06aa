/** Synthesis refuses a stack's trigger whose constants its workflow's input can never accept. */

import { ScheduleExpression } from 'aws-cdk-lib/aws-scheduler';
import { Duration } from 'aws-cdk-lib/core';
import * as z from 'zod/mini';
import { certainOf } from '../../lib/author/schemas/json-schema-check.ts';
import { jsonSchemaOf } from '../../lib/infra/json-schema.ts';
import type { TriggerProps } from '../../lib/infra/triggers.ts';
import { FOUND } from './fixture.ts';
import { makeStack } from './template.ts';

const input = z.object({
  day: z.string(),
  n: z.number().check(z.minimum(1)),
  kind: z.optional(z.enum(['red', 'green'])),
  to: z.optional(z.object({ city: z.string() })),
});
const shape = {
  schema: jsonSchemaOf(input),
  certain: certainOf(jsonSchemaOf(input, 'input'), input),
  required: ['day', 'n'],
};
/** Copies the workflows through JSON, as discovery in another process does. */
const workflows = JSON.parse(
  JSON.stringify(FOUND.workflows.map((one) => (one.name === 'report' ? { ...one, input: shape } : one))),
) as typeof FOUND.workflows;
const every = ScheduleExpression.rate(Duration.hours(1));
const { steadfast } = makeStack({ workflows: { ...FOUND, workflows } });

test.each<[TriggerProps['input'], string]>([
  [{ day: '$.time', n: '1' }, 'n: Invalid input: expected number, received string'],
  [{ day: '$.time', n: 0 }, 'n: Invalid input: minimum is 1'],
  [{ day: '$.time', n: 1, kind: 'blue' }, 'kind: Invalid option: expected "red" or "green"'],
  [{ day: '$.time', n: 1, to: { city: 5 } }, 'to.city: Invalid input: expected string, received number'],
  [{ day: '$.time', n: 1, to: {} }, 'to.city is missing'],
])('%j', (mapping, problem) => {
  expect(() => steadfast.triggerOnSchedule(every, 'report', { input: mapping })).toThrow(
    `trigger 'report-schedule': workflow 'report' refuses its input: ${problem}`,
  );
});

test('the first message of a trigger that sends is checked, and so is what a queue starts', () => {
  expect(() => steadfast.startQueue('report', { input: { day: '$.body.day', n: 'x' } })).toThrow(
    "workflow 'report' refuses its input: n: Invalid input",
  );
});

test('a workflow that is given itself is asked by its own schema', () => {
  const own = z.object({ day: z.string().check(z.regex(/^\d+$/, 'digits only')) });
  const report = { name: 'report', input: own } as const;
  expect(() => steadfast.triggerOnSchedule(every, report, { input: { day: 'x', n: 1 } as never })).toThrow(
    "workflow 'report' refuses its input: day: digits only",
  );
});

test('what an event may complete is taken', () => {
  const mapping = { day: { $concat: ['at ', '$.time'] }, n: { $literal: 2 }, kind: 'red' };
  expect(steadfast.triggerOnSchedule(every, 'report', { input: mapping }).triggerName).toBe(
    'report-schedule',
  );
});
