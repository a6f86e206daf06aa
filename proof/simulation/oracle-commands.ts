/**
 * Commands that operators give, judged by the writing process, not by the ids that executions remember.
 *
 * Owns: S22 of commands: an answered command has been obeyed, even if nothing had to change, and does nothing
 * when it is repeated; another command under its id is refused; an answer counts for the question that it was
 * given to. Does not own: bulk actions (`oracle-bulks.ts`), what a command may write
 * (`oracle-operations.ts`).
 */

import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import { deedsIn } from './deeds.ts';
import type { Process } from './process.ts';

export interface Given {
  readonly executionId: string;
  readonly commandId: string;
}

interface Call extends Given {
  /** The command had been answered before this call began. */
  readonly isRepeated: boolean;
}

/** The question that a person answers. */
export interface Answered {
  readonly executionId: string;
  readonly incident: number;
}

const keyOf = ({ executionId, commandId }: Given): string => `${executionId} ${commandId}`;

export class OracleCommands {
  readonly #answered = new Set<string>();
  readonly #taken: Given[] = [];
  readonly #calls = new WeakMap<Process, Call>();
  readonly #answers = new WeakMap<Process, Answered>();

  /** @returns whether it was answered before, so that it must do nothing */
  begins(process: Process, { executionId, commandId }: Given): boolean {
    const isRepeated = this.#answered.has(keyOf({ executionId, commandId }));
    this.#calls.set(process, { executionId, commandId, isRepeated });
    return isRepeated;
  }

  /** The command was obeyed, as far as its caller knows. */
  answered(given: Given): void {
    this.#answered.add(keyOf(given));
  }

  /** Another command with another request under its id was answered as if it were done. */
  answeredAsRepeat(given: Given): void {
    this.#taken.push(given);
  }

  /** The execution is erased, and its commands with it: its key may start another one. */
  forget(executionId: string): void {
    for (const key of this.#answered) if (key.startsWith(`${executionId} `)) this.#answered.delete(key);
  }

  /** A process outside answers this question and does nothing else. */
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
    if (call?.isRepeated !== true || call.executionId !== before.execution.id) return;
    for (const { what } of deedsIn(before, write))
      problems.push(`S22 it is ${what} by command '${call.commandId}', which was answered before`);
  }
}
