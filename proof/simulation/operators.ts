/**
 * Simulates operators who pause, resume and retry executions.
 *
 * Owns: when each command is given. Some pauses are never resumed, so that their deadline passes. A command
 * without an answer is repeated with the same id.
 */

import type { Caller } from '../../lib/core/values/caller.ts';
import type { Ended } from '../../lib/core/records/ended.ts';
import type { Json } from '../../lib/core/values/json.ts';
import { type Execution, isForward } from '../../lib/core/records/state.ts';
import { pause, resume, retry } from '../../lib/scheduler/commands.ts';
import type { Scheduler } from '../../lib/scheduler/start.ts';
import { isSteadfastError } from '../../lib/core/values/errors.ts';
import { callerIn } from './cast.ts';
import type { Given } from './oracle-commands.ts';
import { type Host, type Process, processOutside, schedulerFor } from './process.ts';
import { tryAgentsNow } from './try-now.ts';
import { pauseAgents } from './whole-pauses.ts';

/** Lets operators act from time to time; after the heal they end their pauses. */
export function startOperators(host: Host): void {
  const { choice, events, external } = host;
  const forgotten = new Set<string>();
  const look = (): void => {
    for (const id of external.table.ids()) {
      const execution = external.table.read(id)?.execution;
      if (execution !== undefined) command(host, execution, forgotten);
    }
    if (!host.over()) events.plan(choice.between(5_000, 60_000), look);
  };
  events.plan(choice.between(1_000, 30_000), look);
  pauseAgents(host);
  tryAgentsNow(host);
}

function command(host: Host, execution: Execution, forgotten: Set<string>): void {
  const { choice, faults } = host;
  const { id, status, epoch, pauses } = execution;
  const number = pauses?.at(-1)?.number ?? 0;
  const ofPause = `${id}/${number}`;
  if (status === 'paused') {
    pauseOnceMore(host, id, number);
    if (!forgotten.has(ofPause) && choice.chance(0.3))
      give(host, id, `resume-${number}`, (to, asked) => resume(to, id, asked));
  } else if (isForward(status) && faults.injects('paused')) {
    if (choice.chance(0.3)) forgotten.add(`${id}/${number + 1}`);
    const withinMs = choice.pick([20_000, 120_000, LONGEST_PAUSE_MS]);
    give(host, id, `pause-${number + 1}`, (to, asked) => pause(to, id, { ...asked, withinMs }));
  } else if ((status === 'failed' || status === 'waiting') && faults.injects('retried')) {
    const other = status === 'failed' ? otherInput(host, execution) : {};
    give(host, id, `retry-${epoch}`, (to, asked) => retry(to, id, { ...asked, ...other }));
  }
}

/**
 * Another input for the failed agent's step of most executions, chosen by their ids so that no other choice
 * changes.
 */
function otherInput({ external }: Host, { id, epoch }: Execution): { input?: Json; step?: string } {
  const number = Number.parseInt(id.slice(-1), 36) + epoch;
  const { steps = {} } = external.table.read(id) ?? {};
  const failed = Object.values(steps).find(({ status }) => status === 'failed');
  if (number % 4 === 0 || failed === undefined || failed.children !== undefined) return {};
  return { input: { given: true, epoch }, step: failed.name };
}

/** Sometimes retries a failed execution at once, while a child's on-failure steps may be running. */
export function retryAtOnce(host: Host, { executionId: id, status }: Ended): void {
  const { onFailure, events, external, faults } = host;
  if (onFailure === undefined || status !== 'failed' || faults.healed() || onFailure.chance(0.1)) return;
  events.plan(onFailure.between(20, 300), () => {
    const { epoch } = external.table.read(id)?.execution ?? {};
    if (epoch !== undefined) give(host, id, `retry-${epoch}`, (to, asked) => retry(to, id, asked));
  });
}

/** The share of paused executions that are paused a second time, in a world with bulk actions. */
const PAUSED_AGAIN = 0.25;

/** The longest pause, so that a world ends in bounded time. */
export const LONGEST_PAUSE_MS = 1_200_000;

/** Gives a second pause, which may have no effect, or come after the resume. */
function pauseOnceMore(host: Host, id: string, number: number): void {
  if (host.bulks?.choice.chance(PAUSED_AGAIN) === true)
    give(host, id, `pause-too-${number}`, (to, asked) =>
      pause(to, id, { ...asked, withinMs: LONGEST_PAUSE_MS }),
    );
}

type Ask = (
  scheduler: Scheduler,
  asked: { readonly commandId: string; readonly by?: Caller },
) => Promise<unknown>;

/** The share of commands that are repeated, after this time, in a world with bulk actions. */
const REPEATED_SHARE = 0.3;
const REPEATED_MS = [2_000, 90_000] as const;

/** Gives a command; impatient operators give it twice. */
export function give(host: Host, executionId: string, commandId: string, ask: Ask): void {
  const isTwice = host.choice.chance(0.2);
  giveOnce(host, executionId, commandId, ask);
  if (isTwice) giveOnce(host, executionId, commandId, ask);
}

/** Gives a command once, and again later after a refusal or a lost answer. */
export function giveOnce(host: Host, executionId: string, commandId: string, ask: Ask): void {
  const { bulks, events, faults, kinds } = host;
  const once = (): void => {
    const { life = '' } = host.external.table.read(executionId)?.execution ?? {};
    const given = { executionId, life, commandId };
    const asked = { commandId, ...callerIn(host) };
    const process = processOutside(host);
    const isRepeated = bulks?.commands.begins(process, given) === true;
    if (isRepeated && asksAnother(given)) return askAnother(host, process, given);
    if (isRepeated) kinds.commandRepeated += 1;
    ask(schedulerFor(host, process), asked).then(
      () => bulks?.commands.answered(given),
      () => undefined,
    );
  };
  once();
  if (bulks?.choice.chance(REPEATED_SHARE) === true && !faults.healed())
    events.plan(bulks.choice.between(...REPEATED_MS), once);
}

/** Chosen by its id, so that no other choice of the world changes. */
const asksAnother = ({ executionId, commandId }: Given): boolean =>
  (executionId.charCodeAt(executionId.length - 1) + commandId.length) % 3 === 0;

/** Uses the id for a different command, which must be refused. */
function askAnother(host: Host, process: Process, given: Given): void {
  const { executionId, commandId } = given;
  const asked = { commandId, withinMs: 1, ...callerIn(host) };
  pause(schedulerFor(host, process), executionId, asked).then(
    () => host.bulks?.commands.answeredAsRepeat(given),
    (error: unknown) => {
      if (isSteadfastError(error) && error.code === 'key-reused') host.kinds.commandReused += 1;
    },
  );
}
