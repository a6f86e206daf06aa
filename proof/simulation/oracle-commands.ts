/**
 * Judges operators' commands by the writing process, not by the ids that executions remember.
 *
 * Owns: S22 of commands: an answered command was executed, even if nothing had to change, and a repeat has no
 * effect; a different command with its id is refused; an answer only affects its question. Does not own: bulk
 * actions (`oracle-bulks.ts`), what a command may write (`oracle-operations.ts`).
 */

import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { deedsIn } from './deeds.ts';
import type { Process } from './process.ts';

export interface Given {
  readonly executionId: string;
  /** The execution's life when the command is given: an erased id may get another (seed 52275). */
  readonly life: string;
  readonly commandId: string;
}

interface Call extends Given {
  /** Whether the command had been answered before this call. */
  readonly isRepeated: boolean;
}

/** The question that a person answers. */
export interface Answered {
  readonly executionId: string;
  readonly incident: number;
}

const keyOf = ({ executionId, life, commandId }: Given): string => `${executionId} ${life} ${commandId}`;

export class OracleCommands {
  readonly #answered = new Set<string>();
  readonly #taken: Given[] = [];
  readonly #calls = new WeakMap<Process, Call>();
  readonly #answers = new WeakMap<Process, Answered>();

  /** Notes a call. @returns whether the command was answered before, so that it must have no effect */
  begins(process: Process, given: Given): boolean {
    const isRepeated = this.#answered.has(keyOf(given));
    this.#calls.set(process, { ...given, isRepeated });
    return isRepeated;
  }

  /** Notes that the caller got an answer. */
  answered(given: Given): void {
    this.#answered.add(keyOf(given));
  }

  /** Reports a violation: a different command with a used id was answered as done. */
  answeredAsRepeat(given: Given): void {
    this.#taken.push(given);
  }

  /** Notes that a process answers only this question. */
  answers(process: Process, answer: Answered): void {
    this.#answers.set(process, answer);
  }

  judge(problems: string[], before: Snapshot, write: Write, writer: Process | undefined): void {
    for (const { commandId, executionId } of this.#taken.splice(0))
      problems.push(`S22 another command under id '${commandId}' of ${executionId} is taken for its repeat`);
    const answer = writer && this.#answers.get(writer);
    for (const { what, incident } of answer === undefined ? [] : deedsIn(before, write))
      if (
        what === 'resolved' &&
        (before.execution.id !== answer?.executionId || incident !== answer.incident)
      )
        problems.push(
          `S22 incident ${incident} is resolved by the answer to ${answer?.incident} of ${answer?.executionId}`,
        );
    const call = writer && this.#calls.get(writer);
    const { id, life } = before.execution;
    if (call?.isRepeated !== true || call.executionId !== id || call.life !== life) return;
    for (const { what } of deedsIn(before, write))
      problems.push(`S22 it is ${what} by command '${call.commandId}', which was answered before`);
  }
}
