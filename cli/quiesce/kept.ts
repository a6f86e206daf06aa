/**
 * The states from before the first quiesce, in parameters of Systems Manager:
 * `/steadfast/<stack>/quiesced/<n>`.
 *
 * Owns: their names and text. Does not own: when they are written (`order.ts`).
 *
 * There and not in the table, which a restore replaces.
 */

import type { Former } from './account.ts';
import type { Calls } from '../aws/calls.ts';

/**
 * A standard parameter of Systems Manager holds 4 KB: https://docs.aws.amazon.com/general/latest/gr/ssm.html
 */
const PARAMETER_BYTES = 4_096;
/** https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DeleteParameters.html */
const DELETED_AT_ONCE = 10;
export class Kept {
  readonly #calls: Calls;
  readonly #path: string;
  /** Names of the parameters that `load` has read, which `forget` deletes and no others. */
  #loaded: readonly string[] = [];

  constructor(calls: Calls, stack: string) {
    this.#calls = calls;
    this.#path = `/steadfast/${stack}/quiesced`;
  }

  async load(): Promise<readonly Former[]> {
    const names: string[] = [];
    const formers: Former[] = [];
    const pages = this.#calls.pages(
      (NextToken) => this.#calls.json('ssm', 'GetParametersByPath', { Path: this.#path, NextToken }),
      'NextToken',
    );
    for await (const page of pages) {
      for (const { Name, Value: text } of page['Parameters'] as readonly Record<'Name' | 'Value', string>[]) {
        names.push(Name);
        formers.push(...(JSON.parse(text) as Former[]));
      }
    }
    this.#loaded = names;
    return formers;
  }

  async save(formers: readonly Former[]): Promise<void> {
    const taken = this.#loaded.map((name) => Number(name.slice(this.#path.length + 1)));
    let next = Math.max(0, ...taken) + 1;
    for (const Value of packed(formers, PARAMETER_BYTES)) {
      // Without overwriting: what another one keeps at this moment is not lost, this one is refused.
      const body = { Name: `${this.#path}/${next}`, Value, Type: 'String', Overwrite: false };
      await this.#calls.json('ssm', 'PutParameter', body);
      next += 1;
    }
  }

  async forget(): Promise<void> {
    for (let at = 0; at < this.#loaded.length; at += DELETED_AT_ONCE)
      await this.#calls.json('ssm', 'DeleteParameters', {
        Names: this.#loaded.slice(at, at + DELETED_AT_ONCE),
      });
  }
}

/** As JSON, in as few texts of so many bytes as there are needed. */
export function packed(formers: readonly Former[], bytes: number): string[] {
  const texts: string[] = [];
  let lines: string[] = [];
  const flush = (): void => {
    if (lines.length > 0) texts.push(`[${lines.join(',')}]`);
    lines = [];
  };
  for (const former of formers) {
    const line = JSON.stringify(former);
    if (Buffer.byteLength(`[${[...lines, line].join(',')}]`) > bytes) flush();
    lines.push(line);
  }
  flush();
  return texts;
}
