/**
 * The stack of `verify` in an account: deployed for one run, and gone after it.
 *
 * Owns: the calls of the CDK's command line, and the proof that nothing is left. Does not own: what is in the
 * stack (`stack/app.ts`).
 *
 * T1 the name of the stack is made for the run: no other stack is ever deleted.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Calls, inXml, plainOf, unlessGone } from '../aws/calls.ts';
import { CliError, CLOCK, EXIT, type Io } from '../io.ts';
import type { DeploymentPort } from './ports.ts';
import { verifyProject } from './local-stack.ts';

/** What every resource of the stack is tagged with; its value is the stack's name. */
export const VERIFY_TAG = 'steadfast:verify';
const CHANGE_SET = 'steadfast-verify';
/** Tags may be found for some minutes after what carried them is gone. */
const TAGS_WITHIN_MS = 10 * 60_000;
const POLL_EVERY_MS = 15_000;

export class Throwaway implements DeploymentPort {
  readonly stack: string;
  readonly #calls: Calls;
  readonly #io: Io;
  readonly #region: string;
  #problems: readonly string[] = [];
  #gone: Promise<readonly string[]> | undefined;

  constructor(calls: Calls, io: Io, stack: string, region: string) {
    this.#calls = calls;
    this.#io = io;
    this.stack = stack;
    this.#region = region;
  }

  /** By way of a change set that is not executed: afterwards there is nothing left to change. */
  async deploy(): Promise<void> {
    const given = ['--method', 'prepare-change-set', '--change-set-name', CHANGE_SET];
    await this.#cdk(['deploy', this.stack, '--require-approval', 'never', ...given]);
    const of = { StackName: this.stack, ChangeSetName: CHANGE_SET };
    this.#problems = problemsOf(await this.#calls.form('DescribeChangeSet', of));
    await unlessGone(this.#calls.form('DeleteChangeSet', of));
    await this.#cdk(['deploy', this.stack, '--require-approval', 'never']);
  }

  async changeSet(): Promise<readonly string[]> {
    return this.#problems;
  }

  /** Deletes what is still there, where the run ended before its teardown. */
  async removed(): Promise<void> {
    await this.tearDown();
  }

  /** Once: an interrupt may come meanwhile. */
  tearDown(): Promise<readonly string[]> {
    return (this.#gone ??= this.#tornDown());
  }

  async #tornDown(): Promise<readonly string[]> {
    for (const bucket of bucketsIn(await this.#tagged())) await this.#empty(bucket);
    await this.#cdk(['destroy', this.stack, '--force']);
    const lastAt = CLOCK.now() + TAGS_WITHIN_MS;
    for (;;) {
      const left = await this.#tagged();
      if (left.length === 0 || CLOCK.now() >= lastAt) return left;
      await CLOCK.sleep(POLL_EVERY_MS);
    }
  }

  async #empty(bucket: string): Promise<void> {
    const { emptied } = await import('../../serve/import-values.ts');
    const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
    await emptied({ bucket, region: async () => this.#region, credentials: defaultProvider() });
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

  /** @throws CliError `cdk` with the end of what it said */
  async #cdk(args: readonly string[]): Promise<void> {
    const { root, app } = verifyProject();
    const context = ['-c', `steadfast:verifyStack=${this.stack}`];
    const child = spawn('npx', ['cdk', ...args, '--app', app, ...context], {
      cwd: root,
      env: { ...process.env, AWS_REGION: this.#region },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said: Buffer[] = [];
    const keep = (chunk: Buffer): unknown => said.push(chunk);
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    this.#io.err(`cdk ${args.join(' ')}\n`);
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return;
    const end = Buffer.concat(said).toString('utf8').trim().slice(-MOST_CHARS);
    throw new CliError('cdk', `cdk ${args[0] ?? ''} ended with ${code}: ${end}`, EXIT.failed);
  }
}
const MOST_CHARS = 2_000;

/** Names of buckets among ARNs. */
export const bucketsIn = (arns: readonly string[]): string[] =>
  arns.flatMap((arn) => /^arn:[^:]+:s3:::([^/]+)$/.exec(arn)?.[1] ?? []);

/** Types that hold data, or whose address others know. */
const HOLDS =
  /^AWS::(?:DynamoDB::|S3::Bucket$|SQS::Queue$|Events::EventBus|SNS::Topic$|Logs::|ApiGatewayV2::Api$)/;

/** @param xml the answer of DescribeChangeSet. @returns why it is not one that can be executed */
export function problemsOf(xml: string): string[] {
  const of = (name: string): string => plainOf(inXml(xml, name)[0] ?? '');
  const status = of('Status');
  return [
    ...(status === 'CREATE_COMPLETE'
      ? []
      : [`the change set is ${status || 'not there'}: ${of('StatusReason')}`]),
    ...(xml.includes('<ResourceChange>') ? [] : ['it has no change']),
    ...replaced(xml),
  ];
}

/** What a change set would replace of those. */
const replaced = (xml: string): string[] =>
  inXml(xml, 'ResourceChange').flatMap((change) => {
    const of = (name: string): string => inXml(change, name)[0] ?? '';
    const isReplaced = of('Replacement') === 'True' && HOLDS.test(of('ResourceType'));
    return isReplaced ? [`${of('LogicalResourceId')} (${of('ResourceType')}) would be replaced`] : [];
  });
