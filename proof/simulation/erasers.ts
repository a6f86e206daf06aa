/**
 * The person who erases ended executions, and tries to erase others; and the processes that are frozen
 * meanwhile, and go on with what they have read before.
 *
 * Owns: which worlds have one, what is erased when, starts under an erased key. Does not own: what may be
 * erased (`scheduler/erase.ts`), what is judged (`oracle-erasures.ts`). It draws from its own random stream.
 */

import { BULK } from '../../lib/core/plan/built-in.ts';
import type { Erasure } from '../../lib/core/ports.ts';
import { isSteadfastError } from '../../lib/core/values/errors.ts';
import { erase } from '../../lib/scheduler/erase.ts';
import { seededRandom } from '../../lib/memory/world.ts';
import { type Choice, choiceOf } from './plans.ts';
import { call, type Host, portsOf, type Process, processOutside, schedulerFor } from './process.ts';

/** Another stream than the world's own. */
const ERASE_STREAM = 0x0e_4a_5e_11;
const WORLDS_SHARE = 0.06;

/**
 * The share of found executions, over or not, and of those that belong to another execution, that this person
 * tries to erase.
 */
const ASKED_SHARE = 0.5;
const CHILD_SHARE = 0.05;
/** An erasure without an answer is repeated. */
const AGAIN_MS = 35_000;
/** The share of erased executions whose start comes once more. */
const REPEATED_SHARE = 0.4;

/** The share of the invocations that are frozen at some moment, some for longer than an erasure waits. */
const FROZEN_SHARE = 0.03;
const FROZEN_WITHIN_MS = 100;
const FROZEN_MS = [35_000, 400_000] as const;
/** An erasure waits this long for what such a process had begun. */
const LONG_PROCESS_MS = 420_000;

export function eraserOf(seed: number): Choice | undefined {
  const choice = choiceOf(seededRandom(seed ^ ERASE_STREAM));
  return choice.chance(WORLDS_SHARE) ? choice : undefined;
}

/** @param repeat makes the client of this execution start it once more */
export function startErasers(host: Host, repeat: (executionId: string) => void): void {
  const { erasing, events, external } = host;
  // A file answers like the table, which does not know of erasures there.
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

/** Repeats until there is an answer, as a person does whose call was interrupted. */
function eraseOne(host: Host, id: string, repeat: (id: string) => void): void {
  const { erasing, erasures, events, kinds } = host;
  const process = processOutside(host);
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

/** Some invocations stop in the middle, and go on when others have done their work, and erased it. */
export function freezeSome({ erasing, events, faults }: Host, process: Process): void {
  if (erasing === undefined || faults.healed() || !erasing.chance(FROZEN_SHARE)) return;
  process.processDeadlineAt = events.now + LONG_PROCESS_MS;
  events.plan(erasing.between(5, FROZEN_WITHIN_MS), () => {
    process.frozenUntil = events.now + erasing.between(...FROZEN_MS);
    return false;
  });
}
