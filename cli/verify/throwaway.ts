/**
 * Deploys and deletes the stack of `verify` in an account, for one run.
 *
 * Owns: the CDK commands, and checking that no resource remains. Does not own: the resources in the stack
 * (`stack/app.ts`).
 *
 * T1 the stack's name is unique for the run, so that no other stack is ever deleted. T2 once the removal of
 * the stack has begun, nothing is deployed, because it would be left behind.
 */

import type { s3Values } from '../../lib/aws/s3-values.ts';
import { CallError, type Calls } from '../aws/calls.ts';
import { idsIn } from '../aws/stack-resources.ts';
import { CliError, CLOCK, EXIT, type Io, messageOf } from '../io.ts';
import { cdk } from './cdk.ts';
import { verifyProject } from './local-stack.ts';

/** The tag of every resource of the stack; its value is the stack's name. */
export const VERIFY_TAG = 'steadfast:verify';
const UNASKED = ['--require-approval', 'never'] as const;
/** How long new tags may be missing, and tags of deleted resources may remain. */
const TAGS_WITHIN_MS = 10 * 60_000;
const POLL_EVERY_MS = 15_000;
/**
 * How often the deletion is tried: CloudFormation refuses it during a rollback, which continues without the
 * command, and if a function has written into a bucket meanwhile.
 */
const TRIES = 10;
const RETRY_EVERY_MS = 60_000;

export interface Throwaway {
  readonly deploy: () => Promise<void>;
  /** Deletes the stack, only once even if an interrupt also calls it. @throws CliError `not-removed` */
  readonly tearDown: () => Promise<readonly string[]>;
  /** Deletes the stack if the run ended before its teardown, and names remaining resources. */
  readonly removed: () => Promise<void>;
}

/** @param run runs the CDK's command line */
export function throwaway(calls: Calls, io: Io, stack: string, run = cdk, clock = CLOCK): Throwaway {
  /** The CDK command in progress. */
  let running: Promise<unknown> = Promise.resolve();
  let gone: Promise<readonly string[]> | undefined;

  const cdkDoes = (...args: readonly string[]): Promise<void> => {
    const context = ['-c', `steadfast:verifyStack=${stack}`];
    const called = run(io, verifyProject(), calls.region, [...args, ...context]);
    running = called;
    return called;
  };
  const refuseGone = (): void => {
    if (gone !== undefined) throw new CliError('interrupted', `'${stack}' is being removed`);
  };

  async function destroyed(): Promise<void> {
    for (let left = TRIES; ; left -= 1)
      try {
        for (const bucket of await bucketsIn(calls, stack)) await emptied(await valuesIn(calls, bucket));
        return await cdkDoes('destroy', stack, '--force');
      } catch (error) {
        if (left > 1) await clock.sleep(RETRY_EVERY_MS);
        else
          throw new CliError(
            'not-removed',
            `'${stack}' could not be removed: ${messageOf(error)}`,
            EXIT.failed,
          );
      }
  }

  async function tornDown(): Promise<readonly string[]> {
    await running.catch(() => undefined);
    await destroyed();
    const lastAt = clock.now() + TAGS_WITHIN_MS;
    for (;;) {
      const left = await tagged(calls, stack);
      if (left.length === 0 || clock.now() >= lastAt) return left;
      await clock.sleep(POLL_EVERY_MS);
    }
  }

  const tearDown: Throwaway['tearDown'] = () => (gone ??= tornDown());
  return {
    tearDown,
    deploy: async () => {
      refuseGone();
      await cdkDoes('deploy', stack, ...UNASKED);
      refuseGone();
    },
    removed: async () => {
      for (const arn of await tearDown()) io.err(`${arn} is still there\n`);
    },
  };
}

/**
 * The stack's buckets by CloudFormation, because their tags may not be found yet. They must be emptied before
 * the deletion. A missing stack is recognised only by the error's message.
 */
export const bucketsIn = (calls: Calls, stack: string): Promise<readonly string[]> =>
  idsIn(calls, stack, 'AWS::S3::Bucket').catch((error: unknown) => {
    if (error instanceof CallError && error.message.includes('does not exist')) return [];
    throw error;
  });

async function valuesIn({ region }: Calls, bucket: string): Promise<Inventory> {
  const { s3Values } = await import('../../lib/aws/s3-values.ts');
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return s3Values({ bucket, region: async () => region, credentials: defaultProvider() });
}

type Inventory = ReturnType<typeof s3Values>;
/** Deletes all objects of a bucket, because CloudFormation only deletes an empty bucket. */
export async function emptied(values: Pick<Inventory, 'list' | 'remove'>): Promise<void> {
  for (;;) {
    const { items } = await values.list('');
    if (items.length === 0) return;
    await values.remove(items.map(({ key }) => key));
  }
}

/**
 * Finds the resources with the tag:
 * https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
 */
async function tagged(calls: Calls, stack: string): Promise<readonly string[]> {
  const TagFilters = [{ Key: VERIFY_TAG, Values: [stack] }];
  const arns: string[] = [];
  const ask = (PaginationToken: string | undefined) =>
    calls.json('tagging', 'GetResources', { TagFilters, PaginationToken });
  for await (const { ResourceTagMappingList } of calls.pages(ask, 'PaginationToken'))
    for (const { ResourceARN } of ResourceTagMappingList as readonly { readonly ResourceARN: string }[])
      arns.push(ResourceARN);
  return arns;
}
