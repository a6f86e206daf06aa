/**
 * An unfinished option of a plan: the simulator draws each key of a plan, the API shows it, the docs name it
 * and a test uses it, or a reason for the exception is here.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { workflowView } from '../lib/api/workflow-view.ts';
import type { Plan } from '../lib/core/plan/plan.ts';
import { World } from '../proof/simulation/world.ts';

const ROOT = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

const source = read('lib/core/plan/plan.ts');
const keys = new Set(
  [
    ...source.slice(0, source.indexOf('export interface PlanGraph')).matchAll(/^ {2}readonly (\w+)\??:/gm),
  ].map(([, key = '']) => key),
);

const plans: readonly Plan[] = Array.from(
  { length: 500 },
  (_, seed) => new World({ seed, mode: 'all' }).clients.plans,
).flat();

const keysIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, one]) => [...(Array.isArray(value) ? [] : [key]), ...keysIn(one)]);
const drawn = new Set(plans.flatMap(keysIn));

const without = (key: string, value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, one: unknown) => (name === key ? undefined : one)));
const has = (text: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(text);

/** The view's source covers what no world has. */
const isShown = (key: string): boolean =>
  (!drawn.has(key) && has(read('lib/api/workflow-view.ts'), key)) ||
  plans.some((plan) => {
    const view = (of: Plan): string => JSON.stringify(workflowView(of, 'hash'));
    try {
      return keysIn(plan).includes(key) && view(plan) !== view(without(key, plan) as Plan);
    } catch {
      return true;
    }
  });

const textOf = (folder: string, ending: string): string =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => read(join(folder, name)))
    .join('\n');
const docs = textOf('docs', '.md');
const tests = textOf('test', '.test.ts');
/** The author's word for a key, if it is not the key without its unit. Empty: authors do not write it. */
const WORDS: Readonly<Record<string, string>> = {
  firstMs: 'delay',
  maxMs: 'maxDelay',
  pickupMs: 'claimWithin',
  settleMs: 'lateEffectWithin',
  maxNoProgressMs: 'progressWithin',
  acceptsMs: 'acceptedWithin',
  tolerate: 'mayFail',
  atMost: 'maxRounds',
  search: 'tags',
  lane: 'concurrency',
  remindMs: 'remindEvery',
  byAgent: 'repeat',
  kind: '',
  v: '',
  onFailureOf: '',
  // The sum of its steps'.
  tolerated: '',
};
const wordOf = (key: string): string => WORDS[key] ?? key.replace(/Ms$/, '');
/** Whether the docs name the word in the form that code uses. */
const isNamed = (word: string): boolean =>
  word === '' || new RegExp(`\\b${word}(:|\\(|\`)|\\b${word}, |\\.${word}\\b`).test(docs);

const VALUE = 'each execution shows what it came to';
const LIMIT = "the agent's, whose code says it";
const NOT_SHOWN: Readonly<Record<string, string>> = {
  firstMs: 'the number of tries is',
  maxMs: 'the number of tries is',
  input: VALUE,
  output: VALUE,
  when: VALUE,
  next: VALUE,
  show: VALUE,
  timeoutMs: LIMIT,
  leaseMs: LIMIT,
  pickupMs: LIMIT,
  settleMs: LIMIT,
  maxNoProgressMs: LIMIT,
  acceptsMs: LIMIT,
  v: 'the form of the record',
  onFailureOf: 'what it was made of',
  tolerated: 'each step shows its own',
  pauseWithinMs: 'each pause shows it',
  fairBy: 'each execution has its group',
};
const NOT_DRAWN: Readonly<Record<string, string>> = {
  for: 'reckoned into the time that `until` and `forMs` have',
  show: 'nothing is decided by it',
  search: 'nothing is decided by it',
  pauseWithinMs: 'each pause of a world says it',
  tolerated: 'made of the steps when the plan is built',
  onFailureOf: 'made when a part of the plan is taken',
  fairBy: 'the order of messages alone: `test/serve` and the queues have it',
};

it('the keys of a plan are found, and no reason is given for an unknown one', () => {
  expect(keys.size).toBeGreaterThan(40);
  const named = [WORDS, NOT_SHOWN, NOT_DRAWN].flatMap((one) => Object.keys(one));
  expect(named.filter((key) => !keys.has(key))).toEqual([]);
});

it.each([...keys])('%s is drawn by the simulator, or not for a reason', (key) => {
  expect(drawn.has(key)).toBe(!(key in NOT_DRAWN));
});

it.each([...keys])('%s is shown with the workflow, or not for a reason', (key) => {
  expect(isShown(key)).toBe(!(key in NOT_SHOWN));
});

it.each([...keys])('%s is in the docs and in a test', (key) => {
  expect([isNamed(wordOf(key)), has(tests, key)]).toEqual([true, true]);
});
