/**
 * The stack of `verify` in an account: deployed for one run, and gone after it.
 *
 * Owns: the calls of the CDK's command line, and the proof that nothing is left. Does not own: what is in the
 * stack (`stack/app.ts`).
 *
 * T1 the name of the stack is made for the run: no other stack is ever deleted.
 * T2 once the stack is being removed, nothing is deployed any more: what an interrupted run still begins
 *    would be left behind.
 */

import { CallError, type Calls, inXml } from '../aws/calls.ts';
import { type StackResource, stackResources } from '../aws/stack-resources.ts';
import { CliError, type Clock, CLOCK, EXIT, type Io, messageOf } from '../io.ts';
import { cdk } from './cdk.ts';
import { verifyProject } from './local-stack.ts';

/** What every resource of the stack is tagged with; its value is the stack's name. */
export const VERIFY_TAG = 'steadfast:verify';
const UNASKED = ['--require-approval', 'never'] as const;
/** Tags may be found some minutes late, and for some minutes after what carried them is gone. */
const TAGS_WITHIN_MS = 10 * 60_000;
const POLL_EVERY_MS = 15_000;
/** CloudFormation refuses to delete a stack in the middle of an update, which goes on without its command. */
const UPDATING = /^(?!CREATE|DELETE|REVIEW).*_IN_PROGRESS$/;
const UPDATED_WITHIN_MS = 3_600_000;
/** A function may put a value into a bucket that was just emptied. */
const TRIES = 2;

export interface ThrowawayOptions {
  readonly calls: Calls;
  readonly io: Io;
  readonly stack: string;
  /** Runs the CDK's command line. */
  readonly run?: typeof cdk;
  readonly clock?: Clock;
}

export class Throwaway {
  readonly stack: string;
  readonly #calls: Calls;
  readonly #io: Io;
  readonly #run: typeof cdk;
  readonly #clock: Clock;
  /** The call of the CDK that goes on. */
  #running: Promise<unknown> = Promise.resolve();
  #gone: Promise<readonly string[]> | undefined;

  constructor({ calls, io, stack, run = cdk, clock = CLOCK }: ThrowawayOptions) {
    this.#calls = calls;
    this.#io = io;
    this.stack = stack;
    this.#run = run;
    this.#clock = clock;
  }

  async deploy(): Promise<void> {
    this.#refuseGone();
    await this.#cdk(['deploy', this.stack, ...UNASKED]);
    this.#refuseGone();
  }

  #refuseGone(): void {
    if (this.#gone !== undefined) throw new CliError('interrupted', `'${this.stack}' is being removed`);
  }

  /** Deletes what is still there, where the run ended before its teardown, and names what is left. */
  async removed(): Promise<void> {
    for (const arn of await this.tearDown()) this.#say(`${arn} is still there`);
  }

  /** Once: an interrupt may come meanwhile. @throws CliError `not-removed` */
  tearDown(): Promise<readonly string[]> {
    return (this.#gone ??= this.#tornDown());
  }

  async #tornDown(): Promise<readonly string[]> {
    await this.#running.catch(() => undefined);
    const { stack } = this;
    await this.#destroyed().catch((error: unknown) => {
      throw new CliError('not-removed', `'${stack}' could not be removed: ${messageOf(error)}`, EXIT.failed);
    });
    const lastAt = this.#clock.now() + TAGS_WITHIN_MS;
    for (;;) {
      const left = await this.#tagged();
      if (left.length === 0 || this.#clock.now() >= lastAt) return left;
      await this.#clock.sleep(POLL_EVERY_MS);
    }
  }

  async #destroyed(): Promise<void> {
    for (let left = TRIES; ; left -= 1) {
      await this.#untilUpdated();
      for (const bucket of bucketsIn(await this.#resources())) await this.#empty(bucket);
      try {
        return await this.#cdk(['destroy', this.stack, '--force']);
      } catch (error) {
        if (left <= 1) throw error;
      }
    }
  }

  async #untilUpdated(): Promise<void> {
    const lastAt = this.#clock.now() + UPDATED_WITHIN_MS;
    while (this.#clock.now() < lastAt) {
      const xml = await unlessNoStack(this.#calls.form('DescribeStacks', { StackName: this.stack }));
      const [status = ''] = inXml(xml ?? '', 'StackStatus');
      if (!UPDATING.test(status)) return;
      this.#say(`'${this.stack}' is ${status}`);
      await this.#clock.sleep(POLL_EVERY_MS);
    }
  }

  async #resources(): Promise<readonly StackResource[]> {
    return (await unlessNoStack(stackResources(this.#calls, this.stack))) ?? [];
  }

  async #empty(bucket: string): Promise<void> {
    const { emptied } = await import('./emptied.ts');
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    await emptied({ bucket, region: async () => this.#calls.region, credentials: defaultProvider() });
  }

  /** https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html */
  async #tagged(): Promise<readonly string[]> {
    const TagFilters = [{ Key: VERIFY_TAG, Values: [this.stack] }];
    const arns: string[] = [];
    const pages = this.#calls.pages(
      (PaginationToken) => this.#calls.json('tagging', 'GetResources', { TagFilters, PaginationToken }),
      'PaginationToken',
    );
    for await (const { ResourceTagMappingList } of pages)
      for (const { ResourceARN } of ResourceTagMappingList as readonly { readonly ResourceARN: string }[])
        arns.push(ResourceARN);
    return arns;
  }

  readonly #say = (line: string): void => {
    this.#io.err(`${line}\n`);
  };

  async #cdk(args: readonly string[]): Promise<void> {
    const context = ['-c', `steadfast:verifyStack=${this.stack}`];
    const running = this.#run(this.#io, verifyProject(), this.#calls.region, [...args, ...context]);
    this.#running = running;
    await running;
  }
}

/** @returns nothing where there is no such stack, which CloudFormation says in words alone */
async function unlessNoStack<Result>(asked: Promise<Result>): Promise<Result | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof CallError && error.message.includes('does not exist')) return undefined;
    throw error;
  }
}

/** As CloudFormation names them: tags may not be found yet, and a bucket that is left full is not deleted. */
export const bucketsIn = (resources: readonly StackResource[]): string[] =>
  resources.filter(({ type, id }) => type === 'AWS::S3::Bucket' && id !== '').map(({ id }) => id);
