/**
 * Draws from the seed which failures an execution of the failure workflows meets, and how it must end.
 *
 * Owns: the scenes, their order, the outside world's part in each. Pure. Does not own: the workflows
 * (`workflow.ts`), whether they ended so (`audit.ts`).
 */

import type { RuleInput } from '../../../examples/world/behaviour.ts';
import type { ExecutionStatus } from '../../../lib/core/moves.ts';
import type { PlannedStart } from '../load.ts';
import { SERVICES, trouble, troubleWhileUndoing, usualTimes } from '../order-plan.ts';
import { type Draws, drawsOf } from '../../../kit/cloud/random.ts';

type Rule = Omit<RuleInput, 'match'> & { readonly match?: { readonly action?: string } };
/** Rules by their name in the outside world: a part of the subject's name, or '' for the subject itself. */
type Rules = Readonly<Record<string, readonly Rule[]>>;

interface Scene {
  readonly workflow: 'order' | 'holiday' | 'launch';
  readonly ends: readonly ExecutionStatus[];
  readonly rules: Rules;
  /** Set if the client may cancel the execution. */
  readonly mayBeCanceled?: true;
}

/** 'failed' if nothing had been done yet that could be undone. */
const NOT_DONE = ['compensated', 'failed'] as const;
const DONE = ['succeeded'] as const;

const SCENES = {
  order: { workflow: 'order', ends: DONE, rules: {}, mayBeCanceled: true },
  'mail declined': { workflow: 'order', ends: DONE, rules: { '': [{ service: 'mail', mode: 'decline' }] } },
  // The mail is sent without an answer, and the next request is refused, so the mail may have been sent.
  'a mail that may have been sent': {
    workflow: 'order',
    ends: DONE,
    rules: {
      '': [
        { service: 'mail', mode: 'drop-reply', times: 1 },
        { service: 'mail', mode: 'decline' },
      ],
    },
  },
  'order refused': {
    workflow: 'order',
    ends: NOT_DONE,
    rules: { '': [{ service: 'carrier', mode: 'decline' }] },
  },
  'order refused, mail too': {
    workflow: 'order',
    ends: NOT_DONE,
    rules: {
      '': [
        { service: 'carrier', mode: 'decline' },
        { service: 'mail', mode: 'decline' },
      ],
    },
  },
  'order refused, and news that may have been sent': {
    workflow: 'order',
    ends: NOT_DONE,
    rules: {
      '': [
        { service: 'carrier', mode: 'decline' },
        { service: 'mail', mode: 'drop-reply', times: 1 },
        { service: 'mail', mode: 'decline' },
      ],
    },
  },
  holiday: { workflow: 'holiday', ends: DONE, rules: {}, mayBeCanceled: true },
  'no car': {
    workflow: 'holiday',
    ends: DONE,
    rules: { '/car': [{ service: 'warehouse', mode: 'decline' }] },
  },
  'a car that must be given back': {
    workflow: 'holiday',
    ends: DONE,
    // The goods are reserved without an answer, and the next request is refused, so the step may have acted.
    rules: {
      '/car': [
        { service: 'warehouse', mode: 'drop-reply', times: 1 },
        { service: 'warehouse', mode: 'decline' },
      ],
    },
  },
  'no flight': {
    workflow: 'holiday',
    ends: NOT_DONE,
    rules: { '/flight': [{ service: 'carrier', mode: 'decline' }] },
  },
  launch: { workflow: 'launch', ends: DONE, rules: {}, mayBeCanceled: true },
  'the north is full': {
    workflow: 'launch',
    ends: DONE,
    rules: { '/north': [{ service: 'carrier', mode: 'decline' }] },
  },
  'both are full': {
    workflow: 'launch',
    ends: NOT_DONE,
    rules: {
      '/north': [{ service: 'carrier', mode: 'decline' }],
      '/south': [{ service: 'carrier', mode: 'decline' }],
    },
  },
} as const satisfies Readonly<Record<string, Scene>>;
type SceneName = keyof typeof SCENES;
const NAMES = Object.keys(SCENES) as SceneName[];

/** The outside world's names for the parts of each workflow. */
const PARTS: Readonly<Record<Scene['workflow'], readonly string[]>> = {
  order: [''],
  holiday: ['', '/pay', '/flight', '/car', '/taxi'],
  launch: ['', '/north', '/south'],
};

/**
 * Rollouts by the number of the start: 5 % of the hosts may fail; in the second rollout one more fails, in
 * the third exactly that many.
 */
const ROLLOUTS: Readonly<
  Record<number, { readonly hosts: number; readonly bad: readonly [number, number] }>
> = {
  0: { hosts: 200, bad: [5, 8] },
  12: { hosts: 40, bad: [4, 4] },
  60: { hosts: 200, bad: [10, 10] },
};
export const TOLERATED_SHARE = 0.05;

export interface PlannedFailure extends PlannedStart {
  /** A text for people. */
  readonly scene: string;
  /** How it must end. */
  readonly ends: readonly ExecutionStatus[];
}

export function plannedFailure(seed: number, index: number): PlannedFailure {
  const draws = drawsOf(seed, 1_000 + index);
  const rollout = ROLLOUTS[index];
  if (rollout !== undefined) return plannedRollout(draws, index, rollout);
  const name = sceneAt(seed, index);
  const scene: Scene = SCENES[name];
  const { workflow } = scene;
  const subject = `${workflow}-${index}`;
  const rules = PARTS[workflow].flatMap((part) => {
    const all = [...(scene.rules[part] ?? []), ...troubles(draws), ...usualTimes(draws)];
    return all.map((rule): RuleInput => ({ ...rule, match: { ...rule.match, about: subject + part } }));
  });
  const cancels = scene.mayBeCanceled === true && draws.chance(0.25);
  return {
    key: subject,
    workflow,
    input: { subject },
    rules,
    scene: cancels ? `${name}, canceled` : name,
    ends: cancels ? [...scene.ends, 'canceled'] : scene.ends,
    ...(draws.chance(0.1) ? { repeatAfterMs: draws.chance(0.3) ? 0 : draws.between(1, 8_000) } : {}),
    ...(cancels ? { cancelAfterMs: draws.between(0, 6_000) } : {}),
  };
}

/** The scene of this number: each round has every scene once, in a random order. */
function sceneAt(seed: number, index: number): SceneName {
  const draws = drawsOf(seed, 500_000 + Math.floor(index / NAMES.length));
  const inTurn = NAMES.map((name) => ({ name, at: draws.random() })).sort((one, other) => one.at - other.at);
  return inTurn[index % NAMES.length]?.name ?? 'order';
}

const troubles = (draws: Draws): RuleInput[] => [
  ...(draws.chance(0.2) ? [trouble(draws, draws.pick(SERVICES))] : []),
  ...(draws.chance(0.1) ? [troubleWhileUndoing(draws)] : []),
];

function plannedRollout(
  draws: Draws,
  index: number,
  { hosts: count, bad: [least, most] }: (typeof ROLLOUTS)[number],
): PlannedFailure {
  const subject = `rollout-${index}`;
  const hosts = Array.from({ length: count }, (_, at) => `${subject}/${at}`);
  const bad = new Set<string>();
  for (const wanted = draws.between(least, most); bad.size < wanted; ) {
    bad.add(hosts[draws.between(0, count - 1)] ?? '');
  }
  const rules = hosts.flatMap((orderId): RuleInput[] => {
    const own: RuleInput[] = [
      ...(bad.has(orderId) ? [{ service: 'payment', mode: 'decline' } as const] : []),
      ...(draws.chance(0.1) ? [trouble(draws, draws.pick(SERVICES))] : []),
      { service: 'carrier', mode: 'slow-reply', ms: draws.between(50, 500) },
    ];
    return own.map((rule) => ({ ...rule, match: { about: orderId } }));
  });
  const isTooMany = bad.size > count * TOLERATED_SHARE;
  return {
    key: subject,
    workflow: 'rollout',
    input: { subject, hosts },
    rules,
    scene: `${count} hosts, ${bad.size} of them bad`,
    ends: isTooMany ? NOT_DONE : DONE,
  };
}
