/**
 * Workflows whose steps are repeated: changes a plan for a world that has this trait.
 *
 * Owns: the share of such steps, and how many rounds each has. Does not own: which worlds have the trait
 * (`traits.ts`), what is judged (`oracle-rounds.ts`). It draws from its own random stream, so other worlds
 * are unchanged.
 *
 * A round gets one mark more than the one before, and the marks say which is the last. A round without an
 * answer would also be the last: a failed read must not count as one.
 */

import type { AttemptContext } from '../../lib/core/plan/agent.ts';
import type { AgentStep, ChildStage, ChildStep, Plan, PlanStep, Rounds } from '../../lib/core/plan/plan.ts';
import { planOfRound } from '../../lib/author/builder/rounds.ts';
import type { Expr } from '../../lib/core/plan/refs.ts';
import type { Emphasis } from './emphasis.ts';
import type { Choice } from './plans.ts';
import type { Host } from './process.ts';

/** The frequent faults where steps are repeated. */
export const ROUND_RATES: Emphasis['rates'] = {
  permanentFailure: 0.15,
  transientFailure: 0.4,
  lostReply: 0.1,
  canceled: 0.35,
  canceledChild: 0.2,
  paused: 0.3,
  retried: 0.8,
  largeOutput: 0.02,
};

const REPEATED_SHARE = 0.85;
/** The names of the messages, as other steps take them. */
const MESSAGES = ['paid', 'moved'] as const;
const TRIED_AGAIN_SHARE = 0.7;
const TRIED_AGAIN = [{ kind: 'retry', attempts: 3, firstMs: 500, maxMs: 2_000 }] as const;
const KEPT_SHARE = 0.6;
const LOOSE_SHARE = 0.3;
/** The share of the plans that undo nothing: their failures can be retried. */
const LEFT_SHARE = 0.08;
const LATER = /t([2-9]|\d\d+)$/;
const LATER_SHARE = 0.6;
const HOUR_MS = 3_600_000;
export const MARK = 'x';

export const wantedRounds = ({ until }: Rounds): number => {
  const [, marks] = (until as { $or: readonly [Expr, { $eq: readonly [Expr, number] }] }).$or;
  return marks.$eq[1];
};

/** @param mail the random stream for messages that rounds begin with; absent: rounds begin without */
export function withRounds(plan: Plan, choice: Choice, mail?: Choice, depth = 0): Plan {
  const isLeft = depth === 0 && choice.chance(LEFT_SHARE);
  const steps = plan.steps.map((step): PlanStep => {
    if (step.kind === 'child' && step.rounds === undefined && !choice.chance(0.4))
      return { ...step, plan: withRounds(step.plan, choice, mail, depth + 1) };
    const isFit = depth < 2 && step.pointOfNoReturn !== true;
    if (!isFit || step.kind === 'wait' || !choice.chance(REPEATED_SHARE)) return step;
    if (step.kind === 'agent')
      return receiving(repeated(isLeft ? { ...step, undo: 'none' } : step, plan, choice, isLeft), mail);
    return step.kind === 'child' && !hasPoint(step.plan) && step.tolerate !== true
      ? receiving({ ...step, plan: loose(step.plan, choice), ...rounds(step, choice) }, mail)
      : step;
  });
  return { ...plan, steps };
}

/** A plan of some rounds: what a stopped one has left may act while the round before it is to be undone. */
const loose = (plan: Plan, choice: Choice): Plan =>
  choice.chance(LOOSE_SHARE)
    ? { ...plan, steps: plan.steps.map((one) => (one.kind === 'agent' ? { ...one, undo: 'none' } : one)) }
    : plan;

/** Where messages are sent, the rounds of each repeated step begin with them. */
function receiving(step: ChildStep, mail: Choice | undefined): ChildStep {
  if (mail === undefined || step.rounds === undefined) return step;
  // Their time is that of each message.
  const { withinMs: _, ...rest } = step;
  const begun = { ...rest, rounds: { ...step.rounds, ...roundMessages(mail) } };
  // A round that is tried again keeps its message.
  const isTriedAgain = step.recovery === undefined && mail.chance(TRIED_AGAIN_SHARE);
  return isTriedAgain ? { ...begun, recovery: TRIED_AGAIN } : begun;
}

/** The messages that rounds begin with; in some steps the first, too. */
function roundMessages(choice: Choice): Pick<Rounds, 'first' | 'message'> {
  const message = {
    name: choice.pick(MESSAGES),
    ...(choice.chance(0.3)
      ? { within: { $orElse: [{ $ref: 'input', path: ['none'] }, 90] } }
      : { withinMs: choice.pick([15_000, 15_000, 60_000, 60_000, 300_000, HOUR_MS]) }),
    ...(choice.chance(0.75) ? { otherwise: 'continue' as const } : {}),
  };
  return choice.chance(0.4) ? { message, first: { ...message, name: choice.pick(MESSAGES) } } : { message };
}

const hasPoint = ({ steps }: Plan): boolean =>
  steps.some((step) => step.pointOfNoReturn === true || (step.kind === 'child' && hasPoint(step.plan)));

function repeated(step: AgentStep, around: Plan, choice: Choice, isLeft: boolean): ChildStep {
  const { name, after, when, tolerate: _tolerate, withinMs, pointOfNoReturn: _point, ...rest } = step;
  const isKept = rest.undo === 'none' || choice.chance(KEPT_SHARE);
  const isTolerated = isKept && choice.chance(isLeft ? 0.1 : 0.7);
  const own: AgentStep = { ...rest, name, after: [], recovery: soon(rest, choice) };
  return {
    kind: 'child',
    name,
    after,
    ...(when === undefined ? {} : { when }),
    ...(withinMs === undefined ? {} : { withinMs }),
    plan: planOfRound(around.workflow, choice.chance(0.2) ? 300_000 : HOUR_MS, own),
    undo: isKept ? 'none' : 'required',
    ...(isTolerated ? { tolerate: true } : {}),
    ...rounds({ input: { order: 0, items: [] } }, choice, true, {
      isFinal: isKept && choice.chance(isTolerated ? 0.5 : 0.8),
      tooFew: isTolerated ? 0.4 : isKept ? 0 : 0.2,
    }),
  };
}

const soon = ({ recovery, effect }: Pick<AgentStep, 'recovery' | 'effect'>, choice: Choice) =>
  effect === 'unsafe' || choice.chance(0.4)
    ? recovery
    : [{ kind: 'retry', attempts: choice.pick([0, 0, 1]), firstMs: 500, maxMs: 2_000 } as const];

function rounds(
  { input }: Pick<ChildStep, 'input'>,
  choice: Choice,
  byAgent = false,
  { isFinal = false, tooFew = 0.2 }: { readonly isFinal?: boolean; readonly tooFew?: number } = {},
): Pick<ChildStep, 'input' | 'rounds' | 'recovery'> {
  const given = (key: string): Expr => ({ $ref: 'given', path: [key] });
  const wanted = choice.pick(isFinal ? [3, 4, 5, 6] : [1, 2, 3, 4, 5]);
  const fields = Object.keys(input as object).map((key) => [key, given(key)] as const);
  const recovery = isFinal ? [] : recoveryOf(choice);
  return {
    input: { ...(input as object), marks: MARK },
    rounds: {
      until: {
        $or: [
          { $not: { $exists: { $ref: 'last', path: [] } } },
          { $eq: [{ $length: given('marks') }, wanted] },
        ],
      },
      next: { ...Object.fromEntries(fields), marks: { $concat: [given('marks'), MARK] } },
      atMost: choice.chance(tooFew) ? Math.max(1, wanted - 1) : wanted + choice.between(0, 2),
      ...(byAgent ? { byAgent: true as const } : {}),
    },
    ...(recovery.length === 0 ? {} : { recovery }),
  };
}

/** A later round fails, or a later try: rounds before it have succeeded. */
export const failsLater = ({ repeating, faults }: Host, { executionId }: AttemptContext): boolean =>
  repeating !== undefined && LATER.test(executionId) && !faults.healed() && repeating.chance(LATER_SHARE);

function recoveryOf(choice: Choice): ChildStage[] {
  const tries = { attempts: choice.between(1, 3), firstMs: 500, maxMs: choice.pick([2_000, 60_000]) };
  const recovery: ChildStage[] = choice.chance(0.95) ? [{ kind: 'retry', ...tries }] : [];
  if (choice.chance(0.5))
    recovery.push({
      kind: 'askPerson',
      withinMs: choice.pick([300_000, HOUR_MS]),
      otherwise: choice.pick(['undo', 'keep', 'keep'] as const),
    });
  return recovery;
}
