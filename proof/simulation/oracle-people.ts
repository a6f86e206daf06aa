/**
 * Judges four eyes by the writes and the times of calls, not by the product's own entries.
 *
 * Owns: S19: a book of each person's acts in a tree, and of each approval's call with the length of the book
 * then; each record names the caller. Does not own: the person behind a caller (`cast.ts`).
 *
 * Earlier acts of a person exclude an approval by that person; of two simultaneous acts, either may count as
 * first. If two approvals of a tree need another person, one person can give only one of them.
 */

import { isForAnother, type Plan } from '../../lib/core/plan/plan.ts';
import type { Caller } from '../../lib/core/values/caller.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import { type Choice, type Incident, asIncident } from '../../lib/core/records/question.ts';
import { isJsonObject } from '../../lib/core/values/json.ts';
import { type Snapshot, incidentIn } from '../../lib/core/records/snapshot.ts';
import type { Execution, Step } from '../../lib/core/records/state.ts';
import type { KindCounts } from './kinds.ts';

interface Deed {
  readonly person: string;
  readonly what: string;
  /** The approval, if it must come from another person. */
  readonly approval?: string;
}

/** The acts in one life of a tree. */
interface Book {
  readonly life: string;
  readonly deeds: Deed[];
}

interface Call {
  readonly caller: Caller;
  readonly life: string;
  /** How many acts were in the book when the call was made. */
  readonly known: number;
}

/** Choices that make an execution go on. */
const GOES_ON: ReadonlySet<Choice | undefined> = new Set([
  'retry',
  'retry-with-input',
  'give-output',
  'skip',
  'continue',
  'resume',
] as const);

export class OraclePeople {
  readonly #personOf: (caller: Caller) => string | undefined;
  readonly #books = new Map<string, Book>();
  readonly #calls: Call[] = [];

  constructor(personOf: (caller: Caller) => string | undefined) {
    this.#personOf = personOf;
  }

  /** Notes the call of an approval's answer. @returns the mark for the answer */
  call(root: Execution, caller: Caller): string {
    const { life, deeds } = this.#bookOf(root);
    this.#calls.push({ caller, life, known: deeds.length });
    return `call-${this.#calls.length - 1}`;
  }

  /** Notes a call that answers approvals in any trees, so that no earlier acts are known. */
  callForMany(caller: Caller): string {
    this.#calls.push({ caller, life: '', known: 0 });
    return `call-${this.#calls.length - 1}`;
  }

  #bookOf({ id, life, startedBy }: Execution): Book {
    const known = this.#books.get(id);
    if (known?.life === life) return known;
    const person = startedBy && this.#personOf(startedBy);
    const book: Book = { life, deeds: person === undefined ? [] : [{ person, what: 'started it' }] };
    this.#books.set(id, book);
    return book;
  }

  /** @param root the current record of the tree's root */
  judge(
    problems: string[],
    plan: Plan,
    before: Snapshot,
    { execution, step, question }: Write,
    root: Execution | undefined,
    kinds: KindCounts,
  ): void {
    // The write is of an earlier life, whose root is gone.
    if (root === undefined) return;
    const book = this.#bookOf(root);
    if (root.startedBy === undefined) problems.push('S19 who started it is not recorded');
    if (execution !== undefined) this.#noteCommands(problems, before.execution, execution, book);
    const incident = asIncident(question);
    if (incident !== undefined)
      this.#noteAnswer(problems, incidentIn(before, incident.number), incident, book);
    if (step !== undefined) this.#judgeApproval(problems, plan, before, step, book, kinds);
  }

  #note(problems: string[], book: Book, caller: Caller | undefined, what: string, approval?: string): void {
    if (caller === undefined) return void problems.push(`S19 who ${what} is not recorded`);
    const person = this.#personOf(caller);
    if (person === undefined) return void problems.push(`S19 '${caller.name}' ${what}, and never called`);
    book.deeds.push({ person, what, ...(approval === undefined ? {} : { approval }) });
  }

  #noteCommands(problems: string[], before: Execution, after: Execution, book: Book): void {
    const retry = after.retries?.at(-1);
    // A child may also be retried because its parent is, without a person's request for the child.
    const isAsked = after.parent === undefined;
    if (retry !== undefined && retry.at !== before.retries?.at(-1)?.at && isAsked)
      this.#note(problems, book, retry.by, 'tried it again');
    const pause = after.pauses?.at(-1);
    if (pause !== undefined && pause.number !== before.pauses?.at(-1)?.number && pause.by === undefined)
      problems.push('S19 who paused it is not recorded');
    const { cause } = after;
    const isCanceled = cause?.kind === 'cancel' && before.cause === undefined;
    if (isCanceled && cause.by === undefined) problems.push('S19 who canceled it is not recorded');
  }

  #noteAnswer(problems: string[], before: Incident | undefined, after: Incident, book: Book): void {
    const { closedBy, choice, kind, caller, number } = after;
    if (closedBy !== 'answer' || before?.closedAt !== undefined) return;
    // Ending a pause is not an act that makes the execution go on.
    if (GOES_ON.has(choice) && kind !== 'pause')
      return this.#note(problems, book, caller, `resolved incident ${number}: ${choice}`);
    if (caller === undefined) problems.push(`S19 who resolved incident ${number} is not recorded`);
  }

  #judgeApproval(
    problems: string[],
    plan: Plan,
    before: Snapshot,
    record: Step,
    book: Book,
    kinds: KindCounts,
  ): void {
    const { name, by } = record;
    const planned = plan.steps.find((one) => one.name === name);
    if (planned?.kind !== 'approval') return;
    const mark = markOf(record);
    if (mark === undefined || mark === markOf(before.steps[name])) return;
    const call = this.#calls[Number(mark.slice('call-'.length))];
    if (call === undefined || by?.name !== call.caller.name || by.kind !== call.caller.kind)
      return void problems.push(`S19 approval '${name}' is recorded as of ${by?.name}, who did not call`);
    const person = this.#personOf(call.caller);
    const approval = `${before.execution.id}/${name}`;
    if (isForAnother(planned)) {
      const seen = call.life === book.life ? call.known : 0;
      const against = book.deeds.find(
        (deed, at) =>
          deed.person === person && deed.approval !== approval && (at < seen || deed.approval !== undefined),
      );
      if (against !== undefined)
        problems.push(`S19 approval '${name}' is answered by '${by.name}', who ${against.what}`);
      kinds.approvedByAnother += 1;
    }
    // A rejection is not an act.
    if (record.output === undefined) return;
    const ofAnother = isForAnother(planned) ? approval : undefined;
    this.#note(problems, book, by, `approved '${approval}'`, ofAnother);
  }
}

/** The call's mark in an answer. */
function markOf(record: Step | undefined): string | undefined {
  const { output, failure } = record ?? {};
  const comment = isJsonObject(output ?? null) ? (output as { comment?: unknown }).comment : undefined;
  const said = typeof comment === 'string' ? comment : failure?.message;
  return said?.startsWith('call-') === true ? said : undefined;
}
