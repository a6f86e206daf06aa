/**
 * The store as one simulated process sees it: the table in memory, or a world's file.
 *
 * Owns: which of the two answers. Does not own: the cost of a call and what becomes of it (`process.ts`).
 */

import type { Plan } from '../../lib/core/plan/plan.ts';
import type { ListQuery, Store } from '../../lib/core/ports.ts';
import type { Write } from '../../lib/core/decisions/decision.ts';
import type { Snapshot } from '../../lib/core/records/snapshot.ts';
import type { Execution } from '../../lib/core/records/state.ts';
import type { MemoryTable } from '../../lib/memory/table.ts';
import type { Host, Process } from './process.ts';
import { executionSeen, seenIn } from './values.ts';

/** Makes a call as the process does. */
type Ask = <Answer>(execute: () => Answer | Promise<Answer>) => Promise<Answer>;

export class ProcessStore implements Store {
  readonly shards: number;
  readonly #host: Host;
  readonly #ask: Ask;
  readonly #process: Process;
  readonly #table: MemoryTable;

  constructor(host: Host, ask: Ask, process: Process) {
    this.#host = host;
    this.#ask = ask;
    this.#process = process;
    this.#table = host.external.table;
    this.shards = this.#table.shards;
  }

  /** @param asked the same call to a world's file, if it has one */
  #call<Answer>(execute: () => Answer, asked: (store: Store) => Promise<Answer>): Promise<Answer> {
    const { file } = this.#host.external;
    return this.#ask(file === undefined ? execute : () => file.same(execute(), asked));
  }

  /** A call that answers in pages, with cursors of its own. */
  #page<Answer>(execute: () => Answer, asked: (store: Store) => Promise<Answer>): Promise<Answer> {
    const { file } = this.#host.external;
    return this.#ask(file === undefined ? execute : () => file.ask(asked));
  }

  #seen(state: Snapshot | undefined): Snapshot | undefined {
    return this.#host.external.values === undefined ? state : seenIn(state);
  }

  writePlan(hash: string, plan: Plan) {
    return this.#call(
      () => this.#table.writePlan(hash, plan),
      (store) => store.writePlan(hash, plan),
    );
  }
  readPlan(hash: string) {
    return this.#call(
      () => this.#table.readPlan(hash),
      (store) => store.readPlan(hash),
    );
  }
  create(execution: Execution) {
    const { values } = this.#host.external;
    return this.#call(
      () => {
        if (values === undefined) return this.#table.create(execution);
        const made = this.#table.create(values.executionIn(execution));
        return made === 'written' ? made : executionSeen(made);
      },
      (store) => store.create(execution),
    );
  }
  read(id: string) {
    return this.#call(
      () => this.#seen(this.#table.read(id)),
      (store) => store.read(id),
    );
  }
  /** One request for each, and the execution's after all others: anything may be written in between. */
  async readSteps(id: string, names: readonly string[]): Promise<Snapshot | undefined> {
    const parts = names.map((name) =>
      this.#call(
        () => this.#seen(this.#table.readSteps(id, [name])),
        (store) => stepsOf(store, id, name),
      ),
    );
    const steps = (await Promise.all(parts)).map((part) => part?.steps ?? {});
    // Reads it with its input, which a file may have beside the record.
    const execution = await this.#call(
      () => this.#seen(this.#table.read(id))?.execution,
      async (store) => (await (store.readSteps ?? store.read)(id, []))?.execution,
    );
    return (
      execution && { execution, steps: Object.assign({}, ...steps) as Snapshot['steps'], isReadInPart: true }
    );
  }
  readExecution(id: string) {
    return this.#call(
      () => this.#seen(this.#table.read(id))?.execution,
      (store) => store.readExecution(id),
    );
  }
  write(write: Write) {
    const { mail, writers } = this.#host;
    return this.#call(
      () =>
        writers.by(this.#process, () => {
          const whole = this.#asInTable(write);
          return mail.judged(whole, () => this.#table.write(whole));
        }),
      (store) => store.write(write),
    );
  }
  /** In the table every value is in its record. */
  #asInTable(write: Write): Write {
    const { values, file } = this.#host.external;
    if (values !== undefined) return values.writeIn(write);
    return file?.inTable(write, this.#table.read(write.executionId)?.execution) ?? write;
  }
  due(shard: number, untilAt: number, cursor?: string) {
    return this.#page(
      () => this.#table.due(shard, untilAt, cursor),
      (store) =>
        this.#host.external.file?.due(store, shard, untilAt, cursor) ?? store.due(shard, untilAt, cursor),
    );
  }
  readonly list = (query: ListQuery) =>
    this.#page(
      () => this.#table.list(query),
      (store) => store.list(query),
    );
  readonly survey = (endedSince: number, workflows: readonly string[]) =>
    this.#page(
      () => this.#table.survey(endedSince, workflows),
      (store) => store.survey(endedSince, workflows),
    );
  readonly openQuestions = (below?: string) =>
    this.#page(
      () => this.#table.openQuestions(below),
      (store) => store.openQuestions(below),
    );
  inbox(limit: number, cursor?: string) {
    return this.#page(
      () => this.#table.inbox(limit, cursor),
      (store) => store.inbox(limit, cursor),
    );
  }
}

/** The requested step: a store that remembers an execution answers with all of it. */
async function stepsOf(store: Store, id: string, name: string): Promise<Snapshot | undefined> {
  const state = await (store.readSteps ?? store.read)(id, [name]);
  if (state === undefined) return undefined;
  const step = state.steps[name];
  return {
    execution: state.execution,
    steps: step === undefined ? {} : { [name]: step },
    isReadInPart: true,
  };
}
