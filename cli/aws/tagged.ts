/**
 * Finds the resources of a deployment by their tags.
 *
 * Owns: the search, and the refusal of a stack that does not exist. Does not own: which resources have tags
 * (`lib/infra/parts.ts`), the use of the result (`../logs/insights.ts`).
 */

import { TAGS } from '../../lib/aws/names.ts';
import { CliError } from '../io.ts';
import type { Calls } from './calls.ts';

export interface Tagged {
  readonly arn: string;
  /** The part that the tag names: `logs` or `api`. */
  readonly part: string;
  /** The address, for an API with a custom domain. */
  readonly url?: string;
}

/**
 * A valid name of a stack:
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html
 */
const STACK = /^[A-Za-z][A-Za-z0-9-]{0,127}$/;

/** @throws CliError `bad-stack` */
export function checkedStack(stack: string): string {
  if (STACK.test(stack)) return stack;
  throw new CliError(
    'bad-stack',
    `'${stack}' is not a stack name, which has letters, digits and dashes and begins with a letter`,
  );
}

/** @throws CliError `no-stack`; its message names the stacks that exist */
export async function taggedWith(calls: Calls, stack: string): Promise<readonly Tagged[]> {
  const found = (await resources(calls, [stack])).filter((tags) => tags[TAGS.part] !== undefined);
  if (found.length > 0) return found.map(({ arn = '', [TAGS.part]: part = '' }) => ({ arn, part }));
  const stacks = [...new Set((await resources(calls)).map((tags) => String(tags[TAGS.stack])))];
  const there = stacks.length === 0 ? 'this region and account have none' : `there are ${stacks.join(', ')}`;
  throw new CliError('no-stack', `no stack named '${stack}' holds a Steadfast deployment; ${there}`);
}

/**
 * Reads a page: https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
 */
async function resources(calls: Calls, values?: readonly string[]): Promise<Record<string, string>[]> {
  const filter = { Key: TAGS.stack, ...(values === undefined ? {} : { Values: values }) };
  const found: Record<string, string>[] = [];
  const pages = calls.pages(
    (PaginationToken) => calls.json('tagging', 'GetResources', { TagFilters: [filter], PaginationToken }),
    'PaginationToken',
  );
  for await (const page of pages) {
    const list = page['ResourceTagMappingList'] as readonly {
      readonly ResourceARN: string;
      readonly Tags: readonly Record<'Key' | 'Value', string>[];
    }[];
    for (const { ResourceARN, Tags } of list)
      found.push({ arn: ResourceARN, ...Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value])) });
  }
  return found;
}
