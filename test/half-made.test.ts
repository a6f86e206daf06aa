/**
 * No option of a plan is unfinished: the simulator draws each key of a plan, the API shows it, the docs name
 * it, and a test uses it. Exceptions are listed here with a reason.
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

/** The types of steps and stages: an option may be finished for one kind and unfinished for another. */
const types = new Map(
  [...source.matchAll(/^(?:export )?interface (\w+)(?: extends ([\w, ]+))? \{\n([^]*?)^\}/gm)].map(
    ([, name = '', parents = '', body = '']) => [name, { parents: parents.split(', '), body }] as const,
  ),
);
const keysOf = (name: string): string[] => {
  const { parents, body } = types.get(name) ?? { parents: [], body: '' };
  const own = [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, key = '']) => key);
  return [...parents.flatMap(keysOf), ...own];
};
const ofKinds = [...types].flatMap(([name, { body }]) =>
  [...(/readonly kind: ([^;]+);/.exec(body)?.[1] ?? '').matchAll(/'(\w+)'/g)].flatMap(([, kind = '']) =>
    keysOf(name).map((key) => [kind, key] as const),
  ),
);
type Part = Record<string, unknown>;
const partsIn = (value: unknown): Part[] =>
  typeof value !== 'object' || value === null
    ? []
    : [value as Part, ...Object.values(value).flatMap(partsIn)];
/** Plans that have a key, by kind and key. */
const drawnOfKinds = new Map<string, Plan[]>();
for (const plan of plans)
  for (const [of] of new Map(
    partsIn(plan).flatMap((part) => Object.keys(part).map((key) => [`${String(part['kind'])} ${key}`, key])),
  ))
    drawnOfKinds.set(of, [...(drawnOfKinds.get(of) ?? []), plan]);

const without = (key: string, value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, one: unknown) => (name === key ? undefined : one)));
const has = (text: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(text);

/** Whether the API shows the key; the view's source also covers keys that no world has. */
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
/** The author's word for a key, if it is not the key without its unit; empty if authors do not write it. */
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

const APPROVALS = 'only approvals have it';
const NEVER = 'no author can write it there';
/** Exceptions by kind, besides those by key. */
const NOT_DRAWN_OF_KIND: Readonly<Record<string, string>> = {
  'callback by': APPROVALS,
  'callback otherwise': APPROVALS,
  'wait pointOfNoReturn': NEVER,
  'callback pointOfNoReturn': NEVER,
  'approval pointOfNoReturn': NEVER,
  'receive pointOfNoReturn': NEVER,
  'lane pointOfNoReturn': NEVER,
  'lane when': NEVER,
  'lane tolerate': NEVER,
  'map pointOfNoReturn': NEVER,
};
const NOT_SHOWN_OF_KIND: Readonly<Record<string, string>> = {
  'lane by': VALUE,
  'useAgent effect': "the other agent's, whose code says it",
  'useAgent undo': "the other agent's, whose code says it",
  'askPerson remindMs': 'each question counts its reminders',
};

it.each(ofKinds)('%s: its key %s is drawn by the simulator, or not for a reason', (kind, key) => {
  const of = `${kind} ${key}`;
  expect(drawnOfKinds.has(of)).toBe(!(key in NOT_DRAWN || of in NOT_DRAWN_OF_KIND));
});

it.each(ofKinds.filter(([kind, key]) => drawnOfKinds.has(`${kind} ${key}`) && !(key in NOT_SHOWN)))(
  '%s: its key %s is shown with the workflow, or not for a reason',
  (kind, key) => {
    const of = `${kind} ${key}`;
    const withoutKey = (plan: Plan): Plan => {
      const copy = structuredClone(plan);
      for (const part of partsIn(copy)) if (part['kind'] === kind) delete part[key];
      return copy;
    };
    const isShownOfKind = (plan: Plan): boolean => {
      try {
        return JSON.stringify(workflowView(plan, '')) !== JSON.stringify(workflowView(withoutKey(plan), ''));
      } catch {
        return true;
      }
    };
    expect(drawnOfKinds.get(of)?.some(isShownOfKind)).toBe(!(of in NOT_SHOWN_OF_KIND));
  },
);

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
