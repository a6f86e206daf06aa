/**
 * The task of an attempt: its input and its output, loaded if they are stored outside the table.
 *
 * Owns: the values that an attempt reads, how long loading is tried, and the report if it fails. Does not
 * own: calling the author's code (`author-code.ts`), the lease meanwhile (`attempt.ts`).
 *
 * After a failed load nothing was executed: the recovery decides about a retry, and the failure shows nothing
 * about the service.
 */

import { leftOutIn, lostValue } from '../core/step/left-out.ts';
import { evaluateExpression } from '../core/plan/refs.ts';
import type { AgentStep } from '../core/plan/plan.ts';
import type { AttemptContext } from '../core/plan/agent.ts';
import type { Report } from '../core/decisions/events.ts';
import type { Ports } from '../core/ports.ts';
import { holderOf, isLost, outputIn } from '../core/records/large-values.ts';
import type { Snapshot } from '../core/records/snapshot.ts';
import type { LeasedStep } from '../core/records/state.ts';
import { scopeOf } from '../core/step/turn.ts';
import { type Failure, failureOf } from '../core/values/failure.ts';
import { defined } from '../core/values/defined.ts';
import { copyOf } from '../core/values/json.ts';
import { withValues } from '../engine/large-values.ts';
import { perform, type Task, type Worker } from './author-code.ts';

/** How often loading is tried, and the pause after the first try. */
const LOADS = 4;
const LOAD_RETRY_MS = 200;

/** Performs the attempt with what it reads. Never rejects. */
export async function performLoaded(
  ports: Ports,
  worker: Worker,
  planStep: AgentStep,
  state: Snapshot,
  ctx: AttemptContext,
): Promise<Report> {
  const task = (known: Snapshot): Task => taskOf(ports, planStep, known, ctx);
  if (ports.largeValues === undefined) return perform(worker, task(state));
  for (let tries = 1, waitMs = LOAD_RETRY_MS; ; tries += 1, waitMs *= 2) {
    try {
      const { made, state: known } = await withValues(ports, state, task);
      const lost = lostFor(planStep, known, made);
      return lost === undefined ? await perform(worker, made) : notLoaded(made.mode, lost);
    } catch (error) {
      if (tries >= LOADS || ctx.timeLeftMs() < waitMs)
        return notLoaded(modeOf(planStep, state), unread(error));
      await ports.clock.sleep(waitMs);
    }
  }
}

function taskOf(ports: Ports, planStep: AgentStep, state: Snapshot, ctx: AttemptContext): Task {
  const record = state.steps[planStep.name] as LeasedStep;
  const input =
    record.keyInput === undefined ? evaluateExpression(planStep.input, scopeOf(state)) : record.keyInput;
  const isPlanned = record.mode === 'execute' && record.keyInput === undefined;
  const refused = isPlanned ? leftOutIn(planStep.input, state) : undefined;
  const output = outputIn(state, record);
  // Copies, so that the author's code cannot change the records that its input comes from.
  const task = { mode: record.mode, ctx, input: copyOf(input), output: copyOf(output) };
  return { ...task, place: ports, ...defined({ refused }) };
}

const modeOf = ({ name }: AgentStep, { steps }: Snapshot): Task['mode'] => (steps[name] as LeasedStep).mode;

/** The failure if a value that the task reads is lost. */
function lostFor({ name, input }: AgentStep, state: Snapshot, { mode }: Task): Failure | undefined {
  if (state.values === undefined || state.values.lost.size === 0) return undefined;
  const { keyInput, outputAt: ref } = state.steps[name] as LeasedStep;
  const ofInput = keyInput === undefined ? leftOutIn(input, state) : undefined;
  if (ofInput !== undefined) return ofInput;
  const isOutputLost = ref !== undefined && isLost(state, { holder: holderOf(name), ref });
  return mode === 'undo' && isOutputLost ? lostValue('its output', ref.bytes) : undefined;
}

/** How the failure begins if the value may be there at the next attempt. */
export const NOT_LOADED = 'it reads a large value that cannot be loaded';

const unread = (error: unknown): Failure => ({
  code: 'value-lost',
  message: `${NOT_LOADED}: ${failureOf(error).code}`,
});

const notLoaded = (mode: Task['mode'], failure: Failure): Report =>
  mode === 'probe'
    ? { kind: 'found', codeReturned: true, verdict: 'cannot-tell', failure }
    : { kind: 'failed', codeReturned: true, permanent: false, failure };
