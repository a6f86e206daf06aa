/**
 * The stack of `verify` in an account: deployed for one run, and gone after it.
 *
 * Owns: the calls of the CDK's command line, and the proof that nothing is left. Does not own: what is in the
 * stack (`stack/app.ts`).
 *
 * T1 the name of the stack is made for the run: no other stack is ever deleted.
 */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { typescriptLoader } from '../../lib/project/package-files.ts';
import { type Calls, inXml, plainOf, unlessGone } from '../aws/calls.ts';
import { stackResources } from '../aws/stack-resources.ts';
import { CliError, CLOCK, type Io } from '../io.ts';
import { AwsAccount } from '../quiesce/aws.ts';
import { awake, quiesce, unquiesce } from '../quiesce/order.ts';
import { upgrade } from '../upgrade/command.ts';
import { cdk, type CdkApp } from './cdk.ts';
import type { DeploymentPort } from './ports.ts';
import { removeTable, restoreAs } from './restoring.ts';
import { verifyProject } from './local-stack.ts';

/** What every resource of the stack is tagged with; its value is the stack's name. */
export const VERIFY_TAG = 'steadfast:verify';
const CHANGE_SET = 'steadfast-verify';
const UNASKED = ['--require-approval', 'never'] as const;
/** As the app of an own stack takes it (`lib/infra/synth.ts`). */
const RESTORED = 'steadfast:restoredTable';
/** Tags may be found for some minutes after what carried them is gone. */
const TAGS_WITHIN_MS = 10 * 60_000;
const POLL_EVERY_MS = 15_000;

export class Throwaway implements DeploymentPort {
  readonly stack: string;
  readonly #calls: Calls;
  readonly #io: Io;
  readonly #before: CdkApp | undefined;
  readonly #restored: string;
  #problems: readonly string[] = [];
  #gone: Promise<readonly string[]> | undefined;

  /** @param before where the release before is installed. @throws CliError `no-release` */
  constructor(calls: Calls, io: Io, stack: string, before?: string) {
    this.#calls = calls;
    this.#io = io;
    this.stack = stack;
    this.#restored = `${stack}-restored`;
    this.#before = before === undefined ? undefined : releaseIn(before);
  }

  /** By way of a change set that is not executed: afterwards there is nothing left to change. */
  async deploy(): Promise<void> {
    this.#problems = problemsOf(await this.#changeSetOf(verifyProject()));
    await this.#cdk(['deploy', this.stack, ...UNASKED]);
  }

  /** @returns what CloudFormation says of it; it is gone then, unexecuted */
  async #changeSetOf(project: CdkApp): Promise<string> {
    const given = ['--method', 'prepare-change-set', '--change-set-name', CHANGE_SET];
    await this.#cdk(['deploy', this.stack, ...UNASKED, ...given], project);
    const of = { StackName: this.stack, ChangeSetName: CHANGE_SET };
    // The CDK deletes one without a change itself.
    const xml = (await unlessGone(this.#calls.form('DescribeChangeSet', of))) ?? '';
    await unlessGone(this.#calls.form('DeleteChangeSet', of));
    return xml;
  }

  async changeSet(): Promise<readonly string[]> {
    return this.#problems;
  }

  async atRest(meanwhile: () => Promise<void>): Promise<readonly string[]> {
    const account = new AwsAccount(this.#calls, this.stack, await this.#besides());
    try {
      await quiesce(account, CLOCK, { drain: false, sources: false, say: this.#say });
      await meanwhile();
      return (await awake(account)).map(({ kind, id }) => `${kind} ${id}`);
    } finally {
      await unquiesce(account, { say: this.#say });
    }
  }

  /** Rules that the stack has for the checks. */
  async #besides(): Promise<readonly string[]> {
    return (await stackResources(this.#calls, this.stack))
      .filter(({ type, logicalId }) => type === 'AWS::Events::Rule' && logicalId.startsWith('OnEnd'))
      .map(({ logicalId }) => logicalId);
  }

  async restoreTable(): Promise<string> {
    const table = (await stackResources(this.#calls, this.stack)).find(
      ({ type, logicalId }) => type === 'AWS::DynamoDB::Table' && !logicalId.startsWith('Effects'),
    );
    await restoreAs(this.#calls, CLOCK, table?.id ?? '', this.#restored);
    await this.#cdk(['deploy', this.stack, ...UNASKED, '-c', `${RESTORED}=${this.#restored}`]);
    return this.#restored;
  }

  async change(to: 'before' | 'this'): Promise<readonly string[]> {
    const project = to === 'this' ? verifyProject() : this.#before;
    if (project === undefined) throw new CliError('no-release', '--from names no release before');
    const replacing = replaced(await this.#changeSetOf(project));
    if (replacing.length > 0) return replacing;
    const assembly = mkdtempSync(join(tmpdir(), 'steadfast-verify-'));
    try {
      await this.#cdk(['synth', this.stack, '--quiet', '--output', assembly], project);
      const deploy = (app: string, path: string): Promise<void> =>
        this.#cdk(['deploy', path, '--exclusively', ...UNASKED], { root: project.root, app });
      const { stack } = this;
      await upgrade({ calls: this.#calls, stack, assembly, clock: CLOCK, deploy, say: this.#say });
      return [];
    } finally {
      rmSync(assembly, { recursive: true, force: true });
    }
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
    try {
      await this.#cdk(['destroy', this.stack, '--force']);
    } finally {
      await removeTable(this.#calls, CLOCK, this.#restored);
    }
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

  #cdk(args: readonly string[], project: CdkApp = verifyProject()): Promise<void> {
    const context = ['-c', `steadfast:verifyStack=${this.stack}`];
    return cdk(this.#io, project, this.#calls.region, [...args, ...context]);
  }
}

/** The app of verify as an earlier release has it. */
function releaseIn(root: string): CdkApp {
  const app = join(root, 'node_modules/steadfast/dist/cli/verify/stack/app.js');
  if (!existsSync(app))
    throw new CliError(
      'no-release',
      `${app} is not there: install the release before in '${root}' (npm install steadfast@<version> aws-cdk aws-cdk-lib constructs)`,
    );
  const words = [process.execPath, '--import', typescriptLoader(), app];
  return { root, app: words.map((each) => `"${each}"`).join(' ') };
}

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
