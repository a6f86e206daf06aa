/**
 * Judges the tries of a child step, by the text of docs/ARCHITECTURE.md and the services' acts.
 *
 * Owns: S10 between tries: a try begins only when all earlier ones are over without effects in place, and its
 * record matches its own report; S9 a declined request is not repeated in the same way. Does not own: the
 * table of moves (`oracle-moves.ts`), effects of a single execution (`oracle.ts`).
 */

import type { Plan, Stage } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Children } from '../../lib/core/records/children.ts';
import { type Snapshot, incidentsIn } from '../../lib/core/records/snapshot.ts';
import { type Execution, isForward, type Step } from '../../lib/core/records/state.ts';
import { keyPartOf } from '../../lib/core/values/names.ts';
import { childrenOf, hasTries, type Others, standsIn } from './families.ts';
import { roundAwaited } from './awaited-rounds.ts';
import type { KindCounts } from './kinds.ts';
import type { Ledger } from './ledger.ts';
import { isRepeatedIn, judgeRoundCreated, judgeRoundRecalled, judgeRounds } from './oracle-rounds.ts';
import { DECLINED } from './service.ts';

export class OracleGroups {
  /** By execution, the versions at which it had, or might have, announced an end. */
  readonly #ends = new Map<string, Map<number, string>>();
  readonly #ledger: Ledger;
  readonly #others: Others;
  readonly #kinds: KindCounts;

  constructor(ledger: Ledger, others: Others, kinds: KindCounts) {
    this.#kinds = kinds;
    this.#ledger = ledger;
    this.#others = others;
  }

  /** Judges a new execution. */
  created(execution: Execution): string[] {
    this.#ends.delete(execution.id);
    if (isOver(execution)) this.#remember(execution);
    // An execution created as canceled is a placeholder: it only takes up the id.
    if (execution.status === 'canceled') return [];
    return [...this.#besideOthers(execution, 'begins'), ...judgeRoundCreated(execution, this.#others)];
  }

  /** @param at true time */
  judge(plan: Plan, before: Snapshot, write: Write, at: number): string[] {
    const { execution, step } = write;
    const now = execution ?? before.execution;
    if (isOver(now)) this.#remember(now);
    const problems = step === undefined ? [] : this.#judgeStep(plan, before, step, execution);
    problems.push(...judgeRoundRecalled(before.execution, write, this.#others, at));
    judgeRounds(problems, plan, before, write, this.#others, this.#kinds);
    const acts = step?.leaseUntil !== undefined && step.token !== before.steps[step.name]?.token;
    // A try that is following up may be announced while the next one runs.
    const follows = before.execution.status === 'following-up';
    if (acts && step.mode === 'execute' && !follows) problems.push(...this.#besideOthers(now, 'acts'));
    return problems;
  }

  #remember({ id, version, status, end }: Execution): void {
    const known = this.#ends.get(id) ?? new Map<number, string>();
    this.#ends.set(id, known.set(version, status).set(end?.version ?? version, end?.status ?? status));
  }

  #besideOthers({ id, parent }: Execution, what: string): string[] {
    const { read, planOf } = this.#others;
    const family = parent && read(parent.executionId);
    const step = parent && planOf(parent.executionId)?.steps.find(({ name }) => name === parent.step);
    if (family === undefined || step === undefined || !hasTries(step)) return [];
    const tries = childrenOf(family.execution, step, read).filter(
      ({ execution }) => execution.parent?.index === parent?.index,
    );
    const own = tries.findIndex(({ execution }) => execution.id === id);
    const isLater = ({ status, version }: Execution): boolean => !(status === 'canceled' && version === 1);
    return tries.flatMap((other, at) => {
      if (at === own) return [];
      const { execution } = other;
      if (at > own && own >= 0)
        return isLater(execution) ? [`S10 it ${what} after ${execution.id}, a later try, was created`] : [];
      // A round that succeeded is followed by another.
      if (execution.status === 'succeeded' && isRepeatedIn(step)) return [];
      if (!isOver(execution) || execution.status === 'succeeded')
        return [`S10 it ${what} while ${execution.id}, an earlier try, is ${execution.status}`];
      return standsIn(other, this.#others, this.#ledger).map(
        (key) => `S10 it ${what} while ${key} of an earlier try is in effect`,
      );
    });
  }

  #judgeStep(
    plan: Plan,
    { execution, steps }: Snapshot,
    after: Step,
    written: Execution | undefined,
  ): string[] {
    const step = plan.steps.find(({ name }) => name === after.name);
    const known = steps[after.name];
    const { children } = after;
    if (step?.kind !== 'child' || children === undefined) return [];
    if (plan.tolerated !== undefined && known?.status === 'running') {
      if (after.status === 'done') this.#kinds.listedDone += 1;
      if (after.status === 'failed') this.#kinds.listedFailed += 1;
    }
    const problems: string[] = [];
    const number = children.rounds?.compensating ?? children.try ?? 1;
    const epoch = children.epoch ?? after.epoch;
    const id = `${execution.id}.${keyPartOf(step.name)}.0${epoch === 1 && number === 1 ? '' : `-e${epoch}t${number}`}`;
    const end = children.ended[0];
    if (end !== undefined && end.version !== known?.children?.ended[0]?.version) {
      const told = this.#ends.get(id)?.get(end.version);
      // A round that waits for its message has no execution, and gets none if it is given up.
      const isNever =
        end.version === 0 &&
        roundAwaited(step, { execution, steps }) !== undefined &&
        this.#others.read(id) === undefined;
      if (told !== end.status && !isNever)
        problems.push(
          `S10 '${step.name}' takes ${end.status} at ${end.version} for the end of ${id}: ${told}`,
        );
    }
    if (after.status === 'done' && known?.status === 'running' && number > 1) this.#kinds.triedAndDone += 1;
    if (known?.status !== 'retrying' || after.status !== 'running') return problems;
    if (written === undefined)
      problems.push(`S10 try ${number} of '${step.name}' is begun without its execution`);
    if (!isForward(execution.status))
      problems.push(`S10 try ${number} of '${step.name}' is begun while ${execution.status}`);
    const stage = step.recovery?.[after.stage - 1];
    const asked = incidentsIn(this.#others.read(execution.id) ?? {}).filter(
      (one) => one.step === step.name && (one.choice === 'retry' || one.choice === 'retry-with-input'),
    ).length;
    const declared = after.stage === 0 ? firstTries(execution, children) : attemptsOf(stage);
    if (after.stageAttempt > declared + asked)
      problems.push(`S9 '${step.name}' is tried for the ${after.stageAttempt}th time of ${declared}`);
    if (stage?.kind === 'retry' && asked === 0 && execution.epoch === 1 && number > 1) {
      const before = `${execution.id}.${keyPartOf(step.name)}.0${number === 2 ? '' : `-e${epoch}t${number - 1}`}`;
      const declined = declinedIn(this.#others.read(before));
      if (declined !== undefined)
        problems.push(`S9 try ${number} of '${step.name}' is as the one whose '${declined}' was declined`);
    }
    const isAsked = known.retryAt !== undefined && asked > 0;
    this.#kinds[isAsked ? 'triedAsAsked' : 'triedAgain'] += 1;
    if (after.keyVariant > 0 || after.keyInput !== undefined) this.#kinds.triedInAnotherWay += 1;
    return problems;
  }
}

/** The step that ended the child, if its service declined the latest attempt in time. */
function declinedIn(child: Snapshot | undefined): string | undefined {
  const { cause } = child?.execution ?? {};
  const step = cause?.kind === 'failure' ? child?.steps[cause.step ?? ''] : undefined;
  const latest = step?.attempts.findLast(({ mode }) => mode === 'execute');
  return latest?.failure?.message === DECLINED && step?.isOverTime !== true ? step?.name : undefined;
}

/** Whether the execution's end is announced or about to be. */
const isOver = ({ status }: Execution): boolean =>
  !isForward(status) && status !== 'paused' && status !== 'compensating';

/**
 * The tries before the current recovery: after a retry of the execution, a failed round begins its recovery
 * again.
 */
const firstTries = ({ epoch }: Execution, { rounds }: Children): number =>
  epoch > 1 && rounds !== undefined ? 1 : 0;

const attemptsOf = (stage: Stage | undefined): number =>
  stage === undefined || stage.kind === 'askPerson' ? 0 : stage.attempts;
