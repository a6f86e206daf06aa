/**
 * Judges the rounds of a step, by the text of docs/ARCHITECTURE.md and each execution's own record.
 *
 * Owns, independently of the rules: S10 a round begins after the recorded success of the previous one, and
 * rounds are undone in reverse, one at a time; S6 none is repeated or left out; L1 their limit. Does not own:
 * tries of one round (`oracle-groups.ts`), effects of a single execution (`oracle.ts`).
 */

import type { ChildStep, Plan, PlanStep, RoundMessage, Rounds } from '../../lib/core/plan/plan.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { type Execution, hasEnd, type Step } from '../../lib/core/records/state.ts';
import { canonicalJson, type Json } from '../../lib/core/values/json.ts';
import { actsUntilOf, childrenOf, type Others } from './families.ts';
import type { KindCounts } from './kinds.ts';
import { bodyOf } from './mail-book.ts';
import { CLOCKS_DIFFER_MS } from './oracle-wake.ts';
import { MARK, wantedRounds } from './rounds.ts';

type Repeated = ChildStep & { readonly rounds: Rounds };

export const isRepeatedIn = (step: PlanStep | undefined): step is Repeated =>
  step?.kind === 'child' && step.rounds !== undefined;

const marksOf = ({ input }: Execution): string | undefined =>
  (input as { readonly marks?: string } | null)?.marks;

const hasBegun = ({ status, version }: Execution): boolean => !(status === 'canceled' && version === 1);

/** Judges the creation of an execution that is a round of a step. */
export function judgeRoundCreated(execution: Execution, { read, planOf }: Others): string[] {
  const { parent, id } = execution;
  const around = parent && read(parent.executionId);
  const step = parent && planOf(parent.executionId)?.steps.find(({ name }) => name === parent.step);
  if (around === undefined || !isRepeatedIn(step) || !hasBegun(execution)) return [];
  const others = childrenOf(around.execution, step, read).filter((one) => one.execution.id !== id);
  const done = others.filter((one) => one.execution.status === 'succeeded').length;
  const marks = marksOf(execution);
  const isGiven = [execution, ...others.map((one) => one.execution)].some(
    (one) => marksOf(one) === undefined,
  );
  const problems: string[] = [];
  const { keyInput } = around.steps[step.name] ?? {};
  if (keyInput !== undefined && canonicalJson(keyInput) !== canonicalJson(execution.input))
    problems.push(`S18 round ${id} is given another input than a person gave`);
  if (!isGiven && marks !== MARK.repeat(done + 1))
    problems.push(`S6 round ${id} is given ${marks} after ${done} that succeeded`);
  judgeRoundMessage(
    problems,
    execution,
    around.steps[step.name],
    done === 0 ? step.rounds.first : step.rounds.message,
  );
  if (done >= step.rounds.atMost) problems.push(`L1 round ${id} is one too many: ${done} have succeeded`);
  if (!isGiven && done >= wantedRounds(step.rounds))
    problems.push(`S6 round ${id} begins after the one that was to be the last`);
  return problems;
}

/** Judges a round's input: the message that it took, or a person's input; later tries have the same. */
function judgeRoundMessage(
  problems: string[],
  { id, input }: Execution,
  record: Step | undefined,
  begins: RoundMessage | undefined,
): void {
  const { rounds } = record?.children ?? {};
  if (rounds?.awaits !== undefined)
    problems.push(`M3 round ${id} begins without the message that it waits for`);
  if (begins === undefined || record?.keyInput !== undefined) return;
  if (canonicalJson(rounds?.input ?? null) !== canonicalJson(input))
    problems.push(`M3 round ${id} is given another input than is recorded`);
  const { message = null } = (input ?? {}) as { readonly message?: Json };
  const taken = rounds?.received === undefined ? null : bodyOf(rounds.received.id);
  if (canonicalJson(message) !== canonicalJson(taken))
    problems.push(`M3 round ${id} is given another message than it took`);
}

/** Judges the recall of a successful round. @param before its record @param now true time */
export function judgeRoundRecalled(
  before: Execution,
  { execution }: Write,
  others: Others,
  now: number,
): string[] {
  const { read, planOf } = others;
  const { parent, status, id } = before;
  if (parent === undefined || status !== 'succeeded' || execution?.status !== 'compensating') return [];
  const around = read(parent.executionId);
  const step = planOf(parent.executionId)?.steps.find(({ name }) => name === parent.step);
  if (around === undefined || !isRepeatedIn(step)) return [];
  const all = childrenOf(around.execution, step, read);
  const later = all.slice(all.findIndex((one) => one.execution.id === id) + 1);
  const open = later.find(
    ({ execution: one }) => !hasEnd(one) || one.status === 'succeeded' || one.end?.status === 'succeeded',
  )?.execution;
  if (open !== undefined)
    return [`S10 round ${id} is taken back while ${open.id}, a later one, is ${open.status}`];
  const leftMs = Math.max(0, ...later.map((one) => actsUntilOf(one, others))) - now;
  return leftMs > CLOCKS_DIFFER_MS
    ? [`S10 round ${id} is taken back while a later one may act for ${leftMs} ms`]
    : [];
}

/** @param before the records of the execution that has the rounds */
export function judgeRounds(
  problems: string[],
  plan: Plan,
  before: Snapshot,
  { step: after, execution }: Write,
  { read }: Others,
  kinds: KindCounts,
): void {
  const step = plan.steps.find(({ name }) => name === after?.name);
  if (after?.children === undefined || !isRepeatedIn(step)) return;
  const known = before.steps[after.name];
  const from = known?.children?.rounds;
  const to = after.children.rounds;
  if ((to?.done ?? 0) > (from?.done ?? 0)) {
    kinds.roundBegun += 1;
    if (execution === undefined)
      problems.push(`S10 a round of '${step.name}' is begun without its execution`);
    if (!['running', 'waiting'].includes(before.execution.status))
      problems.push(`S10 a round of '${step.name}' is begun while ${before.execution.status}`);
    if (after.stage > 0 || after.stageAttempt > 0)
      problems.push(`S9 a round of '${step.name}' is charged with tries of the one before`);
    if (known?.children?.ended[0]?.status !== 'succeeded')
      problems.push(`S10 a round of '${step.name}' is begun, and no success of the one before is recorded`);
    // A retry of the execution begins it again (seed 51672).
    if (known?.children?.stop !== undefined && known.epoch === before.execution.epoch)
      problems.push(`L1 a round of '${step.name}' is begun although its time is over`);
    if ((from?.left === true || known?.children?.ended[0]?.left === true) && to?.left !== true)
      problems.push(`S20 a round of '${step.name}' has left something, which the next forgets`);
    const { restartedAfter = {} } = after.children;
    for (const [number, version] of Object.entries(known?.children?.restartedAfter ?? {}))
      if ((restartedAfter[number] ?? 0) < version)
        problems.push(`S10 '${step.name}' forgets after which end its round ${number} went on`);
  }
  if (to?.compensating !== undefined && to.compensating !== from?.compensating) kinds.roundUndone += 1;
  if (after.status === 'running' && (to?.done ?? 0) > 0 && to?.done === from?.done) {
    if (known?.status === 'retrying') kinds.roundTriedAgain += 1;
    if (known?.status === 'failed' || known?.status === 'fenced') kinds.roundGoesOn += 1;
  }
  if (after.failure?.code === 'too-many-rounds' && known?.status === 'running') kinds.roundsAtMost += 1;
  if (after.status === 'tolerated' && (to?.done ?? 0) > 0) kinds.roundsTolerated += 1;
  if (after.status === 'done' && known?.status === 'running')
    judgeDone(problems, step, before, after, read, kinds);
}

/** Judges that all rounds were done, once each, and that their answers are recorded. */
function judgeDone(
  problems: string[],
  step: Repeated,
  { execution }: Snapshot,
  after: Step,
  read: Others['read'],
  kinds: KindCounts,
): void {
  const all = childrenOf(execution, step, read).map((one) => one.execution);
  const done = all.filter(({ status }) => status === 'succeeded');
  const output = after.output as { readonly rounds: number; readonly items?: readonly unknown[] };
  kinds.roundsDone += done.length > 1 ? 1 : 0;
  if (output.rounds !== done.length || (output.items?.length ?? done.length) !== done.length)
    problems.push(
      `S6 '${step.name}' is done after ${output.rounds} rounds, and ${done.length} have succeeded`,
    );
  if (done.some((one) => marksOf(one) === undefined)) return;
  if (done.length !== wantedRounds(step.rounds))
    problems.push(`S6 '${step.name}' is done after ${done.length} rounds of ${wantedRounds(step.rounds)}`);
}
