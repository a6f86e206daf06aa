/**
 * One name for each thing: no visible name contains a word that the glossary has replaced. Names are split
 * into words (`heldUntil` is two), so that parts of names are checked too. For comments:
 * `tidy-prose.test.ts`.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CALLS } from '../lib/api/calls.ts';
import { METRICS, TABLE } from '../lib/aws/names.ts';
import { CHOICES } from '../lib/core/records/question.ts';
import { EXECUTION_EVENTS, STEP_EVENTS, EXECUTION_STATUSES, STEP_STATUSES } from '../lib/core/moves.ts';

const ROOT = join(import.meta.dirname, '..');

/** Replaced words, each with its replacement. */
const REPLACED: Readonly<Record<string, string>> = {
  held: 'leased, deferred or claim',
  holding: 'claim',
  sealed: 'fenced',
  seal: 'fence',
  undoing: 'compensating',
  undone: 'compensated',
  parked: 'deferred',
  park: 'defer',
  settled: 'code returned, satisfied, or closed',
  told: 'child ended',
  anew: 'restarted',
  renew: 'restart',
  renewed: 'restarted',
  figure: 'metric',
  figures: 'metrics',
  look: 'evaluate',
  looks: 'evaluations',
  looked: 'evaluated',
  watch: 'wake time',
  watches: 'wake times',
  watched: 'wake time',
  beat: 'heartbeat',
  beats: 'heartbeats',
  beaten: 'heartbeat',
  ladder: 'recovery',
  rung: 'stage',
  rungs: 'stages',
  concern: 'affected steps',
  concerns: 'affected steps',
  stamp: 'decision inputs',
  dice: 'random source',
  gate: 'admission',
  gates: 'admissions',
  pace: 'rate limit',
  paced: 'rate limited',
  turns: 'single flight',
  counted: 'effective state',
  excuse: 'not charged',
  excused: 'not charged',
  overtime: 'deadline passed',
  outside: 'external party',
  mind: 'decider',
  lookers: 'actors',
  persons: 'people',
  strikes: 'faults',
};
/** Replaced pairs of words. */
const REPLACED_PAIRS: Readonly<Record<string, string>> = {
  'undo failed': 'compensation failed',
  'hard end': 'process deadline',
  'no later': 'wake no later than',
  'quiet at': 'effects settled at',
  'as is': 'keeps effects',
};

/** Exceptions: established terms, and the option `--watch`, as in kubectl and gh. */
const TERMS = /wake no later than|effects settled at|^watch$/g;

const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .replace(TERMS, '')
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');

function problems(names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const words = wordsOf(name);
    const pairs = words.map((word, at) => `${word} ${words[at + 1] ?? ''}`);
    const found = [
      ...words.filter((word) => Object.hasOwn(REPLACED, word)).map((word) => [word, REPLACED[word]]),
      ...pairs.filter((two) => Object.hasOwn(REPLACED_PAIRS, two)).map((two) => [two, REPLACED_PAIRS[two]]),
    ];
    return found.map(([old, now]) => `${name}: '${old}' is called ${now}`);
  });
}

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesOf = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => `${folder}/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts'));
const found = (paths: readonly string[], pattern: RegExp): string[] =>
  paths.flatMap((path) => [...read(path).matchAll(pattern)].map(([, name = '']) => name));

const EXPORT = /^export (?:abstract )?(?:async )?(?:const|function|class|interface|type) (\w+)/gm;
const PROPERTY = /^ {2}readonly (\w+)\??:/gm;

const NAMES: Readonly<Record<string, () => readonly string[]>> = {
  'exported identifiers': () => found(filesOf('lib'), EXPORT),
  'files of the library': () => filesOf('lib').map((path) => path.slice('lib/'.length, -'.ts'.length)),
  statuses: () => [...STEP_STATUSES, ...EXECUTION_STATUSES],
  'events and choices': () => [...Object.keys(STEP_EVENTS), ...Object.keys(EXECUTION_EVENTS), ...CHOICES],
  'fields of records and plans': () =>
    found(
      [
        ...['values', 'records', 'decisions'].flatMap((folder) => filesOf(`lib/core/${folder}`)),
        'lib/core/plan/plan.ts',
        'lib/core/plan/agent.ts',
        'lib/core/plan/answers.ts',
      ],
      PROPERTY,
    ),
  'options of authors and operators': () =>
    found(
      [
        'lib/author/builder/workflow.ts',
        'lib/author/builder/waiting-steps.ts',
        'lib/infra/steadfast-props.ts',
      ],
      PROPERTY,
    ),
  'fields of the API': () =>
    found(['lib/api/agent-answers.ts', 'lib/api/answers.ts', 'lib/api/deployment-answers.ts'], PROPERTY),
  routes: () => Object.keys(CALLS),
  commands: () => [
    ...found(filesOf('cli'), /(?:\.(?:command|option)\(|Option\(|name: )\s*'(?:--)?([\w-]+)/g),
    ...found(['cli/api-commands.ts'], /^ +'?(?:--)?(\w[\w-]*)(?: <\w+>')?: /gm),
  ],
  'words of the glossary': () => found(['docs/ARCHITECTURE.md'], /^\| ([a-z][a-z, ]*) \|/gm),
  metrics: () => Object.keys(METRICS),
  indexes: () => [TABLE.wakeIndex, TABLE.listIndex].flatMap((index) => Object.values(index)),
};

it.each(Object.entries(NAMES))('%s are named by the glossary', (_, namesOf) => {
  const names = namesOf();
  expect(names.length).toBeGreaterThan(3);
  expect(problems(names)).toEqual([]);
});

it.each([
  'watchAt',
  'HeldStep',
  'MAX_HELD_MS',
  'undo-failed',
  '/callbacks/:token/beat',
  'hardEndAt',
  'core/ladder',
  'LooksFailed',
])('would be found: %s', (name) => {
  expect(problems([name])).toHaveLength(1);
});

it.each(['undo', 'heartbeat', 'stage', 'resolve', 'lookup', 'settleMs', 'undo-all', 'watch'])(
  'is content with %s',
  (name) => {
    expect(problems([name])).toEqual([]);
  },
);

describe('a round is of a repeat (docs/ARCHITECTURE.md#glossary)', () => {
  /** In these rooms, a loop that retries a call counts `laps`, because a round is something else. */
  const OTHER_LOOPS = /\blet round\b|\bMAX_(?:\w+_)?ROUNDS\b/;

  test('and no loop of the roles and ports counts another thing by that word', () => {
    const rooms = ['agent', 'aws', 'engine', 'scheduler', 'supervisor'].flatMap((room) =>
      filesOf(`lib/${room}`),
    );
    expect(rooms.length).toBeGreaterThan(80);
    expect(rooms.filter((path) => OTHER_LOOPS.test(read(path)))).toEqual([]);
  });

  test.each(['const MAX_ROUNDS = 5;', 'const MAX_CLAIM_ROUNDS = 5;', 'for (let round = 0; ; round += 1)'])(
    'which would be found: %s',
    (line) => expect(line).toMatch(OTHER_LOOPS),
  );
});
