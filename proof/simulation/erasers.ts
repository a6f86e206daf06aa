/**
 * Simulates a person who erases executions, ended and others, and processes that are frozen meanwhile and
 * continue with old reads.
 *
 * Owns: which worlds have this person, the erasures, starts with an erased key. Does not own: what may be
 * erased (`scheduler/erase.ts`), the judgement (`oracle-erasures.ts`). It draws from its own random stream.
 */

import { BULK } from '../../lib/core/plan/built-in.ts';
import type { Erasure } from '../../lib/core/ports.ts';
import { isSteadfastError } from '../../lib/core/values/errors.ts';
import { retry } from '../../lib/scheduler/commands.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import { seededRandom } from '../../lib/memory/world.ts';
import { giveOnce } from './operators.ts';
import { type Choice, choiceOf } from './plans.ts';
import { call, type Host, portsOf, type Process, processOutside, schedulerFor } from './process.ts';

/** The seed of a separate random stream. */
const ERASE_STREAM = 0x0e_4a_5e_11;
const WORLDS_SHARE = 0.14;

/** The share of executions, ended or not and children included, that this person tries to erase. */
const ASKED_SHARE = 0.5;
const CHILD_SHARE = 0.05;
/** An erasure without an answer is repeated. */
const AGAIN_MS = 35_000;
/** The share of erasures whose process dies in the middle, and when. */
const DIES_SHARE = 0.2;
const DIES_MS = [40, 600] as const;
/** The share of failed executions that are retried meanwhile, and when. */
const RETRIED_SHARE = 0.4;
const RETRIED_MS = [1, 150] as const;
/** The share of erased executions that are started again. */
const REPEATED_SHARE = 0.4;

/** The share of invocations that are frozen, some for longer than an erasure waits. */
const FROZEN_SHARE = 0.03;
const FROZEN_WITHIN_MS = 100;
const FROZEN_MS = [35_000, 400_000] as const;
/** How long an erasure waits for work that such a process has begun. */
const LONG_PROCESS_MS = 420_000;

export function eraserOf(seed: number): Choice | undefined {
  const choice = choiceOf(seededRandom(seed ^ ERASE_STREAM));
  return choice.chance(WORLDS_SHARE) ? choice : undefined;
}

/** @param repeat makes the client of this execution start it once more */
export function startErasers(host: Host, repeat: (executionId: string) => void): void {
  const { erasing, events, external } = host;
  // Worlds over a file have no erasers, because the file's store does not see erasures of the table.
  if (erasing === undefined || external.file !== undefined) return;
  const look = (): void => {
    for (const id of external.table.ids()) {
      if (id.startsWith(BULK.name)) continue;
      if (erasing.chance(id.includes('.') ? CHILD_SHARE : ASKED_SHARE)) eraseOne(host, id, repeat);
    }
    if (!host.over()) events.plan(erasing.between(15_000, 60_000), look);
  };
  events.plan(erasing.between(30_000, 90_000), look);
}

/** Repeats the call until there is an answer. */
function eraseOne(host: Host, id: string, repeat: (id: string) => void): void {
  const { erasing, erasures, events, faults, kinds } = host;
  const process = processOutside(host);
  if (!faults.healed() && erasing?.chance(DIES_SHARE) === true)
    process.processDeadlineAt = events.now + erasing.between(...DIES_MS);
  retryMeanwhile(host, id);
  const ports = Object.assign(portsOf(host, process), { erasure: erasureFor(host, process) });
  let isAnswered = false;
  const began = erasures.asked(id);
  erase({ ...schedulerFor(host, process), ports }, id).then(
    ({ status }) => {
      isAnswered = status === 'erased';
      if (!isAnswered) return;
      began.over();
      if (erasing?.chance(REPEATED_SHARE) === true)
        events.plan(erasing.between(10, 200_000), () => repeat(id));
    },
    (error: unknown) => {
      isAnswered = isSteadfastError(error);
      if (!isSteadfastError(error)) return;
      if (error.code === 'unknown-execution') began.over();
      else {
        began.refused();
        kinds.eraseRefused += 1;
      }
    },
  );
  events.plan(AGAIN_MS, () => {
    if (isAnswered) return false;
    kinds.eraseAgain += 1;
    return eraseOne(host, id, repeat);
  });
}

/** Retries a failed execution while it is being erased: it is either open again, or gone. */
function retryMeanwhile(host: Host, id: string): void {
  const { erasing, events, external, faults } = host;
  // After the heal an execution that fails whenever it is retried would never end (seed 56232).
  if (faults.healed()) return;
  const { status, epoch = 0, parent } = external.table.read(id)?.execution ?? {};
  if (status !== 'failed' || parent !== undefined || erasing?.chance(RETRIED_SHARE) !== true) return;
  events.plan(erasing.between(...RETRIED_MS), () =>
    giveOnce(host, id, `retry-${epoch}`, (to, asked) => retry(to, id, asked)),
  );
}

function erasureFor(host: Host, process: Process): Erasure {
  const { erasures, external, outages } = host;
  const { table, values } = external;
  const ask = <Answer>(execute: () => Answer): Promise<Answer> =>
    call(host, process, execute, outages.storeIsAway).then((answer) => answer as Answer);
  return {
    recordsOf: (id) => ask(() => table.recordsOf(id)),
    remove: (found) => ask(() => erasures.remove(found)),
    ...(values === undefined
      ? {}
      : {
          values: {
            list: (prefix: string) => ask(() => values.list(prefix)),
            remove: (keys: readonly string[]) => ask(() => values.remove(keys)),
          },
        }),
  };
}

/** Freezes some invocations, which continue when others have done their work and erased it. */
export function freezeSome({ erasing, events, faults }: Host, process: Process): void {
  if (erasing === undefined || faults.healed() || !erasing.chance(FROZEN_SHARE)) return;
  process.processDeadlineAt = events.now + LONG_PROCESS_MS;
  events.plan(erasing.between(5, FROZEN_WITHIN_MS), () => {
    process.frozenUntil = events.now + erasing.between(...FROZEN_MS);
    return false;
  });
}
