/** The keys of values that are stored outside the table. */

import { decide } from '../../../lib/core/decide.ts';
import { stepAfter } from '../../../lib/core/decisions/change.ts';
import { newExecution } from '../../../lib/core/execution/start.ts';
import { workflow } from '../../../lib/author/builder/workflow.ts';
import { eq } from '../../../lib/author/references.ts';
import {
  holderOf,
  valueKeyIn,
  valueKeyOf,
  valueKeysIn,
  valuesOf,
  withValue,
} from '../../../lib/core/records/large-values.ts';
import { anExecution, aStep } from '../../contract/records.ts';
import { anAgent, anyObject } from '../../engine/harness.ts';

const ref = { hash: 'h', id: 'w-1', bytes: 40_000 };

describe('a key', () => {
  it('begins with a hash of the execution’s id, which spreads ids that follow one another', () => {
    const prefixes = Array.from({ length: 200 }, (_, at) => valuesOf(`order-${at}`).split('/')[0]);
    expect(new Set(prefixes).size).toBeGreaterThan(190);
  });

  it('is made of execution, life, holder, hash and put, and reads back (V2)', () => {
    const owner = { id: 'e-1.rooms.0', life: 'l1' };
    const key = valueKeyOf(owner, holderOf('rooms[3]'), ref);
    expect(key).toBe('60fe/e-1.rooms.0/l1/step.rooms.3/h/w-1');
    expect(valueKeyIn(key)).toEqual({
      executionId: 'e-1.rooms.0',
      life: 'l1',
      holder: 'step.rooms.3',
      hash: 'h',
      id: 'w-1',
    });
  });

  it.each([
    '',
    '9adb/e-1/l1',
    '9adb/e-1/l1/!absent/17',
    '9adb/e-1/l1/other/h/w',
    '9adb/e-1/l1/input/h/w/more',
    '9adb/e-1//input/h/w',
    '0000/e-1/l1/input/h/w',
    '9adb//l1/input/h/w',
  ])('is none: %s', (text) => expect(valueKeyIn(text)).toBeUndefined());

  it('is named by records for all that they hold', () => {
    const execution = anExecution({ id: 'e-1', life: 'l1', input: null, inputAt: ref, outputAt: ref });
    const children = {
      count: 1,
      started: 1,
      items: 1,
      tolerated: 0,
      ended: {},
      rounds: { done: 1, inputAt: ref },
    };
    const step = aStep({ name: 'a', outputAt: { ...ref, hash: 'o' }, children });
    expect(valueKeysIn({ execution, steps: { a: step } })).toEqual([
      '9adb/e-1/l1/input/h/w-1',
      '9adb/e-1/l1/output/h/w-1',
      '9adb/e-1/l1/step.a/o/w-1',
      '9adb/e-1/l1/step.a/h/w-1',
    ]);
  });
});

describe('a decision', () => {
  const flow = workflow('flow', { input: anyObject, within: '1h' }, (w) => {
    const { go } = w.input as never as { go: never };
    w.step('a', anAgent('worker'), {}, { when: eq(go, 'yes') });
  });
  const born = { id: 'e-1', life: 'l1', plan: 'h', input: { go: 'yes' }, inputHash: '', writeId: 'w-0' };
  const made = newExecution(flow.plan, born, 1_000);
  const state = {
    execution: { ...made, input: null, inputAt: ref },
    steps: {},
    values: { lost: new Set<string>() },
  };
  const inputs = { writeId: 'w-2', now: 1_000, random: 0 };
  const evaluate = {
    type: 'evaluate',
    by: 'agent',
    affected: 'all',
    fresh: true,
    readAt: 1_000,
    ...inputs,
  } as const;

  it('asks for a value that it rests on, and writes and sends nothing (V4)', () => {
    const asked = decide(flow.plan, state, evaluate);
    expect(asked.next).toEqual({ kind: 'load', value: { holder: 'input', ref } });
    expect([asked.write, asked.sends]).toEqual([undefined, []]);
  });

  it('is made once the value is there', () => {
    const loaded = withValue(state, { holder: 'input', ref }, { value: { go: 'yes' } });
    expect(decide(flow.plan, loaded, evaluate).sends.map(({ message }) => message.step)).toEqual(['a']);
  });

  it('takes what a round was given for no answer of its step (V4)', () => {
    const rounds = { done: 1, inputAt: ref };
    const children = { count: 1, started: 1, items: 1, tolerated: 0, ended: {}, rounds };
    const a = aStep({ name: 'a', status: 'running', children });
    const read = withValue({ ...state, steps: { a } }, { holder: holderOf('a'), ref }, { value: 5 });
    expect(read.steps['a']).toMatchObject({ children: { rounds: { input: 5 } } });
    expect(read.steps['a']).not.toHaveProperty('output');
  });

  it('to begin a step whose condition reads a lost value is the step’s failure, neither a skip nor a start (V4)', () => {
    const lost = withValue(state, { holder: 'input', ref }, 'lost');
    const { write } = decide(flow.plan, lost, evaluate);
    expect([write?.step?.status, write?.step?.failure?.code]).toEqual(['failed', 'value-lost']);
  });
});

describe('another output', () => {
  it('is not taken for the one that the record named', () => {
    const record = aStep({ status: 'running', outputAt: ref });
    const next = stepAfter(record, 'done', { writeId: 'w-3', now: 2, random: 0 }, { output: { ok: true } });
    expect(next).not.toHaveProperty('outputAt');
  });
});
