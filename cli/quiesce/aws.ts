/**
 * An AWS account as quiesce needs it.
 *
 * Owns: what of the table is read. Does not own: which parts there are (`deployment.ts`), what stopping means
 * for each kind (`kinds.ts`), where former states are kept (`kept.ts`), the order (`order.ts`).
 */

import { ENV, TABLE } from '../../lib/aws/names.ts';
import { CliError } from '../io.ts';
import type { Account, Former, Leases, Part, Value } from './account.ts';
import type { Answer, Calls } from '../aws/calls.ts';
import { Deployment } from './deployment.ts';
import { Kept } from './kept.ts';
import { KINDS, STOPPED } from './kinds.ts';

export class AwsAccount implements Account {
  readonly #calls: Calls;
  readonly #deployment: Deployment;
  readonly #kept: Kept;

  /** @param left as `Deployment` takes it */
  constructor(calls: Calls, stack: string, left: readonly string[] = []) {
    this.#calls = calls;
    this.#deployment = new Deployment(calls, stack, left);
    this.#kept = new Kept(calls, stack);
  }

  find(): Promise<readonly Part[]> {
    return this.#deployment.parts();
  }

  state({ kind, id }: Former | Part): Promise<Value | undefined> {
    return KINDS[kind].state(this.#calls, id);
  }

  stop({ kind, id }: Former): Promise<boolean> {
    return KINDS[kind].set(this.#calls, id, STOPPED);
  }

  restore({ kind, id, state }: Former): Promise<boolean> {
    return KINDS[kind].set(this.#calls, id, state);
  }

  async isStopped({ kind, id }: Former | Part): Promise<boolean> {
    const state = await KINDS[kind].state(this.#calls, id);
    return state === undefined || KINDS[kind].isStopped(state);
  }

  runs({ kind, id }: Former): Promise<boolean> {
    return KINDS[kind].runs(this.#calls, id);
  }

  async leases(at: number): Promise<Leases> {
    let count = 0;
    let lastAt = 0;
    const found = this.#scan({
      ConsistentRead: true,
      FilterExpression: 'leaseUntil > :at OR processDeadlineAt > :at',
      ExpressionAttributeValues: { ':at': { N: String(at) } },
      ProjectionExpression: 'leaseUntil, processDeadlineAt',
    });
    for await (const page of found) {
      for (const item of (page['Items'] ?? []) as readonly Record<string, { readonly N: string }>[]) {
        count += 1;
        lastAt = Math.max(lastAt, ...Object.values(item).map(({ N }) => Number(N)));
      }
    }
    return { count, lastAt };
  }

  async open(): Promise<number> {
    let count = 0;
    for await (const page of this.#scan({ IndexName: TABLE.wakeIndex.name, Select: 'COUNT' }))
      count += Number(page['Count']);
    return count;
  }

  load(): Promise<readonly Former[]> {
    return this.#kept.load();
  }

  save(formers: readonly Former[]): Promise<void> {
    return this.#kept.save(formers);
  }

  forget(): Promise<void> {
    return this.#kept.forget();
  }

  /** Those that the functions use now: after a restore they are not the stack's own. */
  async #tables(): Promise<readonly string[]> {
    const tables = await this.#deployment.variables(ENV.table);
    if (tables.length > 0) return tables;
    throw new CliError('no-table', 'no function of the API names its table; deploy it again');
  }

  /** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html */
  async *#scan(what: object): AsyncGenerator<Answer, void> {
    for (const TableName of await this.#tables()) {
      let ExclusiveStartKey: unknown;
      do {
        const page: Answer = await this.#calls.json('dynamodb', 'Scan', {
          TableName,
          ...what,
          ExclusiveStartKey,
        });
        yield page;
        ExclusiveStartKey = page['LastEvaluatedKey'];
      } while (ExclusiveStartKey !== undefined);
    }
  }
}
