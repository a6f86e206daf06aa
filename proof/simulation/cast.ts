/**
 * The people of a world with approvals by another person: the callers, and the person behind each.
 *
 * Owns: a table of callers and their persons, independent of `core/values/caller.ts`; the approvals in such
 * plans. Does not own: what a person may answer (`oracle-people.ts`). It draws from its own random stream, so
 * other worlds are unchanged.
 */

import type { AgentStep, CallbackStep, Plan, PlanStep } from '../../lib/core/plan/plan.ts';
import type { Caller } from '../../lib/core/values/caller.ts';
import { type Emphasis, LAST_MOMENT, PROCESS_MS } from './emphasis.ts';
import { OraclePeople } from './oracle-people.ts';
import type { Choice } from './plans.ts';

/** An emphasis on frequent questions and unanswered approvals. */
export const ASKING: Emphasis = {
  rates: { noAnswer: 0.9, permanentFailure: 0.2, retried: 0.8 },
  processMs: PROCESS_MS,
  lastMoment: LAST_MOMENT,
  step: (choice, step) =>
    step.effect === 'unsafe' || choice.chance(0.5)
      ? step
      : { ...step, recovery: [{ kind: 'askPerson', withinMs: 3_600_000, otherwise: 'keep' }] },
};

/** The share of workflows that end with an approval. */
const LAST_SHARE = 0.7;

const ROLE = 'arn:aws:sts::123456789012:assumed-role/clerks';
const iam = (name: string): Caller => ({ kind: 'iam', name });
const TRIGGER: Caller = { kind: 'trigger', name: 'nightly' };

/** Users of a role are distinguished only if the deployment says so; IAM ignores case. */
const PERSONS: readonly {
  readonly person: string;
  readonly inRole: string;
  readonly callers: readonly Caller[];
}[] = [
  { person: 'ann', inRole: 'ann', callers: [{ kind: 'jwt', name: 'https://idp.example ann' }] },
  { person: 'bea', inRole: 'bea', callers: [iam('arn:aws:iam::123456789012:user/bea')] },
  { person: 'cleo', inRole: 'clerks', callers: [iam(`${ROLE}/cleo`), iam(`${ROLE}/Cleo`)] },
  { person: 'dan', inRole: 'clerks', callers: [iam(`${ROLE}/dan`)] },
];
const CALLERS = PERSONS.flatMap(({ callers }) => callers);

export class Cast {
  readonly personalRoles: ReadonlySet<string>;
  readonly oracle: OraclePeople;
  readonly #choice: Choice;
  /** Persons by the caller's name. */
  readonly #persons: ReadonlyMap<string, string>;

  constructor(choice: Choice) {
    this.#choice = choice;
    const arePersonal = choice.chance(0.5);
    this.personalRoles = new Set(arePersonal ? ['clerks'] : []);
    this.#persons = new Map(
      PERSONS.flatMap(({ person, inRole, callers }) =>
        callers.map(({ name }) => [name, arePersonal ? person : inRole] as const),
      ),
    );
    this.oracle = new OraclePeople(({ name }) => this.#persons.get(name));
  }

  caller(): Caller {
    return this.#choice.pick(CALLERS);
  }

  /** Picks the starter: a caller, or a trigger (not a person). */
  starter(): Caller {
    return this.#choice.chance(0.15) ? TRIGGER : this.caller();
  }

  /** Adds approvals before some steps, and moves some steps into a child with its own approval. */
  withApprovals(plan: Plan, depth = 0): Plan {
    const choice = this.#choice;
    const steps = plan.steps.flatMap((step): PlanStep[] => {
      const inside: PlanStep =
        step.kind === 'child' ? { ...step, plan: this.withApprovals(step.plan, depth + 1) } : step;
      if (choice.chance(0.5)) return [inside];
      const approval = this.#approval(`ok-${step.name}`, step.after);
      const asking: PlanStep = { ...inside, after: [...step.after, approval.name] };
      if (depth > 0 || inside.kind !== 'agent' || choice.chance(0.6)) return [approval, asking];
      return [approval, this.#asChild(asking as AgentStep, plan.workflow)];
    });
    if (depth > 0 || !choice.chance(LAST_SHARE)) return { ...plan, steps };
    // Adds the last approval after all other steps, some of which people may have retried or skipped.
    const last = this.#approval(
      'ok-last',
      plan.steps.map(({ name }) => name),
    );
    return { ...plan, steps: [...steps, last] };
  }

  #approval(name: string, after: readonly string[]): CallbackStep {
    const choice = this.#choice;
    return {
      kind: 'approval',
      name,
      after,
      withinMs: choice.pick([90_000, 120_000, 600_000]),
      ...(choice.chance(0.8) ? { by: 'another' as const } : {}),
      ...(choice.chance(0.75) ? { otherwise: 'reject' as const } : {}),
      ...(choice.chance(0.3) ? { remindMs: 60_000 } : {}),
    };
  }

  /** Wraps the step in a child workflow with its own approval. */
  #asChild({ name, after, when, pointOfNoReturn, ...rest }: AgentStep, workflow: string): PlanStep {
    const point = pointOfNoReturn === undefined ? {} : { pointOfNoReturn };
    const inner: AgentStep = { ...rest, ...point, name: 's0', after: ['ok'], input: { order: 0 } };
    const plan: Plan = {
      v: 1,
      workflow: `${workflow}-${name}`,
      withinMs: 4 * 3_600_000,
      steps: [this.#approval('ok', []), inner],
      output: {},
    };
    const undo = inner.undo === 'none' ? 'none' : 'required';
    return {
      kind: 'child',
      name,
      after,
      ...(when === undefined ? {} : { when }),
      ...point,
      plan,
      input: { order: 0, flag: true, items: [] },
      undo,
    };
  }
}

/** A random caller; none if this world does not authenticate callers. */
export const callerIn = ({ cast }: { readonly cast: Cast | undefined }): { readonly by?: Caller } =>
  cast === undefined ? {} : { by: cast.caller() };
